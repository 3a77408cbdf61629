// Command lineproof runs and manages a Lineproof service.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
)

func main() {
	confined.Main()  // in a child process that works on a document, this call does not return
	pageimage.Main() // nor this one in a process that draws an image
	hashing.Main()   // nor this one in the process that hashes passwords
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	os.Exit(cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LowerPriority: confined.BackgroundPriority,
	}))
}
