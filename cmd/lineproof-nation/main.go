// Command lineproof-nation runs a small nation on one machine, to show the service at work. It
// starts the program lineproof, from the same package, for every part.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/nation"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	os.Exit(nation.Main(ctx, console.Env{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}
