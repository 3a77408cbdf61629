package approvals

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	auditPath    = "/portal/desk/audit"
	auditCSVPath = "/portal/export/audit.csv"
)

// auditRoutes are the pages of the audit trail.
func (p *Pages) auditRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: auditPath, Right: portal.Staff, Serve: p.showTrail},
		{Method: post, Path: auditPath, Right: portal.Staff, Action: stepup.Search, Serve: p.pickTrail},
		{Method: get, Path: auditCSVPath, Right: portal.Staff, Export: true, Serve: p.exportTrail},
	}
}

// trailShown is the number of entries on one page.
const trailShown = 50

var trailPage = kit.Page{Title: "Audit trail", Lead: "Who did what, from where, and what changed.", Active: auditPath}

// showTrail serves GET /portal/desk/audit.
func (p *Pages) showTrail(w http.ResponseWriter, r *http.Request) error {
	f, form := trailFilter(r)
	d := AuditData{Form: form, Actions: trailActions(form.Value("action")), Max: maxExported}
	q := r.URL.Query()
	q.Del("after")
	d.CSV = auditCSVPath + "?" + q.Encode()
	if form.Wrong() {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, trailPage, Audit(d))
	}
	err := p.pickedNames(r, r.URL.Query(), &d)
	if err != nil {
		return err
	}
	if d.Trail, err = Trail(r, p.Portal, f); err != nil {
		return err
	}
	return p.Show(w, r, trailPage, Audit(d))
}

// Trail returns one page of the entries that match a filter, the newest first.
func Trail(r *http.Request, p *portal.Portal, f audit.Filter) (TrailData, error) {
	d := TrailData{Now: p.Now()}
	f.Limit = trailShown + 1 // one more shows whether there is a next page
	list, err := audit.List(r.Context(), p.Pool, f)
	if errors.Is(err, audit.ErrNoEntry) { // an invalid cursor shows the first page
		f.Before = uuid.Nil
		list, err = audit.List(r.Context(), p.Pool, f)
	}
	if err != nil {
		return d, err
	}
	list, next := web.CutPage(list, trailShown, func(e *audit.Record) string { return e.ID.String() })
	links := web.PageLinks(r, web.IDCursor(f.Before), next)
	d.First, d.Next = links.First, links.Next
	names, err := TrailNames(r, p, list)
	if err != nil {
		return d, err
	}
	for i := range list {
		d.Rows = append(d.Rows, NewTrailRow(&list[i], names))
	}
	return d, nil
}

// trailFilter reads which entries are requested. The form lists what is invalid.
func trailFilter(r *http.Request) (audit.Filter, kit.Form) {
	q := r.URL.Query()
	form := kit.Form{Values: q}
	f := audit.Filter{Kind: audit.ActorKind(q.Get("by")), Action: q.Get("action")}
	portal.AddFieldError(&form, slices.Contains([]audit.ActorKind{"", audit.Account, audit.Client, audit.APIKey, audit.Operator, audit.System}, f.Kind), "by", "Choose who acted.")
	portal.AddFieldError(&form, len(f.Action) <= 64, "action", "Choose an action.")
	f.Since, f.Until = portal.ReadDates(q, &form)
	for _, id := range []struct {
		field string
		to    *uuid.UUID
	}{{"entity", &f.Entity}, {"actor", &f.Actor}, {"subject", &f.Subject}, {"request", &f.Request}} {
		if text := strings.TrimSpace(q.Get(id.field)); text != "" {
			var err error
			*id.to, err = uuid.Parse(text)
			portal.AddFieldError(&form, err == nil && *id.to != uuid.Nil, id.field, "Write an id as 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40.")
		}
	}
	f.Before = web.CursorID(r)
	return f, form
}

// TrailNames looks up the names of the actors, organisations and subjects of
// entries.
func TrailNames(r *http.Request, p *portal.Portal, list []audit.Record) (portal.ActorNames, error) {
	var actors []audit.Actor
	var others []uuid.UUID
	for i := range list {
		e := &list[i]
		actors, others = append(actors, e.Actor), append(others, e.Entity)
		if aboutClient(e) {
			actors = append(actors, audit.Actor{Kind: audit.Client, ID: e.Subject})
		} else {
			others = append(others, e.Subject)
		}
	}
	return p.NamesOf(r.Context(), actors, others...)
}
