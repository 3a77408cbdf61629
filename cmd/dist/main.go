// Command dist makes a release from this checkout, into the directory dist: static
// programs, packages, bills of materials and checksums. make dist starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	o := Options{Log: os.Stderr}
	flag.StringVar(&o.Root, "root", ".", "the checkout")
	flag.StringVar(&o.Out, "out", "dist", "the directory of the release; an earlier one is removed first, an image stays")
	machines := flag.String("for", "amd64,arm64", "the machines that it is built for")
	flag.StringVar(&o.Nfpm, "nfpm", "bin/nfpm", "the program that makes packages; make builds it")
	flag.StringVar(&o.Version, "release", "", "the version of a release, such as 0.1.0, which the changelog must have (default: what the commit is)")
	flag.StringVar(&o.SigningKey, "sign", "", "the SSH key that signs the checksums (default: they are not signed)")
	flag.Parse()
	o.For = strings.Split(*machines, ",")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Make(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be undone
	}
}
