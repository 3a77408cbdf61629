package httpapi

import (
	"encoding/json/v2"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

var (
	errInternal    = fault.New(fault.Internal, "Internal error. If it happens again, report the requestId to the operator of the service.")
	errUnavailable = fault.New(fault.Unavailable, "The service is temporarily unavailable. Retry after the time in the Retry-After header.")
	errTooSlow     = fault.New(fault.Unavailable, "The request timed out. Retry it, with the same Idempotency-Key if the operation takes one.")
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

// faults are the faults for errors that are not faults themselves.
var faults = web.Faults{Internal: errInternal, Unavailable: errUnavailable, TooSlow: errTooSlow, TooLarge: errTooLarge}

// fail sends the response for err. The token endpoints add the fields of OAuth,
// whatever part of the service refuses the request.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := faults.Of(err)
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

// problem logs the fault, sets its headers, and returns its status and body.
func (a *API) problem(w http.ResponseWriter, r *http.Request, f *fault.Error) (int, problem) {
	l := logOf(r.Context())
	l.fault = f
	status := l.AddFault(f)
	if status == http.StatusUnauthorized {
		challenge := `Bearer realm="lineproof"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		if f.Err != nil {
			add(r.Context(), slog.String("reason", f.Err.Error())) // for the operator; the caller gets the same message for every reason
		}
	}
	if seconds, ok := web.RetryAfter(f); ok {
		w.Header().Set("Retry-After", web.SpreadRetry(seconds))
	}
	return status, problemOf(f, requestID(r.Context()).String())
}

// problemOf returns what a caller sees of a fault.
func problemOf(f *fault.Error, id string) problem {
	p := problem{Code: string(f.Code), Message: f.Message, Violations: make([]violation, 0, len(f.Violations)), RequestID: id}
	for _, v := range f.Violations {
		p.Violations = append(p.Violations, violation(v))
	}
	return p
}
