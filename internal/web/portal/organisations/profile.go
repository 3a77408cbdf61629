package organisations

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/internal/web/portal/rules"
)

// showProfile serves GET /portal/profile.
func (p *Pages) showProfile(w http.ResponseWriter, r *http.Request) error {
	ctx, v := r.Context(), portal.VisitOf(r)
	e, err := p.Registry.Entity(ctx, v.Who.Entity)
	if err != nil {
		return err
	}
	keys, err := p.Access.CountActiveKeys(ctx, e.ID)
	if err != nil {
		return err
	}
	limits, _, err := rules.LimitsOf(ctx, p.Portal, v.Who.Entity)
	if err != nil {
		return err
	}
	needed, err := p.Documents.Requirements(ctx, v.Who.Entity)
	if err != nil {
		return err
	}
	d := ProfileData{Entity: e, Keys: keys[e.ID], Limits: limits, Now: p.Now()}
	limited, err := guard.RestrictionOf(ctx, p.Pool, v.Who.Entity, p.Now())
	if err != nil {
		return err
	}
	if limited != nil {
		d.Slowed, d.Stopped = limited.Level == guard.Slowed, limited.Level == guard.Stopped
	}
	for _, n := range needed {
		if n.State != document.RequirementAccepted {
			d.DocumentsOpen++
		}
	}
	return p.Show(w, r, kit.Page{Title: "Profile", Lead: "What the regulator has on record about your organisation."}, Profile(d))
}
