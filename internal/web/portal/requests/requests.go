package requests

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// requestsShown is the number of requests on one page.
const requestsShown = 50

var requestsPage = kit.Page{Title: "Requests", Lead: "Why requests of your applications were refused. Answers are in the journal.", Active: requestsPath}

// showRequests serves GET /portal/requests.
func (p *Pages) showRequests(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	form := kit.Form{Values: q}
	if text := strings.TrimSpace(q.Get("requestId")); text != "" {
		id, err := uuid.Parse(text)
		if err == nil {
			_, err = requestlog.Get(r.Context(), p.Pool, portal.VisitOf(r).Who.Entity, id)
		}
		switch {
		case err == nil:
			http.Redirect(w, r, requestsPath+"/"+id.String(), http.StatusSeeOther) //nolint:gosec // the id was parsed and is written anew
			return nil
		case id != uuid.Nil && !errors.Is(err, requestlog.ErrNone):
			return err
		}
		portal.AddFieldError(&form, false, "requestId", "Your organisation has no refused request with this requestId. The journal has the answered ones.")
	}
	code, status := fault.Code(q.Get("code")), q.Get("status")
	portal.AddFieldError(&form, code == "" || slices.Contains(fault.Codes, code), "code", "Choose one of the errors.")
	portal.AddFieldError(&form, status == "" || slices.Contains(refusalStatuses(), status), "status", "Choose one of the statuses.")
	f := requestlog.Filter{Codes: codesOf(code, status), Correlator: strings.TrimSpace(q.Get("correlator"))}
	if text := q.Get("key"); text != "" {
		var err error
		f.Key, err = uuid.Parse(text)
		portal.AddFieldError(&form, err == nil, "key", "Choose one of the keys.")
	}
	f.Before = parsePosition(web.Cursor(r))
	return p.list(w, r, f, form)
}

// findByNumber serves POST /portal/requests. The result is shown in this response, and its
// next page is posted again, so that no number is in an address.
func (p *Pages) findByNumber(w http.ResponseWriter, r *http.Request) error {
	text := strings.TrimSpace(r.PostFormValue("phoneNumber"))
	number, err := p.Region.ParseMobile(text)
	form := kit.Form{Values: url.Values{"phoneNumber": {text}}}
	portal.AddFieldError(&form, text != "", "phoneNumber", "Enter the phone number.")
	portal.AddFieldError(&form, text == "" || !errors.Is(err, phone.ErrMalformed), "phoneNumber", "Write a phone number, for example +2348031234567 or 08031234567.")
	portal.AddFieldError(&form, text == "" || err == nil || errors.Is(err, phone.ErrMalformed), "phoneNumber", "This is not a mobile number of this country.")
	f := requestlog.Filter{Before: parsePosition(r.PostFormValue("after"))}
	if err == nil {
		f.Number = number.E164()
	}
	return p.list(w, r, f, form)
}

// list shows the requests of a filter, or the form if it has errors.
func (p *Pages) list(w http.ResponseWriter, r *http.Request, f requestlog.Filter, form kit.Form) error {
	v, now := portal.VisitOf(r), p.Now()
	d := RequestsData{
		Form: form, Statuses: []kit.Option{{Label: "Any"}}, Codes: []kit.Option{{Label: "Any"}}, Keys: []kit.Option{{Label: "Any"}}, Days: int(requestlog.Retention / (24 * time.Hour)), Now: now,
		Searched: f.Codes != nil || f.Key != uuid.Nil || f.Correlator != "" || f.Number != "",
	}
	for _, status := range refusalStatuses() {
		n, _ := strconv.Atoi(status)
		d.Statuses = append(d.Statuses, kit.Option{Value: status, Label: status + " " + http.StatusText(n)})
	}
	for _, code := range fault.Codes {
		if helpOf(code).means != "" {
			d.Codes = append(d.Codes, kit.Option{Value: string(code), Label: string(code)})
		}
	}
	keys, err := p.Access.Keys(r.Context(), v.Who.Entity)
	if err != nil {
		return err
	}
	for i := range keys {
		d.Keys = append(d.Keys, kit.Option{Value: keys[i].ID.String(), Label: keys[i].Name})
	}
	if form.Wrong() {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, requestsPage, Requests(d))
	}
	f.Entity, f.Limit = v.Who.Entity, requestsShown+1
	list, err := requestlog.Find(r.Context(), p.Pool, p.Peppers, now, f)
	if err != nil {
		return err
	}
	list, next := web.CutPage(list, requestsShown, positionText)
	if f.Number != "" { // a page found by number has no address
		d.Number, d.After = form.Value("phoneNumber"), next
	} else {
		current := ""
		if !f.Before.At.IsZero() {
			current = web.Cursor(r)
		}
		links := web.PageLinks(r, current, next)
		d.First, d.Next = links.First, links.Next
	}
	if d.Rows, err = p.rows(r, list); err != nil {
		return err
	}
	return p.Show(w, r, requestsPage, Requests(d))
}

