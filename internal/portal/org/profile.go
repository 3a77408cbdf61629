package org

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/restriction"
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
	limits, err := present.LimitsOf(ctx, p.Access, v.Who.Entity)
	if err != nil {
		return err
	}
	used, err := guard.UsageOf(ctx, p.Pool, e.ID, p.Now())
	if err != nil {
		return err
	}
	if !limits.OwnDay { // a new organisation has only a part of the budget in the settings
		limits.DayNumbers = used.Allowed(limits.DayNumbers)
	}
	needed, err := p.Documents.Requirements(ctx, v.Who.Entity)
	if err != nil {
		return err
	}
	d := orgview.ProfileData{
		ID: e.ID.String(), Name: e.Name, CAC: e.CAC, Status: string(e.Status), Tone: present.EntityTones[e.Status], Since: e.CreatedAt, Keys: keys[e.ID], People: e.Accounts,
		Verifies: e.Verifies, Supplies: e.Supplies, DocumentsRequired: e.DocumentRequired, Now: p.Now(),
		KeyRate: limits.KeyRate, EntityRate: limits.EntityRate, DayQuota: limits.DayQuota, MonthQuota: limits.MonthQuota, DayNumbers: limits.DayNumbers,
	}
	limited, err := restriction.Of(ctx, p.Pool, v.Who.Entity, p.Now())
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
	return p.Show(w, r, view.Page{Title: "Profile", Lead: "What the regulator has on record about your organisation."}, orgview.Profile(d))
}
