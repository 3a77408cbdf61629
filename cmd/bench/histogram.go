package main

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// subBits is the resolution within a power of two: a duration is known to 1/128
	// of its value.
	subBits = 7
	// maxBits is the largest duration that is resolved: 2^40 ns are 18 minutes.
	maxBits = 40
	slots   = (maxBits-subBits)<<subBits + 1<<subBits
)

// histogram counts durations in slots that widen with the duration, so that its
// memory is small and independent of the number of values. Add is safe for
// concurrent use.
type histogram struct {
	counts  [slots]atomic.Uint64
	longest atomic.Int64
}

// slot returns the slot of a number of nanoseconds.
func slot(ns uint64) int {
	ns = min(ns, 1<<maxBits-1)
	if ns < 1<<subBits {
		return int(ns)
	}
	e := bits.Len64(ns) - 1 - subBits
	return e<<subBits + int(ns>>e) //nolint:gosec // below 2^8 after the shift
}

// upper returns the longest duration that is counted in a slot.
func upper(s int) time.Duration {
	if s < 2<<subBits {
		return time.Duration(s)
	}
	e := s>>subBits - 1
	return time.Duration((s-e<<subBits+1)<<e - 1)
}

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	h.counts[slot(uint64(d))].Add(1)
	for {
		longest := h.longest.Load()
		if int64(d) <= longest || h.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

// count returns the number of values.
func (h *histogram) count() (n uint64) {
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// quantile returns the q-quantile of all values, at most 1/128 above the exact
// one; 0 if there are no values.
func (h *histogram) quantile(q float64) time.Duration {
	n := h.count()
	if n == 0 {
		return 0
	}
	rank := max(uint64(math.Ceil(q*float64(n))), 1)
	longest := time.Duration(h.longest.Load())
	var seen uint64
	for i := range h.counts {
		if seen += h.counts[i].Load(); seen >= rank {
			return min(upper(i), longest)
		}
	}
	return longest
}

// latencies are the quantiles of a run that are reported.
type latencies struct {
	P50     time.Duration `json:"p50_ns"`
	P90     time.Duration `json:"p90_ns"`
	P99     time.Duration `json:"p99_ns"`
	P999    time.Duration `json:"p999_ns"`
	Longest time.Duration `json:"longest_ns"`
}

func (h *histogram) latencies() latencies {
	return latencies{
		P50: h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99), P999: h.quantile(0.999), Longest: time.Duration(h.longest.Load()),
	}
}
