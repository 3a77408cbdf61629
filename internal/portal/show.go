package portal

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// show answers with a page.
func (p *Portal) show(w http.ResponseWriter, r *http.Request, page view.Page, body templ.Component) error {
	return p.showStatus(w, r, http.StatusOK, page, body)
}

// showAgain answers with the page of a form that has something wrong with it.
// The browser stays where it is, and the status says that nothing was done.
func (p *Portal) showAgain(w http.ResponseWriter, r *http.Request, err error, page view.Page, body templ.Component) error {
	f := faultOf(err)
	add(r, slog.String("fault", string(f.Code)))
	status := statusOf[f.Code]
	if f.Code == fault.InvalidArgument {
		status = http.StatusUnprocessableEntity
	}
	tellWhen(w.Header(), f, status)
	return p.showStatus(w, r, status, page, body)
}

// showStatus makes the whole page before it sends the first byte, so that what
// fails on the way is an error and not half a page.
func (p *Portal) showStatus(w http.ResponseWriter, r *http.Request, status int, page view.Page, body templ.Component) error {
	p.dress(w, r, &page)
	var b bytes.Buffer
	ctx := context.WithoutCancel(r.Context()) // what is shown is known; the page that says that time is up needs a moment more
	if err := view.Layout(page).Render(templ.WithChildren(ctx, body), &b); err != nil {
		return err
	}
	send(w, status, b.Bytes())
	return nil
}

// showPart answers with a part of a page, for a script that puts it into the page
// it stands on.
func (p *Portal) showPart(w http.ResponseWriter, r *http.Request, part templ.Component) error {
	var b bytes.Buffer
	if err := part.Render(r.Context(), &b); err != nil {
		return err
	}
	send(w, http.StatusOK, b.Bytes())
	return nil
}

// sandbox is the policy of what people or programs have sent us: a browser that
// opens it all the same runs nothing of it.
const sandbox = "sandbox; default-src 'none'; frame-ancestors 'none'"

// beginFile begins an answer that is a file to keep, and never a page.
func beginFile(w http.ResponseWriter, kind, name string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Security-Policy", sandbox)
	w.WriteHeader(http.StatusOK)
}

func send(w http.ResponseWriter, status int, html []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(html)))
	w.WriteHeader(status)
	_, _ = w.Write(html) // a browser that has gone needs nothing
}

// dress fills in what all pages have.
func (p *Portal) dress(w http.ResponseWriter, r *http.Request, page *view.Page) {
	v := visitOf(r)
	page.Service, page.Theme, page.Path = "Lineproof "+p.RegulatorCode, themeOf(r), r.URL.Path
	if page.Flash == nil {
		page.Flash = takeFlash(w, r)
	}
	if page.Active == "" {
		page.Active = r.URL.Path
	}
	if !v.signed {
		return
	}
	page.Who = &view.Who{Name: v.person.Name, Email: v.person.Email, Organisation: v.person.EntityName, Role: roleWord(v), Limited: v.who.Limited}
	if page.Who.Organisation == "" {
		page.Who.Organisation = p.RegulatorCode
	}
	page.Menu = p.menu(v, page.Active)
}

func roleWord(v *visit) string {
	switch {
	case v.who.Role == access.Administrator:
		return "Administrator"
	case v.who.Role == access.Reviewer:
		return "Reviewer"
	case v.who.Role == access.Auditor:
		return "Auditor"
	case v.who.Manages:
		return "Admin"
	}
	return "Member"
}

// goOn ends what a form has done: the browser goes to another page, which shows
// the message.
func (p *Portal) goOn(w http.ResponseWriter, r *http.Request, to, message string) error {
	setFlash(w, message)
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // a path of ours; ids in it were read and are written anew
	return nil
}

// statusOf is where the codes of faults meet HTTP.
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

// titleOf heads the page of a status.
var titleOf = map[int]string{
	http.StatusBadRequest:          "That did not work",
	http.StatusUnauthorized:        "Please sign in",
	http.StatusForbidden:           "Not allowed",
	http.StatusNotFound:            "Not found",
	http.StatusConflict:            "That is not possible now",
	http.StatusTooManyRequests:     "Too many requests",
	http.StatusServiceUnavailable:  "Not available at the moment",
	http.StatusInternalServerError: "Something went wrong",
}

var (
	errInternal    = fault.New(fault.Internal, "Something went wrong on our side. If it happens again, tell us the request id below.")
	errUnavailable = fault.New(fault.Unavailable, "The service cannot answer at the moment. Try again in a minute.")
	errTooSlow     = fault.New(fault.Unavailable, "That took too long and was given up. Try again.")
	errTooLarge    = fault.New(fault.PayloadTooLarge, "More was sent than this page takes.")
)

// faultOf returns what a visitor may see of err. The text of an error that is no
// fault goes to the log and nowhere else.
func faultOf(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge.Because(err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errTooSlow.Because(err)
	case pg.Away(err):
		return errUnavailable.Because(err)
	}
	return errInternal.Because(err)
}

// fail answers with a page about err.
func (p *Portal) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := faultOf(err)
	status := statusOf[f.Code]
	add(r, slog.String("fault", string(f.Code)))
	if f.Err != nil && status >= http.StatusInternalServerError {
		add(r, slog.String("error", f.Err.Error()))
	}
	tellWhen(w.Header(), f, status)
	title, ok := titleOf[status]
	if !ok {
		title = "That did not work"
	}
	said := view.ProblemData{Message: f.Message, Request: visitOf(r).id.String(), Back: Path}
	for _, v := range f.Violations {
		said.More = append(said.More, v.Message)
	}
	if len(said.More) > 0 {
		said.Message = ""
	}
	if err := p.showStatus(w, r, status, view.Page{Title: title}, view.Problem(said)); err != nil {
		add(r, slog.String("render", err.Error()))
		http.Error(w, f.Message, status)
	}
}

// tellWhen sets when to come back.
func tellWhen(h http.Header, f *fault.Error, status int) {
	if f.RetryAfter > 0 || status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(max(1, int(f.RetryAfter/time.Second))))
	}
}

// formOf returns the form that was posted with what err says of it, and whether
// err is about the form at all: something that its writer can correct, there.
func formOf(r *http.Request, err error) (view.Form, bool) {
	f := view.Form{Values: r.PostForm}
	if err == nil {
		return f, false
	}
	said := faultOf(err)
	switch said.Code {
	case fault.InvalidArgument, fault.OutOfRange, fault.AlreadyExists, fault.IncompatibleState, fault.NotApplicable, fault.TooManyRequests, fault.Unauthenticated,
		fault.PayloadTooLarge, fault.UnsupportedMediaType, fault.Aborted, fault.QuotaExceeded:
	default:
		return f, false
	}
	f.Errors = map[string]string{}
	for _, v := range said.Violations {
		if f.Errors[v.Field] == "" {
			f.Order = append(f.Order, v.Field)
		} else {
			v.Message = f.Errors[v.Field] + " " + v.Message
		}
		f.Errors[v.Field] = v.Message
	}
	if len(said.Violations) == 0 {
		f.Message = forPeople(said.Message)
	}
	return f, true
}

// complain notes what is wrong with a field of a form, unless ok.
func complain(f *view.Form, ok bool, field, message string) {
	if ok {
		return
	}
	if f.Errors == nil {
		f.Errors = map[string]string{}
	}
	f.Errors[field], f.Order = message, append(f.Order, field)
}

// forPeople turns a sentence that was written for programs into one for people.
func forPeople(message string) string {
	return strings.ReplaceAll(message, "Wait for the time in the Retry-After header", "Wait a few minutes")
}
