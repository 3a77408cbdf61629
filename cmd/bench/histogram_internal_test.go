package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A quantile of the histogram is never below that of the sorted values, and at
// most 1/1,000 above it, from nanoseconds to minutes.
func TestQuantilesMatchTheSortedValues(t *testing.T) {
	t.Parallel()

	rng := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func() time.Duration{
		"close together": func() time.Duration { return time.Millisecond + time.Duration(rng.IntN(1000)) },
		"far apart":      func() time.Duration { return time.Duration(math.Exp(rng.Float64() * 25)) },
		"a few slow ones": func() time.Duration {
			if rng.IntN(100) == 0 {
				return time.Minute
			}
			return 300 * time.Microsecond
		},
		"tiny": func() time.Duration { return time.Duration(rng.IntN(300)) },
	}
	for name, draw := range draws {
		for _, n := range []int{1, 2, 3, 99, 1000, 20_000} {
			var h histogram
			all := make([]time.Duration, n)
			for i := range all {
				all[i] = draw()
				h.add(all[i])
			}
			slices.Sort(all)
			for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
				want := all[max(int(math.Ceil(q*float64(n))), 1)-1]
				if got := h.quantile(q); got < want || float64(got) > float64(want)*(1+1.0/1000)+1 {
					t.Errorf("%s: of %d values, quantile %g is %v, want %v", name, n, q, got, want)
				}
			}
		}
	}
}

// What is out of range counts as the nearest that is in it.
func TestTimesOutOfRangeAreCounted(t *testing.T) {
	t.Parallel()

	var h histogram
	h.add(-time.Second)
	if got := h.quantile(1); got != 0 {
		t.Errorf("a negative time is counted as %v", got)
	}
	h.add(math.MaxInt64)
	if got := h.quantile(1); got < maxDuration {
		t.Errorf("the longest time is counted as %v", got)
	}
}

// Without values every quantile is 0.
func TestQuantilesOfAnEmptyHistogram(t *testing.T) {
	t.Parallel()

	if got := new(histogram).latencies(); got != (latencies{}) {
		t.Errorf("the latencies of an empty histogram are %+v", got)
	}
}
