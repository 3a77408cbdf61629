package main

import (
	"context"
	"time"
)

// maxP99 is the limit of the p99 latency at which a rate counts as sustained.
const maxP99 = 50 * time.Millisecond

// openResult is the result of a constant request rate.
type openResult struct {
	Rate        float64       `json:"rate"` // requests due per second
	For         time.Duration `json:"for_ns"`
	Connections int           `json:"connections"`
	Tally       tally         `json:"tally"`
	Cost        measurement   `json:"cost"`
	Sustained   bool          `json:"held"`
}

// isSustained reports whether every request that was due was answered, and fast
// enough.
func isSustained(t *tally) bool {
	return t.Due > 0 && t.Answered == t.Due && t.Latencies.P99 < maxP99
}

// openLoop measures constant request rates, as the options say.
func (b *bench) openLoop(ctx context.Context) error {
	o := b.options
	if o.open > 0 {
		r, err := b.runRate(ctx, o.open, o.openFor)
		if err != nil {
			return err
		}
		b.report.Open = &r
	}
	if !o.findRate {
		return nil
	}
	from := o.open
	if from == 0 {
		from = 2000
	}
	s := newSearch(from)
	for {
		rate, more := s.rate()
		if !more {
			break
		}
		sustained, err := b.tryRate(ctx, rate)
		if err != nil {
			return err
		}
		s.record(sustained)
	}
	b.report.SustainedRate = s.sustained
	b.display.printf("highest sustained rate: %s per second", grouped(s.sustained))
	return nil
}

// attempts is how often a rate must fail before the search gives it up: a moment of
// other work on the machine must not end the search far below the limit.
const attempts = 2

// tryRate reports whether a rate is sustained for one step of the search.
func (b *bench) tryRate(ctx context.Context, rate float64) (sustained bool, err error) {
	for range attempts {
		r, err := b.runRate(ctx, rate, b.options.stepFor)
		if err != nil {
			return false, err
		}
		b.report.Search = append(b.report.Search, r)
		if r.Sustained {
			return true, nil
		}
	}
	return false, nil
}

// runRate measures one request rate.
func (b *bench) runRate(ctx context.Context, rate float64, length time.Duration) (r openResult, err error) {
	b.display.printf("send %s requests per second for %s", grouped(rate), length)
	r = openResult{Rate: rate, For: length, Connections: b.options.openC}
	r.Cost, r.Tally, err = b.measureHTTP(ctx, target{variantVerify, b.verify.address, b.verify.pid}, b.options.openC, rate, length)
	if err != nil {
		return r, err
	}
	r.Sustained = isSustained(&r.Tally)
	b.display.printf("%s", r.line())
	return r, nil
}
