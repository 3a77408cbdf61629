package organisations

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths about organisations.
const (
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
		{Method: get, Path: portal.EntitiesPath, Right: portal.Staff, Serve: p.showEntities},
		{Method: get, Path: newEntityPath, Right: portal.Administrator, Serve: p.ShowForm(p.newEntity)},
		{Method: post, Path: newEntityPath, Right: portal.Administrator, Action: stepup.CreateEntity, Serve: p.createEntity},
		{Method: get, Path: entityPath, Right: portal.Staff, Serve: p.showEntity},
		{Method: get, Path: entityPeoplePath, Right: portal.Staff, Serve: p.ShowForm(p.entityPeople)},
		{Method: post, Path: entityPeoplePath, Right: portal.Administrator, Action: stepup.Invite, Serve: p.inviteToEntity},
		{Method: post, Path: entityInvitePath, Right: portal.Administrator, Action: stepup.Invite, Serve: p.inviteToEntityAgain},
		{Method: get, Path: entityKeysPath, Right: portal.Staff, Serve: p.showEntityKeys},
		{Method: get, Path: entityDocumentsPath, Right: portal.Staff, Serve: p.showEntityDocuments},
		{Method: get, Path: entityAuditPath, Right: portal.Staff, Serve: p.showEntityAudit},
	}
	changes := []portal.Action[registry.EntityDetails]{p.requireDocuments()}
	for _, m := range statusChanges {
		changes = append(changes, p.changeStatus(m))
	}
	return slices.Concat(routes, portal.Actions(p.Portal, p.entityAccount, p.removeFromEntity()), portal.Actions(p.Portal, p.pathEntityKey, p.revokeEntityKey()), portal.Actions(p.Portal, p.pathEntity, changes...))
}

// entitiesShown is the number of organisations on one page.
const entitiesShown = 50

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
	d := EntitiesData{
		Rows: found.Entities, Keys: keys, Form: kit.Form{Values: r.URL.Query()}, Searched: s.Text != "" || s.Status != "" || s.Activity != "" || s.Client != uuid.Nil, CanEdit: may, Now: p.Now(),
		Sorts: map[string]kit.HeadCell{},
	}
	for _, by := range []registry.Sort{registry.ByName, registry.ByCreated, registry.ByStatus} {
		d.Sorts[string(by)] = o.Head("", string(by))
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
	page := kit.Page{Title: "Organisations", Lead: "The organisations that use the service: telcos, which supply lines, and relying parties, which verify numbers.", Active: portal.EntitiesPath}
	if may {
		page.Actions = []kit.Action{{Label: "Add organisation", Href: newEntityPath, Kind: kit.Primary}}
	}
	return p.Show(w, r, page, Entities(d))
}

// entitySearch reads which organisations are requested. An unknown value of a
// filter is ignored.
func entitySearch(r *http.Request, o portal.Order) registry.EntityFilter {
	q := r.URL.Query()
	s := registry.EntityFilter{Text: portal.SearchText(q.Get("q")), Sort: registry.Sort(o.Column), Descending: o.Descending, Limit: entitiesShown}
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
