package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/line"
	limiter "github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web"
)

// requestLog collects the facts about one request. It is in the request's context.
type requestLog struct {
	web.RequestLog

	correlator string
	record     string                // the id of the verification record that the response has
	who        *access.Principal     // nil before authorization, and on routes that need no credential
	verifies   bool                  // its route verifies numbers: a success needs no log line
	fault      *fault.Error          // with which the request ends; nil for none
	number     phone.Number          // that it is about; zero if it has no valid one
	answer     line.Status           // of a single number; "" for none
	answers    map[line.Status]int64 // of a batch
	verdicts   [2]limiter.Verdict    // of the rates that it was charged to
}

type requestLogKey struct{}

func logOf(ctx context.Context) *requestLog {
	l, ok := ctx.Value(requestLogKey{}).(*requestLog)
	if !ok {
		panic("httpapi: the request did not pass through observe")
	}
	return l
}

// add adds attributes to the request's log line.
func add(ctx context.Context, attrs ...slog.Attr) { logOf(ctx).Add(attrs...) }

// principal returns the caller. It panics if there is none: only handlers of
// routes that need a credential may call it.
func principal(ctx context.Context) access.Principal {
	who := logOf(ctx).who
	if who == nil {
		panic("httpapi: no principal; does the route need a credential?")
	}
	return *who
}

func requestID(ctx context.Context) uuid.UUID { return logOf(ctx).ID }

func correlator(ctx context.Context) string { return logOf(ctx).correlator }

func callerAddr(ctx context.Context) netip.Addr { return logOf(ctx).From }

// observe gives the request its id, counts it, traces it, writes its log line,
// and turns a panic into an internal error.
func (a *API) observe(next http.Handler) http.Handler {
	tracer := otel.Tracer("lineproof/httpapi")
	observer := web.Observer{Metrics: a.Metrics, Fail: a.fail}
	next = a.correlate(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := &requestLog{}
		l.Init(r, a.Proxies)
		ctx := context.WithValue(r.Context(), requestLogKey{}, l)
		var span trace.Span
		if a.Traced {
			ctx = otel.GetTextMapPropagator().Extract(ctx, propagation.HeaderCarrier(r.Header))
			ctx, span = tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
			defer span.End()
		}
		r = r.WithContext(ctx)
		defer web.DrainBody(w, r) // last, so that its time is not counted
		status, took := observer.Serve(w, r, &l.RequestLog, next)
		route := l.Route()
		if l.verifies && l.who != nil && a.Ended != nil {
			end := End{Entity: l.who.Entity, Mode: l.who.Mode, Single: route == verifyRoute, Status: status, Took: took, Key: l.who.ID, Answer: l.answer, Answers: l.answers}
			if l.fault != nil {
				end.Code = l.fault.Code
			}
			a.Ended(end)
		}
		if l.fault != nil && l.who != nil && l.who.Kind == access.APIKey && a.Refused != nil {
			a.Refused(l.refused(route, status))
		}
		if span != nil {
			span.SetName(route)
			span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
		}
		a.logLine(ctx, l, status, took)
	})
}

// refused returns what the organisation may know about the request that was refused.
func (l *requestLog) refused(route string, status int) requestlog.Refused {
	return requestlog.Refused{
		ID: l.ID, Entity: l.who.Entity, Key: l.who.ID, Mode: l.who.Mode, Route: route, Status: status, Code: string(l.fault.Code), Correlator: web.Loggable(l.correlator),
		Violations: requestlog.Violations(l.fault, loggableField), Number: requestlog.Number(l.number),
	}
}

var signs, digit = regexp.MustCompile(`[^\pL\p{Nd}_]+`), regexp.MustCompile(`\p{Nd}`)

// loggableField returns the name of a field as it may be stored. A caller can send any name,
// and so a phone number in any spelling: signs between digits do not count.
func loggableField(name string) string {
	letters := digit.ReplaceAllString(signs.ReplaceAllString(name, ""), "0")
	if kept := web.Loggable(letters); kept != letters {
		return kept
	}
	return web.Loggable(name)
}

// correlators is CAMARA's pattern. A value that does not match it is not echoed.
var correlators = regexp.MustCompile(`^[a-zA-Z0-9\-_:;./<>{}]{1,256}$`)

var errCorrelator = fault.ErrInvalid.With(fault.Violation{
	Field: "x-correlator", Code: fault.BadFormat, Message: "Use at most 256 of the characters a-z, A-Z, 0-9 and -_:;./<>{}.",
})

// correlate checks the caller's X-Correlator and sends it back.
func (a *API) correlate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent := r.Header.Values("X-Correlator"); len(sent) > 0 && sent[0] != "" {
			if len(sent) > 1 || !correlators.MatchString(sent[0]) {
				a.fail(w, r, errCorrelator)
				return
			}
			logOf(r.Context()).correlator = sent[0]
			w.Header().Set("X-Correlator", sent[0])
		}
		next.ServeHTTP(w, r)
	})
}

// logLine writes the request's log line, unless the route is so busy that its
// refusals are sampled.
func (a *API) logLine(ctx context.Context, l *requestLog, status int, took time.Duration) {
	level := l.Level(status)
	refused := status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
	switch {
	case refused && l.verifies && a.verifyRefusals.Skip(time.Now()), refused && l.Route() == loginRoute && a.loginRefusals.Skip(time.Now()):
		return
	case l.verifies && status == http.StatusOK:
		level = slog.LevelDebug // ten thousand a second, each with a record in the journal
	}
	if !a.Log.Enabled(ctx, level) {
		return
	}
	var more []slog.Attr
	if l.record != "" {
		more = append(more, slog.String("record_id", l.record))
	}
	if l.correlator != "" {
		more = append(more, slog.String("correlator", web.Loggable(l.correlator)))
	}
	l.Write(ctx, a.Log, level, status, took, more...)
}
