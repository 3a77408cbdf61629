package main

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// Invalid options are refused before anything is started, all of them at once.
func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()

	for _, line := range []string{
		"-lines 0", "-lines 180000001", "-rounds -1", "-seconds 0", "-c 0", "-skip nothing", "-grow-c 16,x", "-grow-lines 0", "-open -5", "-for 0s",
		"-set x", "-nonsense", "word", "-demand -rounds 0", "-grow-lines 1000000000", "-step 0s", "-open-c 0",
	} {
		if _, err := parseOptions(strings.Fields(line), io.Discard); err == nil {
			t.Errorf("%s was accepted", line)
		}
	}
	_, err := parseOptions([]string{"-lines", "0", "-c", "0"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "-lines") || !strings.Contains(err.Error(), "-c must") {
		t.Errorf("two mistakes were reported as: %v", err)
	}
}

// Lines are only added, so the stages go from the smallest to the largest.
func TestStagesGrow(t *testing.T) {
	t.Parallel()

	o, err := parseOptions([]string{"-lines", "20", "-grow-lines", "100,1,20", "-skip", "unbatched,bare", "-c", "16"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.stages(); !slices.Equal(got, []int64{1, 20, 100}) {
		t.Errorf("the stages are %v", got)
	}
	if o.includes(variantBare) || o.includes(variantUnbatched) || !o.includes(variantVerify) || !o.includes(variantOneRow) {
		t.Error("a skipped variant is included, or another is not")
	}
	if o.includes(variantOneRowMany) {
		t.Error("pgbench would run twice with the same number of clients")
	}
}

// The progress of pgbench is counted from the end of the warm-up for the given
// number of seconds, and neither before nor after.
func TestPgbenchProgressIsCounted(t *testing.T) {
	t.Parallel()

	const output = `pgbench (15.19)
progress: 0.5 s, 7.0 tps, lat 1.629 ms stddev 0.512, 0 failed
progress: 1.0 s, 9.0 tps, lat 1.629 ms stddev 0.512, 0 failed
progress: 2.0 s, 5000.0 tps, lat 1.629 ms stddev 0.512, 0 failed
progress: 3.0 s, 5000.0 tps, lat 1.629 ms stddev 0.512
progress: 4.0 s, 9.0 tps, lat 1.629 ms stddev 0.512, 0 failed
`
	var w watch
	p, other, err := w.followProgress(bufio.NewScanner(strings.NewReader(output)), 2, 2)
	if err != nil || p.rate < 4999 || p.rate > 5001 || other != "pgbench (15.19)\n" {
		t.Errorf("rate %v, other output %q, %v", p.rate, other, err)
	}
	if _, _, err := w.followProgress(bufio.NewScanner(strings.NewReader(output)), 2, 9); err == nil {
		t.Error("a run that ended too early was counted")
	}
}

// A line of pgbench's log is parsed, and an incomplete line is not.
func TestPgbenchLogIsParsed(t *testing.T) {
	t.Parallel()

	took, at, ok := parseLog("3 77 1629 0 1763194000 250000\n")
	if !ok || took != 1629*time.Microsecond || !at.Equal(time.Unix(1763194000, 250_000_000)) {
		t.Errorf("%v at %v, %v", took, at, ok)
	}
	for _, line := range []string{"", "3 77 16", "3 77 failed 0 1763194000 250000"} {
		if took, _, ok := parseLog(line); ok {
			t.Errorf("%q was read as %v", line, took)
		}
	}
}
