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

// Every does work at each interval until ctx ends, with a limit of time for each. Failed is
// called with the first error of a series, for the log.
func Every(ctx context.Context, interval, limit time.Duration, work func(context.Context) error, failed func(error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		bounded, cancel := context.WithTimeout(ctx, limit)
		err := work(bounded)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			failed(err)
		}
		failing = err != nil
	}
}
