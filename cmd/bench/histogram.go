package main

import (
	"math"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxDuration is the longest duration that is resolved: 18 minutes.
const maxDuration time.Duration = 1 << 40

// histogram counts durations, each to 1/1,000 of its value, in little memory that is
// independent of their number. It is safe for concurrent use.
type histogram struct {
	mu     sync.Mutex
	counts *hdrhistogram.Histogram // nil before the first value
}

func (h *histogram) add(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		h.counts = hdrhistogram.New(1, int64(maxDuration), 3)
	}
	if err := h.counts.RecordValue(int64(min(max(d, 0), maxDuration))); err != nil {
		panic(err) // it is in the range of the histogram
	}
}

// quantile returns the q-quantile of all values, at most 1/1,000 above the exact
// one; 0 if there are no values.
func (h *histogram) quantile(q float64) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		return 0
	}
	n := float64(h.counts.TotalCount())
	rank := max(math.Ceil(q*n), 1) // otherwise it would be rounded, and the quantile could be too low
	return time.Duration(h.counts.ValueAtPercentile(100 * rank / n))
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
	return latencies{P50: h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99), P999: h.quantile(0.999), Longest: h.quantile(1)}
}
