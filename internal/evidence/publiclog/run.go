package publiclog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pause"
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
	pause.Loop{
		Interval: interval, Limit: tickTime,
		Failed: func(err error) {
			log.LogAttrs(ctx, slog.LevelError, "the public log does not grow or is not published, will retry", slog.Any("error", err))
		},
		Recovered: func() { log.LogAttrs(ctx, slog.LevelInfo, "the public log grows again") },
	}.Run(ctx, w.work)
}

// work adds to the log and publishes it. The log grows while it can't be published.
func (w *Worker) work(ctx context.Context) error {
	added, err := w.Log.Tick(ctx)
	if w.Publisher != nil {
		_, publishErr := w.Publisher.Publish(ctx)
		err = errors.Join(err, publishErr)
	}
	if !errors.Is(ctx.Err(), context.Canceled) { // what the end of the service stops has not failed
		w.Observe(added, err)
	}
	return err
}
