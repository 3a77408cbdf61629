package cli_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lineproof/lineproof/internal/cli"
)

// openTerminal returns both ends of a terminal: what a program writes to the second can be
// read from the first.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return screen, program
}

// onTerminal runs a command whose standard error is a terminal, and returns its exit code and
// what the terminal showed.
func onTerminal(t *testing.T, env cli.Env) (code int, text string) {
	t.Helper()
	screen, stderr := openTerminal(t)
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // ends with an error when the other end is closed
		shown <- string(text)
	}()
	env.Stderr = stderr
	code = cli.Main(t.Context(), env)
	_ = stderr.Close()
	return code, <-shown
}

// A program that writes rows to another one shows no bar: the other shows its own in the same
// place. One that writes them to a file does.
func TestOnlyTheLastProgramOfAPipeShowsABar(t *testing.T) {
	t.Parallel()
	for _, piped := range []bool{true, false} {
		to, err := os.Create(t.TempDir() + "/lines.csv")
		if err != nil {
			t.Fatal(err)
		}
		if piped {
			var from *os.File
			if from, to, err = os.Pipe(); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, from) }()
		}
		code, text := onTerminal(t, cli.Env{Args: strings.Fields("lines generate --network MTN --lines 1000000"), Stdout: to})
		_ = to.Close()
		if code != 0 || strings.Contains(text, "rows") == piped {
			t.Errorf("piped %t: exit code %d, and on the screen %q", piped, code, text)
		}
	}
}
