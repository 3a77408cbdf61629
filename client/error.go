package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Code is the code of an [*Error]. The service may add codes.
type Code string

// The codes of the service. Its error reference explains each of them.
const (
	CodeInvalidArgument      Code = "INVALID_ARGUMENT"       // 400: correct what Violations names
	CodeOutOfRange           Code = "OUT_OF_RANGE"           // 400
	CodeUnauthenticated      Code = "UNAUTHENTICATED"        // 401: the credential is missing or not valid
	CodeSecondFactorRequired Code = "SECOND_FACTOR_REQUIRED" // 401: log in again, with an OTP
	CodePermissionDenied     Code = "PERMISSION_DENIED"      // 403: the credential lacks a scope
	CodePasswordRequired     Code = "PASSWORD_REQUIRED"      // 403: call ProveSession, then repeat the call
	CodeIncompleteAccount    Code = "INCOMPLETE_ACCOUNT"     // 403: Violations names what your account lacks
	CodeNotFound             Code = "NOT_FOUND"              // 404: also for what belongs to others
	CodeMethodNotAllowed     Code = "METHOD_NOT_ALLOWED"     // 405
	CodeAlreadyExists        Code = "ALREADY_EXISTS"         // 409: what the call would create exists already
	CodeAborted              Code = "ABORTED"                // 409: the first request with this key is in progress
	CodeIncompatibleState    Code = "INCOMPATIBLE_STATE"     // 409: the key was used for another request
	CodeGone                 Code = "GONE"                   // 410: the events after the cursor are no longer kept
	CodePayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"      // 413
	CodeUnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE" // 415: an unsupported file type
	CodeNotApplicable        Code = "SERVICE_NOT_APPLICABLE" // 422: not a mobile number of the service's country
	CodeTooManyRequests      Code = "TOO_MANY_REQUESTS"      // 429: a rate limit is exceeded
	CodeQuotaExceeded        Code = "QUOTA_EXCEEDED"         // 429: a quota is used up
	CodeScanSuspected        Code = "SCAN_SUSPECTED"         // 429: slowed or stopped; contact the regulator
	CodeInternal             Code = "INTERNAL"               // 500
	CodeUnavailable          Code = "UNAVAILABLE"            // 503
)

// Violation says what is wrong with one field of the request.
type Violation struct {
	Field   string `json:"field"`   // its name in the contract, such as adminEmail
	Code    string `json:"code"`    // such as REQUIRED, INVALID_FORMAT, ALREADY_EXISTS
	Message string `json:"message"` // a sentence for people
}

// Error is an error response of the service. The service repeats nothing of what
// was sent, so an Error can be logged.
type Error struct {
	StatusCode int           // the HTTP status
	Code       Code          // empty when something before the service answered, such as a proxy
	Message    string        // a sentence for people, which may be reworded; empty like Code
	Violations []Violation   // every field that is wrong
	RequestID  string        // the operator of the service finds the request by it
	RetryAfter time.Duration // when to retry; 0 if the service did not say
}

// CodeOf returns the code of the first [*Error] in err's tree, or an empty code
// when there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Error implements error, in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(e.StatusCode) + " ")
	if e.Code == "" {
		b.WriteString(http.StatusText(e.StatusCode) + ", and the answer is not in the service's form")
	} else {
		b.WriteString(string(e.Code) + ": " + e.Message)
	}
	for i, v := range e.Violations {
		b.WriteString([]string{" [", " "}[min(i, 1)] + v.Field + ": " + v.Message)
	}
	if len(e.Violations) > 0 {
		b.WriteByte(']')
	}
	if e.RequestID != "" {
		b.WriteString(" (request " + e.RequestID + ")")
	}
	return b.String()
}

// problem is the data of an error response.
type problem struct {
	Code       Code        `json:"code"`
	Message    string      `json:"message"`
	Violations []Violation `json:"violations"`
	RequestID  string      `json:"requestId"`
}

// errorFrom makes an Error from a response. If the body is not in the format of the
// service, as in an error of a proxy, only status and headers are used.
func errorFrom(res *http.Response, body []byte) *Error {
	e := &Error{
		StatusCode: res.StatusCode,
		RequestID:  res.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(res.Header),
	}
	var envelope envelope[problem]
	if json.Unmarshal(body, &envelope) != nil || envelope.Data.Code == "" {
		return e
	}
	e.Code, e.Message, e.Violations = envelope.Data.Code, envelope.Data.Message, envelope.Data.Violations
	if e.RequestID == "" {
		e.RequestID = envelope.Data.RequestID
	}
	return e
}

// retryAfter reads Retry-After in both of its formats. A date is compared with the
// Date header of the response, if it has one.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}
