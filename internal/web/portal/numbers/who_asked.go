package numbers

import (
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths of the search for who asked about a number.
const (
	askedPath    = "/portal/desk/who-asked"
	askedRunPath = "/portal/desk/who-asked/{approval}"
)

// askedRoutes are the pages of the search for who asked about a number. It shows what
// every organisation asked, so it takes two administrators.
func (p *Pages) askedRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: askedPath, Right: portal.Administrator, Serve: p.ShowForm(p.asked)},
		{Method: post, Path: askedPath, Right: portal.Administrator, Action: stepup.WhoAsked, Serve: p.requestAsked},
		{Method: post, Path: askedRunPath, Right: portal.Administrator, Action: stepup.WhoAsked, Upload: true, Serve: p.runAsked},
	}
}

var askedPage = kit.Page{Title: "Who asked", Lead: "Which organisations asked about a number, for the person who holds it. A second administrator confirms each search.", Active: askedPath}

// askedMonths is the period that the form offers.
const askedMonths = 12

// askedForm returns the form with the period that most people mean.
func (p *Pages) askedForm(form kit.Form, number, reason string) AskedForm {
	now := p.Now().UTC()
	form = form.With("from", now.AddDate(0, -askedMonths, 0).Format(time.DateOnly)).With("to", now.Format(time.DateOnly)).With("askedReason", reason)
	return AskedForm{Form: form, Number: number}
}

// asked is the page /portal/desk/who-asked.
func (p *Pages) asked(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	d := AskedData{AskedForm: p.askedForm(form, "", ""), Now: p.Now()}
	all, err := p.Approvals.List(r.Context(), true, portal.MaxWaiting)
	if err != nil {
		return askedPage, nil, err
	}
	var list []approval.Approval
	var actors []audit.Actor
	for i := range all {
		if all[i].Kind == whoasked.Kind {
			list, actors = append(list, all[i]), append(actors, all[i].RequestedBy)
		}
	}
	names, err := p.NamesOf(r.Context(), actors)
	if err != nil {
		return askedPage, nil, err
	}
	for i := range list {
		a := &list[i]
		row := AskedSearch{Number: a.Details["lastDigits"], From: dayOf(a.Details["from"]), To: dayOf(a.Details["to"]), Reason: a.Reason, By: names.Name(a.RequestedBy), At: a.RequestedAt, State: "Refused or expired", Tone: kit.Neutral}
		switch {
		case a.State == approval.Waiting:
			row.State, row.Tone, row.Decide = "Waiting for a second person", kit.Info, true
		case a.State == approval.Approved && p.Now().Before(a.DecidedAt.Add(whoasked.Lifetime)):
			row.State, row.Tone, row.Run = "Can be run until "+kit.Stamp(a.DecidedAt.Add(whoasked.Lifetime)), kit.Good, askedPath+"/"+a.ID.String()
		case a.State == approval.Approved:
			row.State = "Its seven days are over"
		}
		d.Searches = append(d.Searches, row)
	}
	return askedPage, WhoAsked(d), nil
}

// requestAsked serves POST /portal/desk/who-asked.
func (p *Pages) requestAsked(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	q := whoasked.Request{Reason: portal.OneLine(r.PostFormValue("askedReason")), By: v.Who.Actor(), Request: v.ID}
	q.First, _ = web.ParseDate(r.PostFormValue("from")) // a date that is none is missing
	q.Last, _ = web.ParseDate(r.PostFormValue("to"))
	var err error
	if text := strings.TrimSpace(r.PostFormValue("number")); text != "" {
		if q.Number, err = p.Region.ParseMobile(text); err != nil {
			err = fault.ErrInvalid.With(fault.Violation{Field: "number", Code: fault.BadFormat, Message: "Write a mobile number of this country, for example +2348031234567 or 08031234567."})
		}
	}
	if err == nil {
		_, err = p.WhoAsked.Request(r.Context(), q)
	}
	return p.EndForm(w, r, err, func(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
		if text := form.Errors["reason"]; text != "" { // the field has another name here
			form.Errors["askedReason"], form.Order = text, append(removed(form.Order, "reason"), "askedReason")
			delete(form.Errors, "reason")
		}
		return p.asked(r, form)
	}, askedPath, "entity.waits")
}

// runAsked serves POST /portal/desk/who-asked/{approval}. The report is shown in this
// response and stored nowhere.
func (p *Pages) runAsked(w http.ResponseWriter, r *http.Request) error {
	id, err := portal.PathID(r, "approval")
	if err != nil {
		return err
	}
	report, err := p.WhoAsked.Run(r.Context(), id, portal.VisitOf(r).Who.Actor(), nil)
	if err != nil {
		return err
	}
	d := AskedReport{Number: report.Number, From: dayOf(report.First), To: dayOf(report.Last), Answers: int64(report.Answers), Erased: report.Erased}
	seen := map[string]bool{}
	for i := range report.Rows {
		row := &report.Rows[i]
		seen[row.Organisation] = true
		told := statusAnswer(row.Status)
		told.Reason = row.Reason
		d.Rows = append(d.Rows, AskedRow{
			Organisation: row.Organisation, OnBehalfOf: row.OnBehalfOf, Purpose: strings.TrimSpace(row.Purpose + " " + row.PurposeText), Month: monthOf(row.Month), Answer: told, Network: row.Network, Answers: int64(row.Answers),
		})
	}
	d.Organisations = int64(len(seen))
	return p.Show(w, r, kit.Page{Title: "Who asked", Crumbs: []kit.Link{{Label: askedPage.Title, Href: askedPath}}, Active: askedPath}, AskedAbout(d))
}

// dayOf reads a day that the service wrote.
func dayOf(text string) time.Time {
	day, _ := web.ParseDate(text)
	return day
}

// monthOf writes a month, such as 2026-09, in words.
func monthOf(text string) string {
	month, err := time.Parse("2006-01", text)
	if err != nil {
		return text
	}
	return month.Format("January 2006")
}
