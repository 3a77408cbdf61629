package portal

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal/view"
)

var newEntityPage = view.Page{
	Title: "Let an organisation in", Lead: "One that asks about numbers, such as a bank. A telco comes in over the API instead, by a client that you make for it.",
	Crumbs: []view.Link{{Label: "Entities", Href: entitiesPath}}, Active: entitiesPath,
}

// showNewEntity serves GET /portal/desk/new-entity.
func (p *Portal) showNewEntity(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, newEntityPage, view.NewEntity(view.Form{}))
}

// createEntity serves POST /portal/desk/new-entity.
func (p *Portal) createEntity(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	n := people.NewAsker{Name: strings.TrimSpace(r.PostFormValue("name")), CAC: strings.TrimSpace(r.PostFormValue("cac")), Email: strings.TrimSpace(r.PostFormValue("email"))}
	e, _, err := p.People.LetIn(r.Context(), n, v.who, v.id)
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, newEntityPage, view.NewEntity(form))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, entityHref(e.ID), "entity.created")
}
