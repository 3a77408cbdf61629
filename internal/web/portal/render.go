package portal

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Show responds with a page.
func (p *Portal) Show(w http.ResponseWriter, r *http.Request, page kit.Page, body templ.Component) error {
	return p.ShowStatus(w, r, http.StatusOK, page, body)
}

// ShowInvalid responds with the page of a form that has errors. The status says
// that nothing was done.
func (p *Portal) ShowInvalid(w http.ResponseWriter, r *http.Request, err error, page kit.Page, body templ.Component) error {
	f := FaultOf(err)
	VisitOf(r).Add(slog.String("fault", string(f.Code)))
	status := web.Status(f.Code)
	if f.Code == fault.InvalidArgument {
		status = http.StatusUnprocessableEntity
	}
	setRetryAfter(w.Header(), f)
	return p.ShowStatus(w, r, status, page, body)
}

// ShowStatus responds with a page and a status. It renders the whole page before
// it sends the first byte, so that a failure becomes an error page and not half a
// page.
func (p *Portal) ShowStatus(w http.ResponseWriter, r *http.Request, status int, page kit.Page, body templ.Component) error {
	p.fillLayout(w, r, &page)
	html, err := kit.Render(context.WithoutCancel(r.Context()), page, body) // the page that reports a timeout is rendered after the deadline
	if err != nil {
		return err
	}
	writeHTML(w, status, html)
	return nil
}

// ShowFragment responds with a part of a page, for a script that refreshes it in
// place.
func (p *Portal) ShowFragment(w http.ResponseWriter, r *http.Request, part templ.Component) error {
	var b bytes.Buffer
	if err := part.Render(r.Context(), &b); err != nil {
		return err
	}
	writeHTML(w, http.StatusOK, b.Bytes())
	return nil
}

func writeHTML(w http.ResponseWriter, status int, html []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(html)))
	w.WriteHeader(status)
	_, _ = w.Write(html) // templ has escaped what was sent; the browser may have closed the connection
}

// fillLayout fills in what all pages have: the theme, the flash message, the
// visitor and the menu.
func (p *Portal) fillLayout(w http.ResponseWriter, r *http.Request, page *kit.Page) {
	v := VisitOf(r)
	page.Service, page.Theme, page.Path = "Lineproof "+p.RegulatorCode, kit.ThemeOf(r), r.URL.Path
	if page.Flash == nil {
		page.Flash = takeFlash(w, r)
	}
	if page.Active == "" {
		page.Active = r.URL.Path
	}
	if !v.SignedIn {
		return
	}
	page.Who = &kit.Who{Name: v.Account.Name, Email: v.Account.Email, Organisation: v.Account.EntityName, Role: roleName(v), Limited: v.Who.Limited}
	if page.Who.Organisation == "" {
		page.Who.Organisation = p.RegulatorCode
	}
	page.Menu = p.menu(v, page.Active, p.counts(r.Context(), v))
	if p.Banner != nil {
		b, err := p.Banner(r.Context(), v)
		if err != nil { // the page itself is worth more
			p.Log.LogAttrs(r.Context(), slog.LevelWarn, "a page is shown without its banner", slog.String("error", err.Error()))
		}
		page.Banner = b
	}
}

func roleName(v *Visit) string {
	switch {
	case v.Who.Role == access.Administrator:
		return "Administrator"
	case v.Who.Role == access.Reviewer:
		return "Reviewer"
	case v.Who.Role == access.Auditor:
		return "Auditor"
	case v.Who.Manages:
		return "Admin"
	}
	return "Member"
}

// RedirectWithFlash ends a successful form: the browser goes to another page,
// which shows the message.
func (p *Portal) RedirectWithFlash(w http.ResponseWriter, r *http.Request, to, message string) error {
	setFlash(w, message)
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // of this portal: localPath checks what a form names
	return nil
}
