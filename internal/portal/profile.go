package portal

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

// showProfile serves GET /portal/profile.
func (p *Portal) showProfile(w http.ResponseWriter, r *http.Request) error {
	ctx, v := r.Context(), visitOf(r)
	e, err := p.Registry.Entity(ctx, v.who.Entity)
	if err != nil {
		return err
	}
	limits, err := p.limitsOf(r)
	if err != nil {
		return err
	}
	needed, err := p.Documents.Requirements(ctx, v.who.Entity)
	if err != nil {
		return err
	}
	d := view.ProfileData{
		ID: e.ID.String(), Name: e.Name, CAC: e.CAC, Status: string(e.Status), Tone: statusTones[e.Status], Since: e.CreatedAt, Keys: e.Keys, People: e.Accounts,
		Asks: e.Asks, Supplies: e.Supplies, DocumentsRequired: e.DocumentRequired, Now: p.Now(),
		KeyRate: limits.KeyRate, EntityRate: limits.EntityRate, DayQuota: limits.DayQuota, MonthQuota: limits.MonthQuota, DayNumbers: limits.DayNumbers,
	}
	for _, n := range needed {
		if n.State != document.RequirementAccepted {
			d.DocumentsOpen++
		}
	}
	return p.show(w, r, view.Page{Title: "Profile", Lead: "What the regulator has on record about your organisation."}, view.Profile(d))
}

var statusTones = map[registry.Status]view.Tone{registry.Approved: view.Good, registry.Suspended: view.Warn, registry.Revoked: view.Bad}

// limitsOf returns what the visitor's organisation may ask.
func (p *Portal) limitsOf(r *http.Request) (access.Limits, error) {
	return p.limitsFor(r.Context(), visitOf(r).who.Entity)
}
