package main

import (
	"context"
	"time"
)

// mostP99 is the p99 below which a rate counts as held.
const mostP99 = 50 * time.Millisecond

// openResult is what became of a steady rate of questions.
type openResult struct {
	Rate        float64       `json:"rate"` // asked for
	For         time.Duration `json:"for_ns"`
	Connections int           `json:"connections"`
	Tally       tally         `json:"tally"`
	Cost        measurement   `json:"cost"`
	Held        bool          `json:"held"`
}

// isHeld reports whether everything that was due was answered, and soon enough.
func isHeld(t *tally) bool {
	return t.Due > 0 && t.Answered == t.Due && t.Latencies.P99 < mostP99
}

// openLoop asks at steady rates, as the options want it.
func (b *bench) openLoop(ctx context.Context) error {
	o := b.options
	if o.open > 0 {
		r, err := b.hold(ctx, o.open, o.openFor)
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
		held, err := b.try(ctx, rate)
		if err != nil {
			return err
		}
		s.tell(held)
	}
	b.report.HeldRate = s.held
	b.show.say("the highest rate that was held: %s a second", grouped(s.held))
	return nil
}

// tries is how often a rate may miss before the search believes it: a moment of
// other work on the machine must not end it far below the limit.
const tries = 2

// try reports whether a rate is held for a step of the search.
func (b *bench) try(ctx context.Context, rate float64) (held bool, err error) {
	for range tries {
		r, err := b.hold(ctx, rate, b.options.stepFor)
		if err != nil {
			return false, err
		}
		b.report.Search = append(b.report.Search, r)
		if r.Held {
			return true, nil
		}
	}
	return false, nil
}

// hold asks at one rate.
func (b *bench) hold(ctx context.Context, rate float64, length time.Duration) (r openResult, err error) {
	b.show.say("ask at %s a second for %s", grouped(rate), length)
	r = openResult{Rate: rate, For: length, Connections: b.options.openC}
	r.Cost, r.Tally, err = b.ask(ctx, target{variantVerify, b.verify.address, b.verify.pid}, b.options.openC, rate, length)
	if err != nil {
		return r, err
	}
	r.Held = isHeld(&r.Tally)
	b.show.say("%s", r.line())
	return r, nil
}
