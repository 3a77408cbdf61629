package httpapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
)

// notes gathers what is worth saying about one request. It is written as one
// line when the request ends; nothing else logs on the way of a request.
type notes struct {
	id         uuid.UUID
	from       netip.Addr // where the caller is; the zero address where that is not known
	correlator string

	mu     sync.Mutex
	route  string
	attrs  []slog.Attr
	record string            // the id of the record that the answer has
	who    *access.Principal // nil before the door, and on routes that ask for no credential
	quiet  bool              // what succeeds is not worth a line
}

type notesKey struct{}

func notesOf(ctx context.Context) *notes {
	n, ok := ctx.Value(notesKey{}).(*notes)
	if !ok {
		panic("httpapi: a request that was not observed")
	}
	return n
}

// add puts attributes into the request's log line.
func add(ctx context.Context, attrs ...slog.Attr) {
	n := notesOf(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.attrs = append(n.attrs, attrs...)
}

// note remembers which route serves the request. Requests that reach none are
// counted together: their paths are whatever callers make up.
func note(ctx context.Context, route string, quiet bool) {
	n := notesOf(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.route, n.quiet = route, quiet
}

// principal returns who is calling. It panics if there is nobody: whoever asks is
// mounted on a route that authenticates.
func principal(ctx context.Context) access.Principal {
	who := notesOf(ctx).who
	if who == nil {
		panic("httpapi: no principal; does the route ask for a credential?")
	}
	return *who
}

func requestID(ctx context.Context) uuid.UUID { return notesOf(ctx).id }

func correlator(ctx context.Context) string { return notesOf(ctx).correlator }

// correlators is CAMARA's pattern. What does not fit it is not echoed.
var correlators = regexp.MustCompile(`^[a-zA-Z0-9\-_:;./<>{}]{1,256}$`)

var errCorrelator = fault.ErrInvalid.With(fault.Violation{
	Field: "x-correlator", Code: fault.BadFormat, Message: "Use at most 256 of the characters a-z, A-Z, 0-9 and -_:;./<>{}.",
})

// observe gives the request its id, writes its line, counts it, and turns a
// panic into an internal error.
func (a *API) observe(next http.Handler) http.Handler {
	tracer := otel.Tracer("lineproof/httpapi")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		n := &notes{id: uuid.Must(uuid.NewV7()), from: a.from(r), route: "none"}
		ctx := context.WithValue(r.Context(), notesKey{}, n)
		var span trace.Span
		if a.Traced {
			ctx = otel.GetTextMapPropagator().Extract(ctx, propagation.HeaderCarrier(r.Header))
			ctx, span = tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
			defer span.End()
		}
		r = r.WithContext(ctx)
		sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		sw.Header()["X-Request-Id"] = []string{n.id.String()}
		a.Metrics.RequestBegan()

		defer hearOut(sw, r) // last of all: it is no part of the work
		defer func() {
			if p := recover(); p != nil {
				a.Metrics.Panicked()
				add(ctx, slog.String("stack", string(debug.Stack())))
				a.failLate(sw, r, fmt.Errorf("panic: %v", p))
			}
			took := time.Since(start)
			a.Metrics.RequestEnded(n.route, sw.status, took)
			if n.quiet && n.who != nil && a.Ended != nil {
				a.Ended(End{Entity: n.who.Entity, Mode: n.who.Mode, Single: n.route == verifyRoute, Status: sw.status, Took: took})
			}
			if span != nil {
				span.SetName(n.route)
				span.SetAttributes(attribute.String("http.route", n.route), attribute.Int("http.response.status_code", sw.status))
			}
			a.logLine(ctx, n, sw.status, took)
		}()

		if sent := r.Header.Values("X-Correlator"); len(sent) > 0 && sent[0] != "" {
			if len(sent) > 1 || !correlators.MatchString(sent[0]) {
				a.fail(sw, r, errCorrelator)
				return
			}
			n.correlator = sent[0]
			sw.Header().Set("X-Correlator", n.correlator)
		}
		next.ServeHTTP(sw, r)
	})
}

// mostHeard is how much of a body that nobody wants is read all the same.
const mostHeard = 256 << 10

// hearOut reads what is left of the body of a caller who has said that this is
// its last request. net/http does it for all others: a connection that is closed
// while the other side still sends is reset, and a reset can overtake the answer.
func hearOut(w http.ResponseWriter, r *http.Request) {
	if !r.Close || r.ContentLength == 0 || r.Header.Get("Expect") != "" { // who expects a word from us has sent nothing
		return
	}
	if http.NewResponseController(w).Flush() == nil {
		_, _ = io.CopyN(io.Discard, r.Body, mostHeard) // it is of no use to anybody
	}
}

func (a *API) logLine(ctx context.Context, n *notes, status int, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case n.quiet && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && a.refusals.skip(time.Now()):
		return
	case n.route == loginRoute && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && a.floods.skip(time.Now()):
		return
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	case n.quiet && status == http.StatusOK:
		level = slog.LevelDebug // ten thousand a second, each with a record in the journal
	}
	if !a.Log.Enabled(ctx, level) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	attrs := append([]slog.Attr{
		slog.String("request_id", n.id.String()), slog.String("route", n.route), slog.Int("status", status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000), slog.String("remote", n.remote()),
	}, n.attrs...)
	if n.record != "" {
		attrs = append(attrs, slog.String("record_id", n.record))
	}
	if n.correlator != "" {
		attrs = append(attrs, slog.String("correlator", loggable(n.correlator)))
	}
	a.Log.LogAttrs(ctx, level, "request", attrs...)
}

// private matches what a caller must not be able to write into our log by way
// of a correlator: a phone number in any spelling, or one of our own credentials.
var private = regexp.MustCompile(`([0-9][-_:;./<>{}]?){9}|lp_[a-z]+_`)

// loggable returns s, or a word in its place. A UUID is what most callers send;
// its groups of digits are no phone number.
func loggable(s string) string {
	if _, err := uuid.Parse(s); err == nil && len(s) == 36 {
		return s
	}
	if private.MatchString(s) {
		return "[withheld]"
	}
	return s
}

// from returns the caller's address. X-Forwarded-For is believed only from a
// listed proxy, and only its last entry that is not one of them.
func (a *API) from(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap()
	if !a.isProxy(addr) {
		return addr
	}
	for _, hop := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if addr = next.Unmap(); !a.isProxy(addr) {
			break
		}
	}
	return addr
}

func (a *API) isProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(a.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// remote returns the caller's address as the log has it.
func (n *notes) remote() string {
	if !n.from.IsValid() {
		return ""
	}
	return n.from.String()
}

func callerAddr(ctx context.Context) netip.Addr { return notesOf(ctx).from }

// failLate answers a panic, unless an answer has begun.
func (a *API) failLate(w *statusWriter, r *http.Request, err error) {
	if w.wrote {
		add(r.Context(), slog.String("error", err.Error()))
		return
	}
	a.fail(w, r, err)
}

type statusWriter struct {
	http.ResponseWriter

	status int
	wrote  bool
}

func (w *statusWriter) WriteHeader(status int) {
	w.status, w.wrote = status, true
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer beneath.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
