// Command bench measures what a verification costs, beside what its parts can
// do at best: net/http that only reads the question, and PostgreSQL that only
// looks a line up and records an answer.
//
// All variants run in turn on the same lines and the same cluster, in rounds
// and in another order each time, so that what else the machine does meets all
// of them alike. Ratios are taken round by round. The CPU of each process is
// divided by the requests: on a shared machine that holds where requests a
// second do not.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2
	exitMissed = 3
)

func main() {
	if code, is := runAsChild(); is {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program but for its process.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	show := newDisplay(errs)
	o, err := parseOptions(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return exitFine
	}
	if err != nil {
		show.say("%v", err)
		return exitUsage
	}
	if o.write != "" {
		if err := checkPage(o.write); err != nil {
			show.say("%v", err)
			return exitUsage
		}
	}
	r, err := runBench(ctx, o, show)
	if err != nil {
		show.say("%v", err)
		return exitFailed
	}
	if err := r.deliver(o, out); err != nil {
		show.say("%v", err)
		return exitFailed
	}
	if missed := r.missed(); o.demand && len(missed) > 0 {
		show.say("not reached:\n  %s", strings.Join(missed, "\n  "))
		return exitMissed
	}
	return exitFine
}

// deliver writes the result wherever it is wanted.
func (r *report) deliver(o *options, out io.Writer) error {
	if o.write != "" {
		if err := r.writePage(o.write); err != nil {
			return err
		}
	}
	text := r.text()
	if o.json {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("bench: write the result: %w", err)
		}
		text = string(b) + "\n"
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("bench: write the result: %w", err)
	}
	return nil
}
