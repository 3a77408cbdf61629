package organisations

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
	"github.com/lineproof/lineproof/internal/web/portal/keys"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// showEntityKeys serves GET /portal/desk/entities/{entity}/keys, as the
// organisation sees them.
func (p *Pages) showEntityKeys(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	keys, err := keys.KeyPage(r, p.Access, e.ID, p.Now(), func(*access.KeyRow) bool { return true })
	if err != nil {
		return err
	}
	page, frame := entityFrame(r, &e, "/keys")
	return p.Show(w, r, page, EntityKeys(EntityKeysData{EntityFrame: frame, KeysData: keys}))
}

// entityKey is an organisation and a key of it.
type entityKey struct {
	registry.EntityDetails

	key access.KeyRow
}

// pathEntityKey returns the organisation and its key that the path names.
func (p *Pages) pathEntityKey(r *http.Request) (entityKey, error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return entityKey{}, err
	}
	chain, err := keys.PathKey(r, p.Access, e.ID)
	return entityKey{e, chain.Key}, err
}

// revokeEntityKey revokes a key of an organisation.
func (p *Pages) revokeEntityKey() portal.Action[entityKey] {
	return portal.Action[entityKey]{
		Path: entityKeyRevokePath, Right: portal.Administrator, Change: stepup.RevokeKey,
		Ask: func(at *entityKey, _ kit.Form) kit.ConfirmData {
			q := keys.RevokeKeyQuestion(&at.key, portal.EntityURL(at.ID)+"/keys", entityCrumbs(&at.EntityDetails))
			q.Text = "The organisation is not notified automatically: inform it. " + q.Text
			return q
		},
		Do: func(r *http.Request, v *portal.Visit, at *entityKey) (string, error) {
			if err := keys.CheckKeyName(r, &at.key); err != nil {
				return "", err
			}
			return "key.revoked", p.Access.RevokeKey(r.Context(), at.ID, at.key.ID, v.Who.Actor(), v.ID)
		},
	}
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
	o := documents.DocumentOrder(r)
	list, links, err := documents.DocumentPage(r, p.Documents, o, document.Filter{Entity: e.ID})
	if err != nil {
		return err
	}
	page, frame := entityFrame(r, &e, "/documents")
	d := EntityDocumentsData{EntityFrame: frame, IsRequired: e.DocumentRequired, Required: needed, First: links.First, Next: links.Next, Heads: o.Head, Now: p.Now()}
	for i := range list {
		row := documents.RowOf(&list[i])
		row.Message = strings.TrimSpace(list[i].Note) // staff may read the note in every state
		d.Rows = append(d.Rows, row)
	}
	return p.Show(w, r, page, EntityDocuments(d))
}
