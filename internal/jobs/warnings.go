package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quiet is how long River does not repeat itself.
const quiet = time.Minute

// warnings passes on what River finds worrying, each thing once a minute. Its
// regular counts would drown the lines about requests, and while the database is
// away it would say so many times a second.
type warnings struct {
	slog.Handler

	mu   *sync.Mutex
	last map[string]time.Time
}

func newWarnings(h slog.Handler) warnings {
	return warnings{Handler: h, mu: &sync.Mutex{}, last: make(map[string]time.Time)}
}

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	w.mu.Lock()
	if r.Time.Sub(w.last[r.Message]) < quiet {
		w.mu.Unlock()
		return nil
	}
	w.last[r.Message] = r.Time
	w.mu.Unlock()
	return w.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	w.Handler = w.Handler.WithAttrs(attrs)
	return w
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler {
	w.Handler = w.Handler.WithGroup(name)
	return w
}
