package organisations

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// requireDocuments says whether an organisation has to submit documents. A repeated form
// finds that it is so already.
func (p *Pages) requireDocuments() portal.Action[registry.EntityDetails] {
	return portal.Action[registry.EntityDetails]{
		Path: "/portal/desk/entities/{entity}/documents/require", Right: portal.Administrator, Change: stepup.ChangeEntity, Ask: requireQuestion,
		Do: func(r *http.Request, v *portal.Visit, e *registry.EntityDetails) (string, error) {
			return "entity.documents", p.Registry.RequireDocuments(r.Context(), e.ID, r.PostFormValue("required") == "yes", portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
		},
	}
}

func requireQuestion(e *registry.EntityDetails, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{
		Title: "Require documents", Crumbs: entityCrumbs(e), Label: "Require documents", Kind: kit.Primary, Cancel: portal.EntityURL(e.ID) + "/documents", Reason: true, Extra: kit.Hidden("required", "yes"),
		Text: e.Name + " (" + e.CAC + ") has to submit the documents that are required of organisations. Its people see which are missing when they sign in; its keys go on working.",
	}
	if e.DocumentRequired {
		q.Title, q.Label, q.Kind, q.Extra = "Stop requiring documents", "Stop requiring documents", kit.Danger, kit.Hidden("required", "no")
		q.Text = e.Name + " (" + e.CAC + ") no longer has to submit documents. Those that it has submitted stay."
	}
	return q
}
