package web

import (
	"context"
	"net/http"
	"time"
)

const (
	// writeGrace is how long after the read deadline a response may still be
	// written, so that the client learns why the request failed.
	writeGrace = 5 * time.Second
	// contextGrace is how much longer the context lives than the read deadline.
	// The body's time is up first, so that a slow client is told from a slow
	// service.
	contextGrace = 100 * time.Millisecond
)

// WithTimeout limits how long a handler may take to d. The limit applies to
// reading the body, too: a body that trickles in does not end with the context.
func WithTimeout(ctx context.Context, w http.ResponseWriter, d time.Duration) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(d)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(deadline)                  // not every writer supports it
	_ = control.SetWriteDeadline(deadline.Add(writeGrace)) // the same
	return context.WithDeadline(ctx, deadline.Add(contextGrace))
}

// AbortResponse breaks the connection of a response that failed after its
// header was sent. A file that ends early must not look complete, so the
// connection is made unable to end it properly.
func AbortResponse(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now()) // not every writer supports it
}
