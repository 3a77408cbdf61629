package desk

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
)

var newEntityPage = view.Page{
	Title: "New organisation", Lead: "For a relying party, such as a bank. A telco is onboarded through the API instead, by a client that you create for it.",
	Crumbs: []view.Link{{Label: "Organisations", Href: entitiesPath}}, Active: entitiesPath,
}

// showNewEntity serves GET /portal/desk/new-entity.
func (p *Pages) showNewEntity(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, newEntityPage, deskview.NewEntity(view.Form{}))
}

// createEntity serves POST /portal/desk/new-entity.
func (p *Pages) createEntity(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	n := people.NewOrganisation{Name: strings.TrimSpace(r.PostFormValue("name")), CAC: strings.TrimSpace(r.PostFormValue("cac")), Email: strings.TrimSpace(r.PostFormValue("email"))}
	e, _, err := p.People.AdmitOrganisation(r.Context(), n, v.Who, v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, newEntityPage, deskview.NewEntity(form))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID), "entity.created")
}
