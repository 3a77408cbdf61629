package tampering_test

import (
	"context"
	"os"
	"testing"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
)

// childSwitch makes the test binary run the command.
const childSwitch = "TAMPERING_RUN_THE_COMMAND"

// TestMain runs the tests, or the command if a test has started it.
func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	hashing.Main()
	if os.Getenv(childSwitch) == "" {
		m.Run()
		return
	}
	os.Exit(cli.Main(context.Background(), cli.Env{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LowerPriority: confined.BackgroundPriority,
	}))
}
