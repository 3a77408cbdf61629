package main

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// subBits is how finely a power of two is divided: a time is known to one part
	// in 128 of itself.
	subBits = 7
	// maxBits bounds what is told apart: 2^40 ns are 18 minutes.
	maxBits = 40
	slots   = (maxBits-subBits)<<subBits + 1<<subBits
)

// histogram counts times in slots that widen with the time, so that it takes
// the same little memory for a second and for an hour. Many may add at once.
type histogram struct {
	counts [slots]atomic.Uint64
	most   atomic.Int64
}

// slot returns where a number of nanoseconds is counted.
func slot(ns uint64) int {
	ns = min(ns, 1<<maxBits-1)
	if ns < 1<<subBits {
		return int(ns)
	}
	e := bits.Len64(ns) - 1 - subBits
	return e<<subBits + int(ns>>e) //nolint:gosec // below 2^8 after the shift
}

// upper returns the longest time that is counted in a slot.
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
		most := h.most.Load()
		if int64(d) <= most || h.most.CompareAndSwap(most, int64(d)) {
			return
		}
	}
}

// count returns how many times were added.
func (h *histogram) count() (n uint64) {
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// quantile returns a time that the share q of all times do not exceed, at most
// one part in 128 above the exact one. Of nothing it is 0.
func (h *histogram) quantile(q float64) time.Duration {
	n := h.count()
	if n == 0 {
		return 0
	}
	rank := max(uint64(math.Ceil(q*float64(n))), 1)
	longest := time.Duration(h.most.Load())
	var seen uint64
	for i := range h.counts {
		if seen += h.counts[i].Load(); seen >= rank {
			return min(upper(i), longest)
		}
	}
	return longest
}

// latencies are the times of a run, as they are quoted.
type latencies struct {
	P50     time.Duration `json:"p50_ns"`
	P90     time.Duration `json:"p90_ns"`
	P99     time.Duration `json:"p99_ns"`
	P999    time.Duration `json:"p999_ns"`
	Longest time.Duration `json:"longest_ns"`
}

func (h *histogram) latencies() latencies {
	return latencies{
		P50: h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99), P999: h.quantile(0.999), Longest: time.Duration(h.most.Load()),
	}
}
