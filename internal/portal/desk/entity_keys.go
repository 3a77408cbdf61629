package desk

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/registry"
)

// showEntityKeys serves GET /portal/desk/entities/{entity}/keys, as the
// organisation sees them.
func (p *Pages) showEntityKeys(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	keys, err := present.KeyPage(r, p.Access, e.ID, p.Now())
	if err != nil {
		return err
	}
	page, frame := entityFrame(r, &e, "/keys")
	return p.Show(w, r, page, deskview.EntityKeys(deskview.EntityKeysData{EntityFrame: frame, KeysData: keys}))
}

// entityKey returns the organisation and its key that the path names.
func (p *Pages) entityKey(r *http.Request) (registry.EntityDetails, access.KeyRow, error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return registry.EntityDetails{}, access.KeyRow{}, err
	}
	chain, err := present.PathKey(r, p.Access, e.ID)
	return e, chain.Key, err
}

func revokeEntityKeyPage(e *registry.EntityDetails) view.Page {
	return view.Page{Title: "Revoke key", Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func revokeEntityKeyQuestion(e *registry.EntityDetails, k *access.KeyRow, f view.Form) view.ConfirmData {
	keys := entityURL(e.ID) + "/keys"
	q := present.RevokeKeyQuestion(k, keys+"/"+k.ID.String()+"/revoke", keys, f)
	q.Text = "The organisation is not notified automatically: inform it. " + q.Text
	return q
}

// confirmRevokeEntityKey serves GET /portal/desk/entities/{entity}/keys/{key}/revoke.
func (p *Pages) confirmRevokeEntityKey(w http.ResponseWriter, r *http.Request) error {
	e, key, err := p.entityKey(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, revokeEntityKeyPage(&e), view.Confirm(revokeEntityKeyQuestion(&e, &key, view.Form{})))
}

// revokeEntityKey serves POST /portal/desk/entities/{entity}/keys/{key}/revoke.
func (p *Pages) revokeEntityKey(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, key, err := p.entityKey(r)
	if err != nil {
		return err
	}
	if err = present.CheckKeyName(r, &key); err == nil {
		err = p.Access.RevokeKey(r.Context(), e.ID, key.ID, v.Who.Actor(), v.ID)
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, revokeEntityKeyPage(&e), view.Confirm(revokeEntityKeyQuestion(&e, &key, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID)+"/keys", "key.revoked")
}

// showEntityDocuments serves GET /portal/desk/entities/{entity}/documents.
func (p *Pages) showEntityDocuments(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	needed, err := p.Documents.Requirements(r.Context(), e.ID)
	if err != nil {
		return err
	}
	o := present.DocumentOrder(r)
	list, links, err := present.DocumentPage(r, p.Documents, o, document.Filter{Entity: e.ID})
	if err != nil {
		return err
	}
	page, frame := entityFrame(r, &e, "/documents")
	d := deskview.EntityDocumentsData{EntityFrame: frame, IsRequired: e.DocumentRequired, First: links.First, Next: links.Next, Heads: o.Head, Now: p.Now()}
	for i := range needed {
		d.Required = append(d.Required, present.RequirementRow(&needed[i], documentsPath))
	}
	for i := range list {
		row := present.DocumentRow(&list[i])
		row.Message = strings.TrimSpace(list[i].Note) // staff may read the note in every state
		d.Rows = append(d.Rows, row)
	}
	return p.Show(w, r, page, deskview.EntityDocuments(d))
}
