// Command lineproof runs and looks after a Lineproof service.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/inspect"
)

func main() {
	inspect.Main() // if a document is to be opened, that is all this process does
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}
