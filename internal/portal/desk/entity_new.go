package desk

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/registry"
)

var newEntityPage = view.Page{
	Title: "New organisation", Lead: "For a relying party, such as a bank. A telco is onboarded through the API instead, by a client that you create for it.",
	Crumbs: []view.Link{{Label: "Organisations", Href: entitiesPath}}, Active: entitiesPath,
}

// showNewEntity serves GET /portal/desk/new-entity.
func (p *Pages) showNewEntity(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, newEntityPage, deskview.NewEntity(deskview.NewEntityData{}))
}

// errSameCAC asks for a decision before an organisation is added under a CAC number that
// another one has.
var errSameCAC = fault.ErrInvalid.With(fault.Violation{
	Field: "another", Code: fault.Taken, Message: "An organisation with this CAC number exists already. Open it, or confirm below that this is another one.",
})

func sameRows(list []registry.Entity) (rows []deskview.EntityRow) {
	for i := range list {
		rows = append(rows, deskview.EntityRow{ID: list[i].ID.String(), Name: list[i].Name, CAC: list[i].CAC, State: string(list[i].Status), Tone: present.EntityTones[list[i].Status], Created: list[i].CreatedAt})
	}
	return rows
}

// createEntity serves POST /portal/desk/new-entity.
func (p *Pages) createEntity(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	n := people.NewOrganisation{Name: strings.TrimSpace(r.PostFormValue("name")), CAC: strings.TrimSpace(r.PostFormValue("cac")), Email: strings.TrimSpace(r.PostFormValue("email"))}
	same, err := p.Registry.WithCAC(r.Context(), n.CAC)
	if err != nil {
		return err
	}
	d := deskview.NewEntityData{Same: sameRows(same)}
	var e registry.Entity
	if len(same) > 0 && r.PostFormValue("another") != "yes" {
		err = errSameCAC
	} else {
		e, _, err = p.People.AdmitOrganisation(r.Context(), n, v.Who, v.ID)
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		d.Form = form
		return p.ShowInvalid(w, r, err, newEntityPage, deskview.NewEntity(d))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID), "entity.created")
}
