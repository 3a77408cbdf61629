package portal

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// FormErrors returns the posted form with the errors of err at its fields, and
// whether err can be corrected in the form at all.
func FormErrors(r *http.Request, err error) (form kit.Form, invalid bool) {
	f := kit.Form{Values: r.PostForm}
	if err == nil || errors.Is(err, staffaccess.ErrSpent) { // no other value in the form would help
		return f, false
	}
	problem := FaultOf(err)
	if errors.Is(err, people.ErrNoFactorYet) {
		return f, false // it has a page of its own
	}
	switch problem.Code {
	case fault.InvalidArgument, fault.OutOfRange, fault.AlreadyExists, fault.IncompatibleState, fault.NotApplicable, fault.TooManyRequests, fault.Unauthenticated,
		fault.PayloadTooLarge, fault.UnsupportedMediaType, fault.Aborted, fault.QuotaExceeded, fault.ScanSuspected, fault.IncompleteAccount:
	default:
		return f, false
	}
	f.Errors = map[string]string{}
	for _, v := range problem.Violations {
		if f.Errors[v.Field] == "" {
			f.Order = append(f.Order, v.Field)
		} else {
			v.Message = f.Errors[v.Field] + " " + v.Message
		}
		f.Errors[v.Field] = v.Message
	}
	if len(problem.Violations) == 0 {
		f.Message = messageForPeople(problem.Message)
	}
	return f, true
}

// AddFieldError adds an error to a field of a form, unless ok.
func AddFieldError(f *kit.Form, ok bool, field, message string) {
	if ok {
		return
	}
	if f.Errors == nil {
		f.Errors = map[string]string{}
	}
	f.Errors[field], f.Order = message, append(f.Order, field)
}

// messageForPeople rewrites a message of the API for a person in a browser.
func messageForPeople(message string) string {
	return strings.ReplaceAll(message, "Wait for the time in the Retry-After header", "Wait a few minutes")
}

// ReadDates reads the fields from and to of a filter by days. The end that it
// returns is the start of the following day, so that the last day is included.
func ReadDates(q url.Values, form *kit.Form) (from, end time.Time) {
	from, end, wrong := web.DateRange(q, "from", "to")
	for _, field := range wrong {
		AddFieldError(form, false, field, "Write a date as 2026-01-31.")
	}
	return from, end
}

// OneLine returns the text of a multi-line field as one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// SameText compares a typed text with the expected one. Runs of spaces count as
// one, because a browser shows them as one.
func SameText(typed, expected string) bool { return OneLine(typed) == OneLine(expected) }
