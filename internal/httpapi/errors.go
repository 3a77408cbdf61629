package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// statusOf is the only place where the codes of faults meet HTTP.
var statusOf = map[fault.Code]int{
	fault.InvalidArgument:      http.StatusBadRequest,
	fault.OutOfRange:           http.StatusBadRequest,
	fault.Unauthenticated:      http.StatusUnauthorized,
	fault.SecondFactorRequired: http.StatusUnauthorized,
	fault.PermissionDenied:     http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.AlreadyExists:        http.StatusConflict,
	fault.Aborted:              http.StatusConflict,
	fault.IncompatibleState:    http.StatusConflict,
	fault.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.NotApplicable:        http.StatusUnprocessableEntity,
	fault.TooManyRequests:      http.StatusTooManyRequests,
	fault.QuotaExceeded:        http.StatusTooManyRequests,
	fault.Internal:             http.StatusInternalServerError,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

var (
	errInternal    = fault.New(fault.Internal, "Something went wrong on our side. Tell us the requestId if it happens again.")
	errUnavailable = fault.New(fault.Unavailable, "The service cannot answer at the moment. Try again after the time in the Retry-After header.")
	errTooSlow     = fault.New(fault.Unavailable, "The request took too long and was given up. Send it again, with the same Idempotency-Key where the operation takes one.")
)

type problem struct {
	Code       string      `json:"code"`
	Message    string      `json:"message"`
	Violations []violation `json:"violations"`
	RequestID  string      `json:"requestId"`
}

type violation struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// faultOf returns what a caller may see of err. The text of an error that is no
// fault goes to the log and nowhere else.
func faultOf(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errTooSlow.Because(err)
	case pg.Away(err):
		return errUnavailable.Because(err)
	}
	return errInternal.Because(err)
}

// fail answers with err. The token endpoint has a language of its own, whoever
// refuses.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := faultOf(err)
	if r.Method == http.MethodPost && (r.URL.Path == tokenPath || r.URL.Path == revokePath) {
		a.failToken(w, r, f)
		return
	}
	status, body := a.problem(w, r, f)
	b, err := json.Marshal(envelope{Status: "Error", Data: body, StatusCode: strconv.Itoa(status)})
	if err != nil {
		panic(err) // a struct of strings
	}
	send(w, r, status, b)
}

// problem notes the fault, sets the headers that go with it, and returns its
// status and body.
func (a *API) problem(w http.ResponseWriter, r *http.Request, f *fault.Error) (int, problem) {
	status := statusOf[f.Code]
	add(r.Context(), slog.String("fault", string(f.Code)))
	if f.Err != nil && status >= http.StatusInternalServerError {
		add(r.Context(), slog.String("error", f.Err.Error()))
	}
	if status == http.StatusUnauthorized {
		challenge := `Bearer realm="lineproof"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		if f.Err != nil {
			add(r.Context(), slog.String("reason", f.Err.Error())) // for the operator; the caller hears one text
		}
	}
	if f.RetryAfter > 0 || status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", retryAfter(f.RetryAfter))
	}
	return status, problemOf(f, requestID(r.Context()).String())
}

// problemOf returns what a caller is told of a fault.
func problemOf(f *fault.Error, id string) problem {
	p := problem{Code: string(f.Code), Message: f.Message, Violations: make([]violation, 0, len(f.Violations)), RequestID: id}
	for _, v := range f.Violations {
		p.Violations = append(p.Violations, violation(v))
	}
	return p
}

// retryAfter spreads callers out, so that those who were refused together do
// not come back together.
func retryAfter(d time.Duration) string {
	seconds := max(1, int(d/time.Second))
	return strconv.Itoa(seconds + rand.IntN(3)) //nolint:gosec // spreading load needs no secrecy
}
