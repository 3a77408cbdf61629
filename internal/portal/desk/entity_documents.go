package desk

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

const entityRequirePath = "/portal/desk/entities/{entity}/documents/require"

func requirePage(e *registry.EntityDetails) view.Page {
	return view.Page{Title: requireTitle(e), Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func requireTitle(e *registry.EntityDetails) string {
	if e.DocumentRequired {
		return "Stop requiring documents"
	}
	return "Require documents"
}

func requireQuestion(e *registry.EntityDetails, f view.Form) view.ConfirmData {
	at := entityURL(e.ID) + "/documents"
	q := view.ConfirmData{Action: at + "/require", Label: requireTitle(e), Kind: view.Primary, Cancel: at, Reason: true, Form: f, Extra: view.Hidden("required", "yes")}
	q.Text = e.Name + " (" + e.CAC + ") has to submit the documents that are required of organisations. Its people see which are missing when they sign in; its keys go on working."
	if e.DocumentRequired {
		q.Text, q.Kind = e.Name+" ("+e.CAC+") no longer has to submit documents. Those that it has submitted stay.", view.Danger
		q.Extra = view.Hidden("required", "no")
	}
	return q
}

// confirmRequire serves GET /portal/desk/entities/{entity}/documents/require.
func (p *Pages) confirmRequire(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, requirePage(&e), view.Confirm(requireQuestion(&e, view.Form{})))
}

// requireDocuments serves POST of the same. A repeated form finds that it is so already.
func (p *Pages) requireDocuments(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	err = p.Registry.RequireDocuments(r.Context(), e.ID, r.PostFormValue("required") == "yes", portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, requirePage(&e), view.Confirm(requireQuestion(&e, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID)+"/documents", "entity.documents")
}
