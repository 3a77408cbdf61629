package publiclog

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

const (
	// interval is the time between two ticks of a node.
	interval = time.Second
	// tickTime is how long a tick may take, with what it publishes.
	tickTime = 30 * time.Second
)

// Worker keeps the log growing, and published.
type Worker struct {
	Log       *Log
	Publisher *Publisher // nil on a node that publishes nothing
	// Observe is called after every tick.
	Observe func(Added, error)
}

// Run works until ctx ends. It logs when it begins to fail and when it succeeds again.
func (w *Worker) Run(ctx context.Context, log *slog.Logger) {
	clock := time.NewTicker(interval)
	defer clock.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		}
		added, err := w.work(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			log.LogAttrs(ctx, slog.LevelError, "the public log does not grow or is not published, will retry", slog.Any("error", err))
		case err == nil && failing:
			log.LogAttrs(ctx, slog.LevelInfo, "the public log grows again")
		}
		failing = err != nil
		w.Observe(added, err)
	}
}

// work adds to the log and publishes it. The log grows while it can't be published.
func (w *Worker) work(ctx context.Context) (Added, error) {
	ctx, cancel := context.WithTimeout(ctx, tickTime)
	defer cancel()
	added, err := w.Log.Tick(ctx)
	if w.Publisher == nil {
		return added, err
	}
	_, publishErr := w.Publisher.Publish(ctx)
	return added, errors.Join(err, publishErr)
}
