package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are what the user asks for.
type options struct {
	lines     int64
	rounds    int
	seconds   int
	callers   int
	skip      []string
	growC     []int64
	growLines []int64

	open     float64
	openFor  time.Duration
	openC    int
	findRate bool
	stepFor  time.Duration

	server   string
	settings []string // of the server
	postgres []string // of PostgreSQL

	json   bool
	write  string
	demand bool
}

const usage = `Usage: go run ./cmd/bench [flags]

Measures what a verification costs, beside bare net/http and PostgreSQL's own
pgbench. All run in turn on the same lines, in rounds, on a cluster and a server
that are started for it and removed afterwards.

Exit codes: 0 fine, 1 failure, 2 usage, 3 with -demand when a goal was missed.

`

// parseOptions reads the command line. Help is written to errs.
func parseOptions(args []string, errs io.Writer) (*options, error) {
	o := &options{}
	var skip, growC, growLines string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller shows what is wrong, once
	f.Int64Var(&o.lines, "lines", 1_000_000, "how many lines there are")
	f.IntVar(&o.rounds, "rounds", 5, "how many rounds; 0 leaves the comparison out")
	f.IntVar(&o.seconds, "seconds", 8, "how long each variant is measured in each round")
	f.IntVar(&o.callers, "c", 256, "how many ask at the same time")
	f.StringVar(&skip, "skip", "", "variants to leave out, with commas between them: "+strings.Join(variantNames(), ", "))
	f.StringVar(&growC, "grow-c", "", "measure verify at these numbers of callers, for example 16,64,128,256,512")
	f.StringVar(&growLines, "grow-lines", "", "measure verify at these numbers of lines, for example 1000000,20000000,100000000")
	f.Float64Var(&o.open, "open", 0, "ask at this steady rate a second, whether or not answers come (open loop)")
	f.DurationVar(&o.openFor, "for", time.Minute, "how long -open asks")
	f.IntVar(&o.openC, "open-c", 1024, "how many connections -open and -find-rate have")
	f.BoolVar(&o.findRate, "find-rate", false, "look for the highest rate that is held with a p99 under 50 ms")
	f.DurationVar(&o.stepFor, "step", 20*time.Second, "how long each step of -find-rate takes; a rate that is missed is tried once more")
	f.StringVar(&o.server, "server", "", "the lineproof program to measure; otherwise it is built")
	f.Func("set", "a setting of the server, as NAME=VALUE; may be repeated", collect(&o.settings))
	f.Func("pg", "a setting of PostgreSQL, as 'name = value'; may be repeated", collect(&o.postgres))
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	f.StringVar(&o.write, "write", "", "write the result into this Markdown page, between its two marks, and a chart beside it")
	f.BoolVar(&o.demand, "demand", false, "end with 3 when a goal is missed")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = io.WriteString(errs, usage)
			f.SetOutput(errs)
			f.PrintDefaults()
		}
		return nil, fmt.Errorf("bench: %w", err)
	}
	var err1, err2 error
	o.growC, err1 = numbers("grow-c", growC)
	o.growLines, err2 = numbers("grow-lines", growLines)
	if skip != "" {
		o.skip = strings.Split(skip, ",")
	}
	if err := errors.Join(err1, err2, o.check(f.Args())); err != nil {
		return nil, err
	}
	return o, nil
}

func collect(into *[]string) func(string) error {
	return func(s string) error {
		if !strings.Contains(s, "=") {
			return errors.New("it must have the form name=value")
		}
		*into = append(*into, s)
		return nil
	}
}

func numbers(name, list string) (all []int64, err error) {
	for one := range strings.SplitSeq(list, ",") {
		if list == "" {
			break
		}
		n, err := strconv.ParseInt(strings.TrimSpace(one), 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("bench: -%s: %q is not a number above 0", name, one)
		}
		all = append(all, n)
	}
	return all, nil
}

// check returns everything that is wrong at once.
func (o *options) check(rest []string) error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("bench: "+format, args...))
		}
	}
	wrong(len(rest) > 0, "%q is not a flag; run it with -help", rest)
	wrong(o.lines < 1 || o.lines > mostLines, "-lines must be from 1 to %d", mostLines)
	wrong(o.rounds < 0 || o.rounds > 1000, "-rounds must be from 0 to 1000")
	wrong(o.seconds < 1 || o.seconds > 3600, "-seconds must be from 1 to 3600")
	wrong(o.callers < 1 || o.callers > mostCallers, "-c must be from 1 to %d", mostCallers)
	wrong(o.openC < 1 || o.openC > mostCallers, "-open-c must be from 1 to %d", mostCallers)
	wrong(o.open < 0 || o.open > mostRate, "-open must be from 0 to %d", mostRate)
	wrong(o.openFor < time.Second || o.openFor > 24*time.Hour, "-for must be from 1s to 24h")
	wrong(o.stepFor < time.Second || o.stepFor > time.Hour, "-step must be from 1s to 1h")
	for _, name := range o.skip {
		wrong(!slices.Contains(variantNames(), name), "-skip: there is no variant %q", name)
	}
	for _, n := range o.growC {
		wrong(n > mostCallers, "-grow-c: at most %d can ask at the same time", mostCallers)
	}
	for _, n := range o.growLines {
		wrong(n > mostLines, "-grow-lines: there can be at most %d lines", mostLines)
	}
	wrong(o.demand && o.rounds == 0, "-demand needs a comparison, and -rounds is 0")
	return errors.Join(errs...)
}

// mostCallers keeps within the ports and files that a process has.
const mostCallers = 8192

// stages returns the numbers of lines at which something is measured, smallest
// first, for lines are only ever added.
func (o *options) stages() []int64 {
	all := slices.Sorted(slices.Values(append([]int64{o.lines}, o.growLines...)))
	return slices.Compact(all)
}

// wants reports whether a variant is measured.
func (o *options) wants(variant string) bool {
	if variant == variantOneRowMany && o.callers == oneRowClients {
		return false // the same as the other
	}
	return !slices.Contains(o.skip, variant)
}
