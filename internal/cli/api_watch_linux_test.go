package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Whoever sends a file sees on a terminal how much of it was sent, from a file with its size
// and from a pipe without, and the list has all of it. Numbers from standard input that
// can't be read to their end change nothing.
func TestSentListShowsABar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMachine(t, pgtest.URL(t), dir, "LINEPROOF_STAFF_SECOND_FACTOR=false")
	m.run(0, nil, "migrate")
	bank, _ := m.run(0, nil, "entity", "create", "--name", "Harbour Bank", "--cac", "RC123456")
	key, _ := m.run(0, nil, "key", "create", "--entity", strings.TrimSpace(bank), "--name", "customers", "--purpose", "testing", "--test", "--right", "watch")
	environ := []string{"LINEPROOF_API_URL=" + m.serve(), "LINEPROOF_API_KEY=" + strings.TrimSpace(key)}
	list, _ := m.object(environ, "api", "watch", "create", "customers")["listId"].(string)

	send := func(stdin io.Reader, args ...string) (int, string) {
		return onTerminal(t, cli.Env{Args: append([]string{"api", "watch"}, args...), Environ: slices.Concat(m.environ, environ), Stdin: stdin, Stdout: io.Discard})
	}
	numbers := strings.Repeat("+2347290000000\n+2347290000023\n", 20_000)
	path := filepath.Join(dir, "customers.csv")
	if err := os.WriteFile(path, []byte(numbers), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, shows := range map[string]string{path: "sent 585.9 KiB / 585.9 KiB", "-": "sent 585.9 KiB"} {
		if code, text := send(strings.NewReader(numbers), "replace", list, name); code != 0 || !strings.Contains(text, shows) {
			t.Errorf("replace %s ended with %d, and the screen shows %q", name, code, text)
		}
		if stdout, _ := m.run(0, environ, "api", "watch", "members", list); stdout != "+2347290000000\n+2347290000023\n" {
			t.Errorf("the list has %q", stdout)
		}
	}
	tooLong := "+2347290000023\n" + strings.Repeat(" ", 1<<17)
	if code, text := send(strings.NewReader(tooLong), "remove", list, "-"); code == 0 || !strings.Contains(text, "read the numbers") {
		t.Errorf("remove of numbers that can't be read ended with %d and %q", code, text)
	}
	if stdout, _ := m.run(0, environ, "api", "watch", "members", list); !strings.Contains(stdout, "+2347290000023") {
		t.Errorf("numbers were removed although not all could be read: %q", stdout)
	}
}
