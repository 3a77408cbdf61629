// Package pause waits, and repeats work.
package pause

import (
	"context"
	"time"
)

// For waits for a duration, or until ctx ends.
func For(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Loop repeats work. All fields but Interval may be left out.
type Loop struct {
	Interval  time.Duration   // from the beginning of one round to that of the next
	Limit     time.Duration   // of time for one round
	Wake      <-chan struct{} // begins the next round at once
	Failed    func(error)     // is called with the first error of a series, for the log
	Recovered func()          // is called when a series of errors is over
}

// Run does work at once and then at each interval, until ctx ends.
func (l Loop) Run(ctx context.Context, work func(context.Context) error) {
	tick := time.NewTicker(l.Interval)
	defer tick.Stop()
	for failing := false; ctx.Err() == nil; {
		err := l.round(ctx, work)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing && l.Failed != nil:
			l.Failed(err)
		case err == nil && failing && l.Recovered != nil:
			l.Recovered()
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-l.Wake:
		}
	}
}

func (l Loop) round(ctx context.Context, work func(context.Context) error) error {
	if l.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Limit)
		defer cancel()
	}
	return work(ctx)
}
