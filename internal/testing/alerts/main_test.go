package alerts_test

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
)

// childSwitch makes the test binary run the command. It does not have the prefix of the settings,
// because the command rejects unknown ones. A server ends with the test process.
const (
	childSwitch = "ALERTS_RUN_THE_COMMAND"
	asServer    = "server"
	asCommand   = "command"
)

// TestMain runs the tests, or the command if a test has started it.
func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	hashing.Main()
	mode := os.Getenv(childSwitch)
	if mode == "" {
		os.Exit(runTests(m))
	}
	if mode == asServer {
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

func runTests(m *testing.M) int {
	defer func() {
		if shared.site != nil {
			shared.site.close()
		}
	}()
	return m.Run()
}
