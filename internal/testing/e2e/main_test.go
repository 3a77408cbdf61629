package e2e_test

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
)

// childSwitch makes the test binary run the command. It does not have the prefix of
// the settings, because the command rejects unknown ones.
const (
	childSwitch    = "E2E_RUN_THE_COMMAND"
	modeReadsInput = "reads its input"
)

// TestMain runs the tests, or the command if a test has started it.
func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	hashing.Main()
	if os.Getenv(childSwitch) == "" {
		m.Run()
		return
	}
	// The server ends when the test process ends, however that ends. A command that
	// reads its standard input ends at its end anyway.
	if os.Getenv(childSwitch) != modeReadsInput {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(99)
		}()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LowerPriority: confined.BackgroundPriority,
	}))
}

// size returns the size of a run: that of the environment variable, or one that is
// small enough for every commit.
func size(t *testing.T, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a whole number above 0", name)
	}
	return n
}
