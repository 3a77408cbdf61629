package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// RequestLog collects what the log says about one request. It is written as one
// line when the request ends; nothing else logs while a request is served.
// Transports embed it in the struct that they keep in the request's context.
type RequestLog struct {
	ID   uuid.UUID  // sent as X-Request-Id
	From netip.Addr // the client's address; the zero address if it is not known

	start    time.Time
	expected bool // the fault of the request is no failure of the service
	mu       sync.Mutex
	route    string
	attrs    []slog.Attr
}

// Init gives the request its id and starts its clock. Call it first.
func (l *RequestLog) Init(r *http.Request, proxies []netip.Prefix) {
	l.ID, l.From, l.start, l.route = uuid.Must(uuid.NewV7()), ClientAddr(r, proxies), time.Now(), "none"
}

// SetRoute sets which route serves the request. Requests that match no route
// are counted together as "none": their paths are made up by clients.
func (l *RequestLog) SetRoute(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.route = name
}

// Route returns the name of the route that serves the request.
func (l *RequestLog) Route() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.route
}

// Add adds attributes to the log line.
func (l *RequestLog) Add(attrs ...slog.Attr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attrs = append(l.attrs, attrs...)
}

// AddFault adds the fault with which the request ends, and returns its status.
// The cause of a server error is logged; that of a client error is not.
func (l *RequestLog) AddFault(f *fault.Error) (status int) {
	status = Status(f.Code)
	l.Add(slog.String("fault", string(f.Code)))
	l.expected = status >= http.StatusInternalServerError && f.IsExpected()
	if l.expected {
		l.Add(slog.Bool("expected", true))
	} else if f.Err != nil && status >= http.StatusInternalServerError {
		l.Add(slog.String("error", f.Err.Error()))
	}
	return status
}

// Level returns the level of the log line for a status: server errors are errors unless they
// are expected, everything else is information.
func (l *RequestLog) Level(status int) slog.Level {
	if status >= http.StatusInternalServerError && !l.expected {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Write writes the log line, with more at its end.
func (l *RequestLog) Write(ctx context.Context, log *slog.Logger, level slog.Level, status int, took time.Duration, more ...slog.Attr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	remote := ""
	if l.From.IsValid() {
		remote = l.From.String()
	}
	attrs := append([]slog.Attr{
		slog.String("request_id", l.ID.String()), slog.String("route", l.route), slog.Int("status", status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000), slog.String("remote", remote),
	}, l.attrs...)
	log.LogAttrs(ctx, level, "request", append(attrs, more...)...)
}
