package portal

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal/view"
)

const (
	deskAuditPath = "/portal/desk/audit"
	auditCSVPath  = "/portal/export/audit.csv"
)

// deskAuditRoutes are the pages of the audit trail.
func (p *Portal) deskAuditRoutes() []route {
	get := http.MethodGet
	return []route{
		{method: get, path: deskAuditPath, who: staff, serve: p.showTrail},
		{method: get, path: auditCSVPath, who: staff, upload: true, serve: p.exportTrail},
	}
}

// trailShown is how many entries one page lists.
const trailShown = 50

var trailPage = view.Page{Title: "Audit trail", Lead: "Who did what, from where, and what was there before.", Active: deskAuditPath}

// showTrail serves GET /portal/desk/audit.
func (p *Portal) showTrail(w http.ResponseWriter, r *http.Request) error {
	f, form := trailFilter(r.URL.Query())
	d := view.DeskAuditData{Form: form, Actions: trailActions(form.Value("action")), Most: mostTrail}
	q := r.URL.Query()
	q.Del("after")
	d.CSV = auditCSVPath + "?" + q.Encode()
	if form.Wrong() {
		return p.showStatus(w, r, http.StatusUnprocessableEntity, trailPage, view.DeskAudit(d))
	}
	var err error
	if d.Trail, err = p.trail(r, f); err != nil {
		return err
	}
	return p.show(w, r, trailPage, view.DeskAudit(d))
}

// trail returns a page of the entries that a filter means, newest first.
func (p *Portal) trail(r *http.Request, f audit.Filter) (view.TrailData, error) {
	d := view.TrailData{Now: p.Now()}
	f.Limit = trailShown + 1 // one more tells whether there are more
	list, err := audit.List(r.Context(), p.Pool, f)
	if errors.Is(err, audit.ErrNoEntry) { // a cursor that is none leads to the beginning
		f.Before = uuid.Nil
		list, err = audit.List(r.Context(), p.Pool, f)
	}
	if err != nil {
		return d, err
	}
	if f.Before != uuid.Nil {
		d.First = pageAfter(r, "")
	}
	if len(list) > trailShown {
		list = list[:trailShown]
		d.Next = pageAfter(r, list[trailShown-1].ID.String())
	}
	names, err := p.trailCast(r, list)
	if err != nil {
		return d, err
	}
	for i := range list {
		d.Rows = append(d.Rows, trailRow(&list[i], names))
	}
	return d, nil
}

// trailFilter reads which entries are wanted, and what is wrong with that.
func trailFilter(q url.Values) (audit.Filter, view.Form) {
	form := view.Form{Values: q}
	f := audit.Filter{Kind: audit.ActorKind(q.Get("by")), Action: q.Get("action")}
	complain(&form, slices.Contains([]audit.ActorKind{"", audit.Account, audit.Client, audit.Operator, audit.System}, f.Kind), "by", "Choose who did it.")
	complain(&form, len(f.Action) <= 64, "action", "Choose what was done.")
	var err error
	for _, day := range []struct {
		field string
		to    *time.Time
	}{{"from", &f.Since}, {"to", &f.Until}} {
		if text := q.Get(day.field); text != "" {
			*day.to, err = time.Parse(time.DateOnly, text)
			complain(&form, err == nil, day.field, "Write a date as 2026-01-31.")
		}
	}
	if !f.Until.IsZero() {
		f.Until = f.Until.AddDate(0, 0, 1) // that day included
	}
	for _, id := range []struct {
		field string
		to    *uuid.UUID
	}{{"entity", &f.Entity}, {"actor", &f.Actor}, {"subject", &f.Subject}, {"request", &f.Request}} {
		if text := strings.TrimSpace(q.Get(id.field)); text != "" {
			*id.to, err = uuid.Parse(text)
			complain(&form, err == nil && *id.to != uuid.Nil, id.field, "Write an id as 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40.")
		}
	}
	f.Before, _ = uuid.Parse(q.Get("after")) // what is no cursor leads to the beginning
	return f, form
}

// trailCast looks up everybody and everything that entries name.
func (p *Portal) trailCast(r *http.Request, list []audit.Written) (cast, error) {
	var actors []audit.Actor
	var others []uuid.UUID
	for i := range list {
		e := &list[i]
		actors, others = append(actors, e.Actor), append(others, e.Entity)
		if strings.HasPrefix(string(e.Action), "client.") {
			actors = append(actors, audit.Actor{Kind: audit.Client, ID: e.Subject})
		} else {
			others = append(others, e.Subject)
		}
	}
	return p.cast(r.Context(), actors, others...)
}
