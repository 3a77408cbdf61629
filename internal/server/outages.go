package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// settled is how long the database must have answered before an outage is over for people. An
// overloaded one answers and fails by turns, every second; each turn counts in the metric, and
// none but the first is said.
const settled = 10 * time.Second

// outages reports the outages of the database that the breaker notices. Failed requests are
// logged separately.
type outages struct {
	ctx     context.Context //nolint:containedctx // of the service; the breaker's calls have none
	log     *slog.Logger
	metrics *telemetry.Metrics

	mu    sync.Mutex
	turns int       // outages that are not over for people; the first was said
	since time.Time // when that began
	calm  *time.Timer
}

// change is called when an outage begins, and when it ends.
func (o *outages) change(down bool, after time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.metrics.DatabaseAway(down, after)
	if o.calm != nil {
		o.calm.Stop()
	}
	if !down {
		ended := time.Now()
		o.calm = time.AfterFunc(settled, func() { o.over(ended) })
		return
	}
	if o.turns++; o.turns > 1 {
		return
	}
	o.since = time.Now()
	o.log.LogAttrs(o.ctx, slog.LevelError, "the database does not answer; all requests are refused until it does")
}

// over says that the database has answered since a time, and how often it did not before.
func (o *outages) over(ended time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns == 0 {
		return
	}
	o.log.LogAttrs(o.ctx, slog.LevelInfo, "the database answers again", slog.Duration("after", ended.Sub(o.since)), slog.Int("outages", o.turns))
	o.turns = 0
}
