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

// options are the flags of the user.
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
	against  string
	others   []string // settings of the binary to compare with
	postgres []string // of PostgreSQL

	json   bool
	write  string
	record string // file of the history
	worse  bool
	demand bool
}

const usage = `Usage: go run ./cmd/bench [flags]

Measures the cost of a verification and compares it with bare net/http and
PostgreSQL's pgbench. All run in turn on the same lines, in rounds, on a cluster
and a server that are started for it and removed afterwards.

Exit codes: 0 success, 1 failure, 2 usage, 3 with -demand when a goal was missed,
4 with -compare-history when a ratio is worse than the last one recorded.

`

// parseOptions reads the command line. Help is written to errs.
func parseOptions(args []string, errs io.Writer) (*options, error) {
	o := &options{}
	var skip, growC, growLines string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints the error, once
	f.Int64Var(&o.lines, "lines", 1_000_000, "number of lines")
	f.IntVar(&o.rounds, "rounds", 5, "number of rounds; 0 skips the comparison")
	f.IntVar(&o.seconds, "seconds", 8, "seconds per variant and round")
	f.IntVar(&o.callers, "c", 256, "number of concurrent callers")
	f.StringVar(&skip, "skip", "", "variants to skip, separated by commas: "+strings.Join(variantNames(), ", "))
	f.StringVar(&growC, "grow-c", "", "measure verify with these numbers of callers, for example 16,64,128,256,512")
	f.StringVar(&growLines, "grow-lines", "", "measure verify with these numbers of lines, for example 1000000,20000000,100000000")
	f.Float64Var(&o.open, "open", 0, "send requests at this constant rate per second, regardless of responses (open loop)")
	f.DurationVar(&o.openFor, "for", time.Minute, "duration of -open")
	f.IntVar(&o.openC, "open-c", 1024, "number of connections of -open and -find-rate")
	f.BoolVar(&o.findRate, "find-rate", false, "find the highest rate that is sustained with a p99 under 50 ms")
	f.DurationVar(&o.stepFor, "step", 20*time.Second, "duration of each step of -find-rate; a rate that fails is tried once more")
	f.StringVar(&o.server, "server", "", "the lineproof binary to measure (default: it is built)")
	f.StringVar(&o.against, "against", "", "another lineproof binary, or the same one with other settings, to compare verify with in each round; it must have the same schema")
	f.Func("against-set", "a setting of the server of -against, as NAME=VALUE; may be repeated", collect(&o.others))
	f.Func("set", "a setting of the server, as NAME=VALUE; may be repeated", collect(&o.settings))
	f.Func("pg", "a setting of PostgreSQL, as 'name = value'; may be repeated", collect(&o.postgres))
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	f.StringVar(&o.write, "write", "", "write the result into this Markdown page, between its two marks")
	f.StringVar(&o.record, "history", "", "add ratios and CPU to this JSON file")
	f.BoolVar(&o.worse, "compare-history", false, "instead of adding to -history, exit with 4 when a ratio is worse than the last one there by more than its noise")
	f.BoolVar(&o.demand, "demand", false, "exit with 3 when a goal is missed")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = io.WriteString(errs, usage)
			f.SetOutput(errs)
			f.PrintDefaults()
		}
		return nil, fmt.Errorf("bench: %w", err)
	}
	var err1, err2 error
	o.growC, err1 = parseNumbers("grow-c", growC)
	o.growLines, err2 = parseNumbers("grow-lines", growLines)
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
			return errors.New("must have the form name=value")
		}
		*into = append(*into, s)
		return nil
	}
}

func parseNumbers(name, list string) (all []int64, err error) {
	for one := range strings.SplitSeq(list, ",") {
		if list == "" {
			break
		}
		n, err := strconv.ParseInt(strings.TrimSpace(one), 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("bench: -%s: %q is not a positive number", name, one)
		}
		all = append(all, n)
	}
	return all, nil
}

// check returns all errors at once.
func (o *options) check(rest []string) error {
	var errs []error
	failIf := func(invalid bool, format string, args ...any) {
		if invalid {
			errs = append(errs, fmt.Errorf("bench: "+format, args...))
		}
	}
	failIf(len(rest) > 0, "%q is not a flag; see -help", rest)
	failIf(o.lines < 1 || o.lines > maxLines, "-lines must be from 1 to %d", maxLines)
	failIf(o.rounds < 0 || o.rounds > 1000, "-rounds must be from 0 to 1000")
	failIf(o.seconds < 1 || o.seconds > 3600, "-seconds must be from 1 to 3600")
	failIf(o.callers < 1 || o.callers > maxCallers, "-c must be from 1 to %d", maxCallers)
	failIf(o.openC < 1 || o.openC > maxCallers, "-open-c must be from 1 to %d", maxCallers)
	failIf(o.open < 0 || o.open > maxRate, "-open must be from 0 to %d", maxRate)
	failIf(o.openFor < time.Second || o.openFor > 24*time.Hour, "-for must be from 1s to 24h")
	failIf(o.stepFor < time.Second || o.stepFor > time.Hour, "-step must be from 1s to 1h")
	for _, name := range o.skip {
		failIf(!slices.Contains(variantNames(), name), "-skip: there is no variant %q", name)
	}
	for _, n := range o.growC {
		failIf(n > maxCallers, "-grow-c: at most %d concurrent callers", maxCallers)
	}
	for _, n := range o.growLines {
		failIf(n > maxLines, "-grow-lines: at most %d lines", maxLines)
	}
	failIf(o.worse && o.record == "", "-compare-history needs -history")
	failIf(o.record != "" && o.rounds == 0, "-history needs a comparison, but -rounds is 0")
	failIf(o.demand && o.rounds == 0, "-demand needs a comparison, but -rounds is 0")
	return errors.Join(errs...)
}

// maxCallers stays within the ports and open files of a process.
const maxCallers = 8192

// stages returns the numbers of lines to measure with, smallest first, because
// lines are only added.
func (o *options) stages() []int64 {
	all := slices.Sorted(slices.Values(append([]int64{o.lines}, o.growLines...)))
	return slices.Compact(all)
}

// includes reports whether a variant is measured.
func (o *options) includes(variant string) bool {
	if variant == variantOneRowMany && o.callers == oneRowClients {
		return false // identical to the other pgbench variant
	}
	if variant == variantAgainst && o.against == "" {
		return false
	}
	return !slices.Contains(o.skip, variant)
}
