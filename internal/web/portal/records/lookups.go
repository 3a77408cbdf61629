package records

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// lookupRoutes are the pages on which staff see how much they have looked up today, and
// request more.
func (p *Pages) lookupRoutes() []portal.Route {
	return []portal.Route{
		{Method: http.MethodGet, Path: portal.LookupsPath, Right: portal.Staff, Serve: p.ShowForm(p.lookups)},
		{Method: http.MethodPost, Path: portal.LookupsPath, Right: portal.Decider, Action: stepup.MoreLookUps, Serve: p.requestLookups},
	}
}

var lookupsPage = kit.Page{
	Title:  "Look-ups of today",
	Lead:   "One person can look up so many different numbers, and pages of an organisation's records, on a day, in the portal and over the API together.",
	Crumbs: []kit.Link{{Label: "Number history", Href: "/portal/desk/numbers"}}, Active: "/portal/desk/numbers",
}

// lookups is the page /portal/desk/look-ups.
func (p *Pages) lookups(r *http.Request, form kit.Form) (_ kit.Page, _ templ.Component, err error) {
	v := portal.VisitOf(r)
	d := LookupsData{Form: form, CanRequest: v.Has(portal.Decider)}
	d.Used, d.Allowed, err = p.People.Lookups().Today(r.Context(), v.Who.Account)
	return lookupsPage, Lookups(d), err
}

// requestLookups serves POST /portal/desk/look-ups.
func (p *Pages) requestLookups(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	_, err := p.People.Lookups().RequestMore(r.Context(), v.Who.Account, portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
	return p.EndForm(w, r, err, p.lookups, portal.ApprovalsPath, "lookups.waits")
}
