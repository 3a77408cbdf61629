package server

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// handshakeLogInterval is the least time between two log lines about failed
// handshakes.
const handshakeLogInterval = time.Minute

// handshakeLog handles the messages of an HTTP server. Anyone can cause a failed TLS
// handshake, at any rate: all are counted, and one line a minute is logged.
type handshakeLog struct {
	slog.Handler

	failed func() // called for every failed handshake

	mutex  sync.Mutex
	logged time.Time // when the last line was logged
	since  int       // failed handshakes that were not logged since
}

// Handle implements slog.Handler.
func (h *handshakeLog) Handle(ctx context.Context, r slog.Record) error {
	if !strings.HasPrefix(r.Message, "http: TLS handshake error") {
		return h.Handler.Handle(ctx, r)
	}
	h.failed()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if r.Time.Sub(h.logged) < handshakeLogInterval {
		h.since++
		return nil
	}
	r.AddAttrs(slog.Int("not_logged", h.since))
	h.logged, h.since = r.Time, 0
	return h.Handler.Handle(ctx, r)
}
