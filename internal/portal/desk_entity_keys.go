package portal

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

// showEntityKeys serves GET /portal/desk/entities/{entity}/keys, as the
// organisation sees them.
func (p *Portal) showEntityKeys(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	keys, err := p.keyPage(r, e.ID)
	if err != nil {
		return err
	}
	page, frame := entityFrame(r, &e, "/keys")
	return p.show(w, r, page, view.EntityKeys(view.EntityKeysData{EntityFrame: frame, KeysData: keys}))
}

// entityKey returns the organisation and the key of it that the path names.
func (p *Portal) entityKey(r *http.Request) (registry.Standing, access.KeyRow, error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return registry.Standing{}, access.KeyRow{}, err
	}
	kin, err := p.keyOf(r, e.ID)
	return e, kin.Key, err
}

func revokeEntityKeyPage(e *registry.Standing) view.Page {
	return view.Page{Title: "Revoke a key", Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func revokeEntityKeyQuestion(e *registry.Standing, k *access.KeyRow, f view.Form) view.ConfirmData {
	q := revokeQuestion(k, f)
	q.Text = "The organisation is not told: tell it. " + q.Text
	q.Cancel = entityHref(e.ID) + "/keys"
	q.Action = q.Cancel + "/" + k.ID.String() + "/revoke"
	return q
}

// askRevokeEntityKey serves GET /portal/desk/entities/{entity}/keys/{key}/revoke.
func (p *Portal) askRevokeEntityKey(w http.ResponseWriter, r *http.Request) error {
	e, key, err := p.entityKey(r)
	if err != nil {
		return err
	}
	return p.show(w, r, revokeEntityKeyPage(&e), view.Confirm(revokeEntityKeyQuestion(&e, &key, view.Form{})))
}

// revokeEntityKey serves POST /portal/desk/entities/{entity}/keys/{key}/revoke.
func (p *Portal) revokeEntityKey(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	e, key, err := p.entityKey(r)
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(sameWord(r.PostFormValue("confirm"), key.Name), "confirm", fault.NotAllowed, "Type the name of the key as it stands above.")
	if err = wrong.Err(); err == nil {
		err = p.Keeper.RevokeKey(r.Context(), e.ID, key.ID, v.who.Actor(), v.id)
	}
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, revokeEntityKeyPage(&e), view.Confirm(revokeEntityKeyQuestion(&e, &key, form)))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, entityHref(e.ID)+"/keys", "key.revoked")
}

// showEntityPapers serves GET /portal/desk/entities/{entity}/documents.
func (p *Portal) showEntityPapers(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	needed, err := p.Documents.Requirements(r.Context(), e.ID)
	if err != nil {
		return err
	}
	o := paperOrder(r)
	list, at, err := p.paperPage(r, o, document.Filter{Entity: e.ID})
	if err != nil {
		return err
	}
	page, frame := entityFrame(r, &e, "/documents")
	d := view.EntityPapersData{EntityFrame: frame, First: at.first, Next: at.next, Heads: o.head, Now: p.Now()}
	for i := range needed {
		row := neededRow(&needed[i])
		if needed[i].Document.Valid {
			row.Href = deskPapersPath + "/" + needed[i].Document.UUID.String()
		}
		d.Needed = append(d.Needed, row)
	}
	for i := range list {
		row := paperRow(&list[i])
		row.Message = strings.TrimSpace(list[i].Note) // what was noted is for staff, whatever the state
		d.Rows = append(d.Rows, row)
	}
	return p.show(w, r, page, view.EntityPapers(d))
}
