package organisations

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var newEntityPage = kit.Page{
	Title: "New organisation", Lead: "For a relying party, such as a bank. A telco is onboarded through the API instead, by a client that you create for it.",
	Crumbs: []kit.Link{{Label: "Organisations", Href: portal.EntitiesPath}}, Active: portal.EntitiesPath,
}

// newEntity is the page /portal/desk/new-entity. After an error it lists the organisations
// that have the same CAC number.
func (p *Pages) newEntity(r *http.Request, form kit.Form) (_ kit.Page, _ templ.Component, err error) {
	d := NewEntityData{Form: form}
	if r.Method == http.MethodPost {
		d.Same, err = p.Registry.WithCAC(r.Context(), strings.TrimSpace(r.PostFormValue("cac")))
	}
	return newEntityPage, NewEntity(d), err
}

// createEntity serves POST /portal/desk/new-entity.
func (p *Pages) createEntity(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	n := people.NewOrganisation{
		Name: strings.TrimSpace(r.PostFormValue("name")), CAC: strings.TrimSpace(r.PostFormValue("cac")), Email: strings.TrimSpace(r.PostFormValue("email")),
		Another: r.PostFormValue("another") == "yes",
	}
	e, _, err := p.People.AdmitOrganisation(r.Context(), n, v.Who, v.ID)
	return p.EndForm(w, r, err, p.newEntity, portal.EntityURL(e.ID), "entity.created")
}
