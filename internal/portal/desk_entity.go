package portal

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

// pathEntity returns the organisation that the path names.
func (p *Portal) pathEntity(r *http.Request) (registry.Standing, error) {
	id, err := idOf(r, "entity")
	if err != nil {
		return registry.Standing{}, err
	}
	e, err := p.Registry.Entity(r.Context(), id)
	if isCode(err, fault.NotFound) {
		return registry.Standing{}, errNoPage
	}
	return e, err
}

// entityFrame is what all pages about one organisation have: its name at the top,
// its state, and the other pages. Tab is the end of this page's path.
func entityFrame(r *http.Request, e *registry.Standing, tab string) (view.Page, view.EntityFrame) {
	page := view.Page{Title: e.Name, Crumbs: []view.Link{{Label: "Entities", Href: entitiesPath}}, Active: entitiesPath}
	f := view.EntityFrame{ID: e.ID.String(), State: string(e.Status), Tone: statusTones[e.Status], May: visitOf(r).has(administrator)}
	for _, t := range []view.Tab{
		{Label: "Overview"}, {Label: "People", Href: "/people"}, {Label: "Keys", Href: "/keys"}, {Label: "Documents", Href: "/documents"}, {Label: "Audit", Href: "/audit"},
	} {
		f.Tabs = append(f.Tabs, view.Tab{Label: t.Label, Href: entityHref(e.ID) + t.Href, Active: t.Href == tab})
	}
	return page, f
}

// entityDays is how many days of answers the overview shows.
const entityDays = 30

// showEntity serves GET /portal/desk/entities/{entity}.
func (p *Portal) showEntity(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	ctx, now := r.Context(), p.Now().UTC()
	page, frame := entityFrame(r, &e, "")
	d := view.EntityData{
		EntityFrame: frame, Row: entityRow(&e), Reason: e.Reason, Since: e.Since, DocumentsRequired: e.DocumentRequired, Days: entityDays, Now: now,
	}
	d.Mode = access.Live
	if r.URL.Query().Get("mode") == access.Test {
		d.Mode = access.Test
	}
	days, err := p.Tally.Days(ctx, e.ID, d.Mode, now.AddDate(0, 0, 1-entityDays), now)
	if err != nil {
		return err
	}
	d.Answers, d.Totals = answersChart(days)
	for _, m := range []view.Option{{Value: access.Live, Label: "Live"}, {Value: access.Test, Label: "Test"}} {
		d.Modes = append(d.Modes, view.Tab{Label: m.Label, Href: entityHref(e.ID) + "?mode=" + m.Value, Active: m.Value == d.Mode})
	}
	limits, err := p.limitsFor(ctx, e.ID)
	if err != nil {
		return err
	}
	d.KeyRate, d.EntityRate, d.DayQuota, d.MonthQuota, d.DayNumbers = limits.KeyRate, limits.EntityRate, limits.DayQuota, limits.MonthQuota, limits.DayNumbers
	if err := p.entityTies(ctx, &e, &d); err != nil {
		return err
	}
	for _, m := range entityMoves {
		if frame.May && slices.Contains(m.from, e.Status) && (!d.Waits || m.verb != "restore") {
			d.Moves = append(d.Moves, view.Action{Label: m.label, Href: entityHref(e.ID) + "/" + m.verb, Kind: m.kind})
		}
	}
	return p.show(w, r, page, view.Entity(d))
}

// waitingShown is how many questions are looked through for one about an
// organisation. They lapse after a week, so that there are never many.
const waitingShown = 500

// entityTies adds what an organisation has to do with others: who brought it in,
// who has its number, what is asked about it, and which documents are open.
func (p *Portal) entityTies(ctx context.Context, e *registry.Standing, d *view.EntityData) error {
	same, err := p.Registry.SameCAC(ctx, e.ID)
	if err != nil {
		return err
	}
	for i := range same {
		d.Same = append(d.Same, view.EntityRow{
			ID: same[i].ID.String(), Name: same[i].Name, CAC: same[i].CAC, State: string(same[i].Status), Tone: statusTones[same[i].Status], Created: same[i].CreatedAt,
		})
	}
	if e.Client != uuid.Nil {
		c, err := p.Keeper.Client(ctx, e.Client)
		if err != nil {
			return err
		}
		d.Sponsor = view.Link{Label: c.Name, Href: clientHref(c.ID)}
	}
	waiting, err := p.Approvals.List(ctx, false, waitingShown)
	if err != nil {
		return err
	}
	d.Waits = slices.ContainsFunc(waiting, func(a approval.Approval) bool { return a.Kind == registry.RestoreRevoked && a.Subject == e.ID })
	needed, err := p.Documents.Requirements(ctx, e.ID)
	for _, n := range needed {
		if n.State != document.RequirementAccepted {
			d.DocumentsOpen++
		}
	}
	return err
}

// limitsFor returns what an organisation may ask: what it was given, else what
// the settings say.
func (p *Portal) limitsFor(ctx context.Context, entity uuid.UUID) (access.Limits, error) {
	given, err := p.Keeper.LimitsOf(ctx, entity)
	d := p.Keeper.Limits
	return access.Limits{
		KeyRate: d.KeyRate, KeyBurst: d.KeyBurst, EntityRate: cmp.Or(given.EntityRate, d.EntityRate), EntityBurst: cmp.Or(given.EntityBurst, d.EntityBurst),
		DayQuota: cmp.Or(given.DayQuota, d.DayQuota), MonthQuota: cmp.Or(given.MonthQuota, d.MonthQuota), DayNumbers: cmp.Or(given.DayNumbers, d.DayNumbers),
	}, err
}
