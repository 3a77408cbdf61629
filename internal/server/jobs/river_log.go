package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// repeatAfter is the time after which the same message is logged again.
const repeatAfter = time.Minute

// riverLog passes on River's warnings and errors, each message at most once a
// minute. River's regular statistics would outnumber the lines about requests,
// and during an outage of the database it logs many times a second.
type riverLog struct {
	slog.Handler

	mu   *sync.Mutex
	last map[string]time.Time
}

func newRiverLog(h slog.Handler) riverLog {
	return riverLog{Handler: h, mu: &sync.Mutex{}, last: make(map[string]time.Time)}
}

// Enabled implements slog.Handler.
func (l riverLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (l riverLog) Handle(ctx context.Context, r slog.Record) error {
	l.mu.Lock()
	if r.Time.Sub(l.last[r.Message]) < repeatAfter {
		l.mu.Unlock()
		return nil
	}
	l.last[r.Message] = r.Time
	l.mu.Unlock()
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l riverLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.Handler = l.Handler.WithAttrs(attrs)
	return l
}

// WithGroup implements slog.Handler.
func (l riverLog) WithGroup(name string) slog.Handler {
	l.Handler = l.Handler.WithGroup(name)
	return l
}
