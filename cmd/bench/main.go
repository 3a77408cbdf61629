// Command bench measures the cost of a verification and compares it with the best
// that its parts can do: net/http that only reads the request, and PostgreSQL
// that only looks a line up and records an answer.
//
// All variants run in turn on the same lines and the same cluster, in rounds and
// in a different order each time, so that other work on the machine affects all
// of them equally. Ratios are computed per round. The CPU of each process is
// divided by the number of requests: on a shared machine this stays stable where
// requests per second do not.
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
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitGoalMissed = 3
	exitWorse      = 4
)

func main() {
	if code, isChild := runAsChild(); isChild {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program without os.Exit, so that tests can call it.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	d := &display{out: errs}
	o, err := parseOptions(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		d.printf("%v", err)
		return exitUsage
	}
	if o.write != "" {
		if err := checkPage(o.write); err != nil {
			d.printf("%v", err)
			return exitUsage
		}
	}
	history, err := readHistory(o.record)
	if err != nil {
		d.printf("%v", err)
		return exitUsage
	}
	r, err := runBench(ctx, o, d)
	if err != nil {
		d.printf("%v", err)
		return exitFailed
	}
	if err := r.writeResult(o, out); err != nil {
		d.printf("%v", err)
		return exitFailed
	}
	if o.record != "" && !o.worse {
		if err := appendHistory(o.record, history, r); err != nil {
			d.printf("%v", err)
			return exitFailed
		}
	}
	if o.worse && len(history) > 0 {
		if worse := r.worseThan(&history[len(history)-1]); len(worse) > 0 {
			d.printf("worse than before:\n  %s", strings.Join(worse, "\n  "))
			return exitWorse
		}
	}
	if missed := r.missedGoals(); o.demand && len(missed) > 0 {
		d.printf("goals missed:\n  %s", strings.Join(missed, "\n  "))
		return exitGoalMissed
	}
	return exitOK
}

// writeResult writes the result to the page and to standard output.
func (r *report) writeResult(o *options, out io.Writer) error {
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
