package organisations

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/internal/web/portal/rules"
)

// pathEntity returns the organisation that the path names.
func (p *Pages) pathEntity(r *http.Request) (registry.EntityDetails, error) {
	id, err := portal.PathID(r, "entity")
	if err != nil {
		return registry.EntityDetails{}, err
	}
	e, err := p.Registry.Entity(r.Context(), id)
	if portal.IsCode(err, fault.NotFound) {
		return registry.EntityDetails{}, portal.ErrNotFound
	}
	return e, err
}

// entityFrame is what all pages about one organisation have: its name, its state
// and the tabs. Tab is the end of this page's path.
func entityFrame(r *http.Request, e *registry.EntityDetails, tab string) (kit.Page, EntityFrame) {
	page := kit.Page{Title: e.Name, Crumbs: []kit.Link{{Label: "Organisations", Href: portal.EntitiesPath}}, Active: portal.EntitiesPath}
	f := EntityFrame{ID: e.ID.String(), State: e.Status, CanEdit: portal.VisitOf(r).Has(portal.Administrator)}
	for _, t := range []kit.Tab{
		{Label: "Overview"}, {Label: "People", Href: "/people"}, {Label: "Keys", Href: "/keys"}, {Label: "Documents", Href: "/documents"}, {Label: "Mandates", Href: "/mandates"}, {Label: "Audit", Href: "/audit"},
	} {
		f.Tabs = append(f.Tabs, kit.Tab{Label: t.Label, Href: portal.EntityURL(e.ID) + t.Href, Active: t.Href == tab})
	}
	return page, f
}

// entityDays is the number of days that the overview shows.
const entityDays = 30

// showEntity serves GET /portal/desk/entities/{entity}.
func (p *Pages) showEntity(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	ctx, now := r.Context(), p.Now().UTC()
	keys, err := p.Access.CountActiveKeys(ctx, e.ID)
	if err != nil {
		return err
	}
	page, frame := entityFrame(r, &e, "")
	d := EntityData{
		EntityFrame: frame, Row: &e, Keys: keys[e.ID], Days: entityDays, Now: now,
	}
	d.Mode = access.Live
	if r.URL.Query().Get("mode") == access.Test {
		d.Mode = access.Test
	}
	days, err := p.Tally.Days(ctx, e.ID, d.Mode, now.AddDate(0, 0, 1-entityDays), now)
	if err != nil {
		return err
	}
	d.Answers, d.Totals = kit.AnswersChart(days)
	for _, m := range []kit.Option{{Value: access.Live, Label: "Live"}, {Value: access.Test, Label: "Test"}} {
		d.Modes = append(d.Modes, kit.Tab{Label: m.Label, Href: portal.EntityURL(e.ID) + "?mode=" + m.Value, Active: m.Value == d.Mode})
	}
	if d.Limits, _, err = rules.LimitsOf(ctx, p.Portal, e.ID); err != nil {
		return err
	}
	if err := p.addRelations(ctx, &e, &d); err != nil {
		return err
	}
	for _, m := range statusChanges {
		if frame.CanEdit && slices.Contains(m.from, e.Status) && (!d.RestorePending || m.verb != "restore") {
			d.Moves = append(d.Moves, kit.Action{Label: m.label, Href: portal.EntityURL(e.ID) + "/" + m.verb, Kind: m.kind})
		}
	}
	return p.Show(w, r, page, Entity(d))
}

// maxWaitingApprovals is how many approvals are searched for one about an
// organisation. They expire after a week, so there are never many.
const maxWaitingApprovals = 500

// addRelations adds the client that onboarded an organisation, the organisations
// with the same CAC number, whether its restoration waits for approval, and how many
// required documents are not accepted yet.
func (p *Pages) addRelations(ctx context.Context, e *registry.EntityDetails, d *EntityData) (err error) {
	if d.SameCAC, err = p.Registry.SameCAC(ctx, e.ID); err != nil {
		return err
	}
	if e.Client != uuid.Nil {
		c, err := p.Access.Client(ctx, e.Client)
		if err != nil {
			return err
		}
		d.Sponsor = kit.Link{Label: c.Name, Href: portal.ClientURL(c.ID)}
	}
	waiting, err := p.Approvals.List(ctx, false, maxWaitingApprovals)
	if err != nil {
		return err
	}
	d.RestorePending = slices.ContainsFunc(waiting, func(a approval.Approval) bool { return a.Kind == registry.RestoreRevoked && a.Subject == e.ID })
	needed, err := p.Documents.Requirements(ctx, e.ID)
	for _, n := range needed {
		if n.State != document.RequirementAccepted {
			d.DocumentsOpen++
		}
	}
	return err
}
