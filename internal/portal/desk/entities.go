package desk

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/web"
)

// The paths about organisations.
const (
	entitiesPath        = "/portal/desk/entities"
	newEntityPath       = "/portal/desk/new-entity"
	entityPath          = "/portal/desk/entities/{entity}"
	entityPeoplePath    = "/portal/desk/entities/{entity}/people"
	entityInvitePath    = "/portal/desk/entities/{entity}/people/{account}/invite"
	entityRemovePath    = "/portal/desk/entities/{entity}/people/{account}/remove"
	entityKeysPath      = "/portal/desk/entities/{entity}/keys"
	entityKeyRevokePath = "/portal/desk/entities/{entity}/keys/{key}/revoke"
	entityDocumentsPath = "/portal/desk/entities/{entity}/documents"
	entityAuditPath     = "/portal/desk/entities/{entity}/audit"
)

// entityRoutes are the pages about organisations. All staff may look; only
// administrators may change, which package registry checks as well.
func (p *Pages) entityRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	routes := []portal.Route{
		{Method: get, Path: entitiesPath, Right: portal.Staff, Serve: p.showEntities},
		{Method: get, Path: newEntityPath, Right: portal.Administrator, Serve: p.showNewEntity},
		{Method: post, Path: newEntityPath, Right: portal.Administrator, Serve: p.createEntity},
		{Method: get, Path: entityPath, Right: portal.Staff, Serve: p.showEntity},
		{Method: get, Path: entityPeoplePath, Right: portal.Staff, Serve: p.showEntityPeople},
		{Method: post, Path: entityPeoplePath, Right: portal.Administrator, Prove: true, Serve: p.inviteToEntity},
		{Method: post, Path: entityInvitePath, Right: portal.Administrator, Prove: true, Serve: p.inviteToEntityAgain},
		{Method: get, Path: entityRemovePath, Right: portal.Administrator, Serve: p.confirmRemoveFromEntity},
		{Method: post, Path: entityRemovePath, Right: portal.Administrator, Prove: true, Serve: p.removeFromEntity},
		{Method: get, Path: entityKeysPath, Right: portal.Staff, Serve: p.showEntityKeys},
		{Method: get, Path: entityKeyRevokePath, Right: portal.Administrator, Serve: p.confirmRevokeEntityKey},
		{Method: post, Path: entityKeyRevokePath, Right: portal.Administrator, Prove: true, Serve: p.revokeEntityKey},
		{Method: get, Path: entityDocumentsPath, Right: portal.Staff, Serve: p.showEntityDocuments},
		{Method: get, Path: entityAuditPath, Right: portal.Staff, Serve: p.showEntityAudit},
	}
	for _, m := range statusChanges {
		path := entityPath + "/" + m.verb
		routes = append(routes, portal.Route{Method: get, Path: path, Right: portal.Administrator, Serve: p.confirmStatusChange(m)}, portal.Route{Method: post, Path: path, Right: portal.Administrator, Serve: p.changeStatus(m)})
	}
	return routes
}

// entitiesShown is the number of organisations on one page.
const entitiesShown = 50

// maxSearchText is the longest text that is searched for; no name is longer.
const maxSearchText = 200

// showEntities serves GET /portal/desk/entities.
func (p *Pages) showEntities(w http.ResponseWriter, r *http.Request) error {
	o := portal.ReadOrder(r, string(registry.ByName), string(registry.ByCreated), string(registry.ByStatus))
	o.Column = cmp.Or(o.Column, string(registry.ByName))
	s := entitySearch(r, o)
	found, err := p.Registry.Search(r.Context(), s)
	if err != nil {
		return err
	}
	keys, err := p.Access.CountActiveKeys(r.Context(), registry.IDs(found.Entities)...)
	if err != nil {
		return err
	}
	may := portal.VisitOf(r).Has(portal.Administrator)
	d := deskview.EntitiesData{
		Form: view.Form{Values: r.URL.Query()}, Searched: s.Text != "" || s.Status != "" || s.Activity != "" || s.Client != uuid.Nil, CanEdit: may, Now: p.Now(),
		Sorts: map[string]view.HeadCell{},
	}
	for _, by := range []registry.Sort{registry.ByName, registry.ByCreated, registry.ByStatus} {
		d.Sorts[string(by)] = o.Head("", string(by))
	}
	for i := range found.Entities {
		d.Rows = append(d.Rows, entityRow(&found.Entities[i], keys))
	}
	links := web.PageLinks(r, web.IDCursor(s.After), web.IDCursor(found.Next))
	d.First, d.Next = links.First, links.Next
	if s.Client != uuid.Nil {
		client, err := p.Access.Client(r.Context(), s.Client)
		if portal.IsCode(err, fault.NotFound) {
			return portal.ErrNotFound
		}
		if err != nil {
			return err
		}
		d.Client = client.Name
	}
	page := view.Page{Title: "Organisations", Lead: "The organisations that use the service: telcos, which supply lines, and relying parties, which verify numbers.", Active: entitiesPath}
	if may {
		page.Actions = []view.Action{{Label: "Add organisation", Href: newEntityPath, Kind: view.Primary}}
	}
	return p.Show(w, r, page, deskview.Entities(d))
}

// entitySearch reads which organisations are requested. An unknown value of a
// filter is ignored.
func entitySearch(r *http.Request, o portal.Order) registry.EntityFilter {
	q := r.URL.Query()
	s := registry.EntityFilter{Text: searchText(q.Get("q")), Sort: registry.Sort(o.Column), Descending: o.Descending, Limit: entitiesShown}
	switch status := registry.Status(q.Get("state")); status {
	case registry.Approved, registry.Suspended, registry.Revoked:
		s.Status = status
	}
	switch trade := registry.Activity(q.Get("kind")); trade {
	case registry.SuppliesLines, registry.OnlyVerifies:
		s.Activity = trade
	}
	s.Client, _ = uuid.Parse(q.Get("client"))
	s.After = web.CursorID(r)
	return s
}

// searchText returns the text to search for, cut to the length of a name.
func searchText(typed string) string {
	typed = strings.TrimSpace(typed)
	if text := []rune(typed); len(text) > maxSearchText {
		return string(text[:maxSearchText])
	}
	return typed
}

func entityRow(e *registry.EntityDetails, keys map[uuid.UUID]int64) deskview.EntityRow {
	return deskview.EntityRow{
		ID: e.ID.String(), Name: e.Name, CAC: e.CAC, State: string(e.Status), Tone: present.EntityTones[e.Status], Verifies: e.Verifies, Supplies: e.Supplies,
		Keys: keys[e.ID], People: e.Accounts, Created: e.CreatedAt, Inactive: e.Status == registry.Revoked,
	}
}

func entityURL(id uuid.UUID) string { return entitiesPath + "/" + id.String() }
