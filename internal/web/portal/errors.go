package portal

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// errorTitles are the titles of error pages, by status.
var errorTitles = map[int]string{
	http.StatusBadRequest:          "That did not work",
	http.StatusUnauthorized:        "Please sign in",
	http.StatusForbidden:           "Not allowed",
	http.StatusNotFound:            "Not found",
	http.StatusConflict:            "Not possible in this state",
	http.StatusTooManyRequests:     "Too many requests",
	http.StatusServiceUnavailable:  "Temporarily unavailable",
	http.StatusInternalServerError: "Something went wrong",
}

// ErrTooLarge reports a form that is larger than its page accepts.
var ErrTooLarge = fault.New(fault.PayloadTooLarge, "The form or file is larger than this page accepts.")

// faults are shown for errors that are not faults themselves.
var faults = web.Faults{
	Internal:    fault.New(fault.Internal, "Something went wrong in the service. If it happens again, report the request id below."),
	Unavailable: fault.New(fault.Unavailable, "The service is temporarily unavailable. Try again in a minute."),
	TooSlow:     fault.New(fault.Unavailable, "The request took too long and was stopped. Try again."),
	TooLarge:    ErrTooLarge,
}

// FaultOf returns what a visitor may see of err. The text of an error that is not
// a fault goes to the log only.
func FaultOf(err error) *fault.Error { return faults.Of(err) }

// showError responds with an error page.
func (p *Portal) showError(w http.ResponseWriter, r *http.Request, err error) {
	f, v := FaultOf(err), VisitOf(r)
	status := v.AddFault(f)
	setRetryAfter(w.Header(), f)
	title, ok := errorTitles[status]
	if !ok {
		title = "That did not work"
	}
	shown := kit.ProblemData{Message: f.Message, Request: v.ID.String(), Back: Path}
	for _, violation := range f.Violations {
		shown.More = append(shown.More, violation.Message)
	}
	if errors.Is(err, staffaccess.ErrSpent) {
		title, shown.Next = "No look-ups are left today", kit.Link{Label: "Look-ups of today", Href: LookupsPath}
	}
	if len(shown.More) > 0 {
		shown.Message = ""
	}
	if err := p.ShowStatus(w, r, status, kit.Page{Title: title}, kit.Problem(shown)); err != nil {
		v.Add(slog.String("render", err.Error()))
		http.Error(w, f.Message, status)
	}
}

// setRetryAfter sets the Retry-After header where waiting helps.
func setRetryAfter(h http.Header, f *fault.Error) {
	if seconds, ok := web.RetryAfter(f); ok {
		h.Set("Retry-After", strconv.Itoa(seconds))
	}
}