// refusalStatuses returns the HTTP statuses that a refused request of a key can have.
func refusalStatuses() []string {
	var list []string
	for _, code := range fault.Codes {
		if helpOf(code).means != "" {
			list = append(list, strconv.Itoa(web.Status(code)))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// codesOf returns the errors with this code and this HTTP status, each "" for any; nil
// for all.
func codesOf(code fault.Code, status string) []fault.Code {
	if code == "" && status == "" {
		return nil
	}
	list := []fault.Code{}
	for _, c := range fault.Codes {
		if (code == "" || c == code) && (status == "" || strconv.Itoa(web.Status(c)) == status) {
			list = append(list, c)
		}
	}
	return list
}

// showRequest serves GET /portal/requests/{refused}.
func (p *Pages) showRequest(w http.ResponseWriter, r *http.Request) error {
	id, err := portal.PathID(r, "refused")
	if err != nil {
		return err
	}
	found, err := requestlog.Get(r.Context(), p.Pool, portal.VisitOf(r).Who.Entity, id)
	if errors.Is(err, requestlog.ErrNone) {
		return portal.ErrNotFound
	}
	if err != nil {
		return err
	}
	rows, err := p.rows(r, []requestlog.Refused{found})
	if err != nil {
		return err
	}
	help := helpOf(fault.Code(found.Code))
	return p.Show(w, r, kit.Page{Title: "Refused request", Crumbs: []kit.Link{{Label: "Requests", Href: requestsPath}}, Active: requestsPath},
		Request(RequestData{Row: rows[0], Means: help.means, Do: help.do, Again: help.again, Now: p.Now()}))
}

func (p *Pages) rows(r *http.Request, list []requestlog.Refused) ([]RequestRow, error) {
	ids := make([]uuid.UUID, len(list))
	for i := range list {
		ids[i] = list[i].Key
	}
	names, err := p.Access.KeyNames(r.Context(), portal.VisitOf(r).Who.Entity, ids)
	if err != nil {
		return nil, err
	}
	rows := make([]RequestRow, len(list))
	for i := range list {
		f := &list[i]
		rows[i] = RequestRow{
			ID: f.ID.String(), Code: f.Code, Route: f.Route, Mode: f.Mode, Correlator: f.Correlator, Status: f.Status, Violations: f.Violations,
			Key: names[f.Key], KeyID: f.Key.String(), At: f.At, Skipped: f.Skipped,
		}
	}
	return rows, nil
}

// positionText writes the position of a request, which parsePosition reads.
func positionText(r *requestlog.Refused) string {
	return strconv.FormatInt(r.At.UnixMilli(), 10) + "." + r.ID.String()
}

func parsePosition(text string) requestlog.Position {
	at, id, _ := strings.Cut(text, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil || ms <= 0 || ms > 1<<42 {
		return requestlog.Position{}
	}
	request, err := uuid.Parse(id)
	if err != nil {
		return requestlog.Position{}
	}
	return requestlog.Position{At: time.UnixMilli(ms).UTC(), ID: request}
}
