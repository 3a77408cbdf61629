package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// statuses is the only table from fault codes to HTTP statuses.
var statuses = map[fault.Code]int{
	fault.InvalidArgument:      http.StatusBadRequest,
	fault.OutOfRange:           http.StatusBadRequest,
	fault.Unauthenticated:      http.StatusUnauthorized,
	fault.SecondFactorRequired: http.StatusUnauthorized,
	fault.PermissionDenied:     http.StatusForbidden,
	fault.IncompleteAccount:    http.StatusForbidden,
	fault.PasswordRequired:     http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.AlreadyExists:        http.StatusConflict,
	fault.Aborted:              http.StatusConflict,
	fault.IncompatibleState:    http.StatusConflict,
	fault.Gone:                 http.StatusGone,
	fault.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.NotApplicable:        http.StatusUnprocessableEntity,
	fault.TooManyRequests:      http.StatusTooManyRequests,
	fault.QuotaExceeded:        http.StatusTooManyRequests,
	fault.ScanSuspected:        http.StatusTooManyRequests,
	fault.Internal:             http.StatusInternalServerError,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

// Status returns the HTTP status of a fault code.
func Status(code fault.Code) int { return statuses[code] }

// Faults are the faults that a transport sends for errors that are not faults
// themselves. The transports word them differently: one for programs, the other
// for people.
type Faults struct {
	Internal    *fault.Error // anything unexpected
	Unavailable *fault.Error // the database is down
	TooSlow     *fault.Error // the request's deadline has passed
	TooLarge    *fault.Error // the body is larger than the handler reads
}

// Of returns what a caller may see of err. The text of an error that is not a
// fault goes to the log only.
func (f *Faults) Of(err error) *fault.Error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return f.TooLarge.Because(err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return f.TooSlow.Because(err)
	case pg.IsUnavailable(err):
		return f.Unavailable.Because(err)
	}
	return f.Internal.Because(err)
}

// RetryAfter returns the number of seconds for the Retry-After header, and
// whether the response has one: every 429 and 503 has, and every fault that
// names a time.
func RetryAfter(f *fault.Error) (seconds int, ok bool) {
	status := Status(f.Code)
	ok = f.RetryAfter > 0 || status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
	return max(1, int(f.RetryAfter/time.Second)), ok
}
