// Package fault defines the error type that domain packages return to callers.
//
// A domain package returns a plain wrapped error when something broke, and a
// [*Error] when the caller did something that it can correct or must wait for.
// The difference decides what the caller sees: a fault carries a stable code and a
// sentence that is safe to show; everything else becomes INTERNAL and is only
// written to the log.
//
// Faults know nothing of HTTP. The mapping from [Code] to status is a table in
// package web.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Code is the class of a fault, as CAMARA names it. A new code needs a
// row in every transport's table, and the transports' tests fail until it has
// one.
type Code string

// The codes. They are part of the contract: documented in
// docs/reference/errors.md and never renamed.
const (
	InvalidArgument      Code = "INVALID_ARGUMENT"
	OutOfRange           Code = "OUT_OF_RANGE"
	Unauthenticated      Code = "UNAUTHENTICATED"
	SecondFactorRequired Code = "SECOND_FACTOR_REQUIRED"
	PermissionDenied     Code = "PERMISSION_DENIED"
	IncompleteAccount    Code = "INCOMPLETE_ACCOUNT"
	PasswordRequired     Code = "PASSWORD_REQUIRED"
	NotFound             Code = "NOT_FOUND"
	MethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	AlreadyExists        Code = "ALREADY_EXISTS"
	Aborted              Code = "ABORTED"
	IncompatibleState    Code = "INCOMPATIBLE_STATE"
	Gone                 Code = "GONE"
	PayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	NotApplicable        Code = "SERVICE_NOT_APPLICABLE"
	TooManyRequests      Code = "TOO_MANY_REQUESTS"
	QuotaExceeded        Code = "QUOTA_EXCEEDED"
	ScanSuspected        Code = "SCAN_SUSPECTED"
	Internal             Code = "INTERNAL"
	Unavailable          Code = "UNAVAILABLE"
)

// Codes lists every code, for tests that prove a table is complete.
var Codes = []Code{
	InvalidArgument, OutOfRange, Unauthenticated, SecondFactorRequired, PermissionDenied, IncompleteAccount, PasswordRequired, NotFound,
	MethodNotAllowed, AlreadyExists, Aborted, IncompatibleState, Gone, PayloadTooLarge, UnsupportedMediaType,
	NotApplicable, TooManyRequests, QuotaExceeded, ScanSuspected, Internal, Unavailable,
}

// The codes of a violation: what is wrong with one field.
const (
	Required   = "REQUIRED"        // the field is missing or empty
	BadFormat  = "INVALID_FORMAT"  // the text does not have the format of the field
	WrongType  = "WRONG_TYPE"      // a JSON value of another type, or null
	TooShort   = "TOO_SHORT"       // fewer characters than allowed
	TooLong    = "TOO_LONG"        // more characters than allowed
	Unknown    = "UNKNOWN_FIELD"   // the operation has no such field
	Repeated   = "DUPLICATE_FIELD" // the field is sent twice
	NotAllowed = "NOT_ALLOWED"     // well formed, but not an allowed value
	TooCommon  = "TOO_COMMON"      // a common password
	OwnWords   = "OWN_WORDS"       // a password made only of words of the account
	Taken      = "ALREADY_EXISTS"  // the value belongs to another account
	Ambiguous  = "AMBIGUOUS"       // the field is needed, because the request is ambiguous without it
)

// Violation says what is wrong with one field of a request. Message never
// repeats what was sent.
type Violation struct {
	Field   string
	Code    string
	Message string
}

// Error is a failure that the caller can understand and act on.
type Error struct {
	Code       Code
	Message    string        // one sentence that is safe to show and says what to do
	Violations []Violation   // every field that is wrong, never only the first
	RetryAfter time.Duration // for Unavailable and the limits: when to retry; 0 lets the transport choose
	Err        error         // the cause, for the log only
}

// ErrExpected is the cause of a fault that is no failure of the service although its status is
// 500 or above: one that a test number simulates, or a receipt that is not there yet. No
// objective counts it, and nobody is called for it.
var ErrExpected = errors.New("expected")

// IsExpected reports whether the fault is no failure of the service.
func (e *Error) IsExpected() bool { return errors.Is(e.Err, ErrExpected) }

// New returns a fault. Message is shown to the caller, so it must not repeat
// stored data that the caller may not see.
func New(code Code, message string) *Error {
	return &Error{Code: code, Message: message}
}

// Because returns a copy of e that records cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Err = cause
	return &c
}

// With returns a copy of e with more violations.
func (e *Error) With(violations ...Violation) *Error {
	c := *e
	c.Violations = slices.Concat(e.Violations, violations)
	return &c
}

// Error implements error. The text is for logs; callers are shown Message.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.Err)
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns the cause, if one was recorded.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target has the same code and message, so that a package
// variable can serve as a sentinel.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == e.Message
}

// CodeOf returns the code of the first fault in err's tree, or Internal.
func CodeOf(err error) Code {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Code
	}
	return Internal
}

// ErrInvalid is what a [Form] with violations returns.
var ErrInvalid = New(InvalidArgument, "The request has fields that must be corrected; violations lists all of them.")

// Form collects what is wrong with a request, so that the caller can correct
// everything at once. The zero Form has no violations.
type Form struct {
	violations []Violation
	outside    int    // violations of CheckRange
	outOfRange *Error // its error
}

// Check adds a violation of field unless ok.
func (f *Form) Check(ok bool, field, code, message string) {
	if !ok {
		f.violations = append(f.violations, Violation{Field: field, Code: code, Message: message})
	}
}

// CheckChoice adds a violation of field unless its value is allowed: an empty one is missing.
func (f *Form) CheckChoice(allowed bool, field, value, message string) {
	code := NotAllowed
	if value == "" {
		code = Required
	}
	f.Check(allowed, field, code, message)
}

// CheckRange adds a violation of field, whose value is well formed, unless it is inside the range
// of the operation. If nothing else is wrong, Err returns outOfRange.
func (f *Form) CheckRange(inside bool, field string, outOfRange *Error, message string) {
	if !inside {
		f.outside, f.outOfRange = f.outside+1, outOfRange
		f.Check(false, field, NotAllowed, message)
	}
}

// Once adds a violation of field unless the Form already has the same.
func (f *Form) Once(field, code, message string) {
	v := Violation{Field: field, Code: code, Message: message}
	if !slices.Contains(f.violations, v) {
		f.violations = append(f.violations, v)
	}
}

// CheckLabel adds violations of field unless label is a name of 1 to longest characters.
func (f *Form) CheckLabel(field, label string, longest int) {
	f.Check(strings.TrimSpace(label) != "", field, Required, "Give a name.")
	f.Check(utf8.RuneCountInString(label) <= longest, field, TooLong, fmt.Sprintf("Use at most %d characters.", longest))
}

// IsPrintable reports whether text has 1 to longest characters, all of them printable.
func IsPrintable(text string, longest int) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= longest &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Violations returns the violations so far.
func (f *Form) Violations() []Violation { return f.violations }

// Add adds violations that were found elsewhere.
func (f *Form) Add(violations ...Violation) { f.violations = append(f.violations, violations...) }

// Err returns ErrInvalid with every violation, or nil if there is none.
func (f *Form) Err() error {
	switch len(f.violations) {
	case 0:
		return nil
	case f.outside:
		return f.outOfRange.With(f.violations...)
	}
	return ErrInvalid.With(f.violations...)
}

// Wrap returns err behind what was being done, or nil if err is nil: for the last step of a
// function, whose failure is not the caller's.
func Wrap(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), err)
}
