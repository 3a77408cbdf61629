package portal

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

// The paths about organisations.
const (
	entitiesPath     = "/portal/desk/entities"
	newEntityPath    = "/portal/desk/new-entity"
	entityPath       = "/portal/desk/entities/{entity}"
	entityPeoplePath = "/portal/desk/entities/{entity}/people"
	entityAgainPath  = "/portal/desk/entities/{entity}/people/{account}/invite"
	entityOutPath    = "/portal/desk/entities/{entity}/people/{account}/remove"
	entityKeysPath   = "/portal/desk/entities/{entity}/keys"
	entityKeyEndPath = "/portal/desk/entities/{entity}/keys/{key}/revoke"
	entityPapersPath = "/portal/desk/entities/{entity}/documents"
	entityAuditPath  = "/portal/desk/entities/{entity}/audit"
)

// deskEntityRoutes are the pages about organisations. All staff look; what
// changes anything is for administrators, as package registry has it.
func (p *Portal) deskEntityRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	routes := []route{
		{method: get, path: entitiesPath, who: staff, serve: p.showEntities},
		{method: get, path: newEntityPath, who: administrator, serve: p.showNewEntity},
		{method: post, path: newEntityPath, who: administrator, serve: p.createEntity},
		{method: get, path: entityPath, who: staff, serve: p.showEntity},
		{method: get, path: entityPeoplePath, who: staff, serve: p.showEntityPeople},
		{method: post, path: entityPeoplePath, who: administrator, serve: p.inviteToEntity},
		{method: post, path: entityAgainPath, who: administrator, serve: p.inviteToEntityAgain},
		{method: get, path: entityOutPath, who: administrator, serve: p.askRemoveFromEntity},
		{method: post, path: entityOutPath, who: administrator, serve: p.removeFromEntity},
		{method: get, path: entityKeysPath, who: staff, serve: p.showEntityKeys},
		{method: get, path: entityKeyEndPath, who: administrator, serve: p.askRevokeEntityKey},
		{method: post, path: entityKeyEndPath, who: administrator, serve: p.revokeEntityKey},
		{method: get, path: entityPapersPath, who: staff, serve: p.showEntityPapers},
		{method: get, path: entityAuditPath, who: staff, serve: p.showEntityAudit},
	}
	for _, m := range entityMoves {
		path := entityPath + "/" + m.verb
		routes = append(routes, route{method: get, path: path, who: administrator, serve: p.askMove(m)}, route{method: post, path: path, who: administrator, serve: p.moveEntity(m)})
	}
	return routes
}

// entitiesShown is how many organisations one page lists.
const entitiesShown = 50

// mostSearch is how long a text to search for may be; names are no longer.
const mostSearch = 200

// showEntities serves GET /portal/desk/entities.
func (p *Portal) showEntities(w http.ResponseWriter, r *http.Request) error {
	o := orderOf(r, string(registry.ByName), string(registry.ByCreated), string(registry.ByStatus))
	o.column = cmp.Or(o.column, string(registry.ByName))
	s := entitySearch(r.URL.Query(), o)
	found, err := p.Registry.Search(r.Context(), s)
	if err != nil {
		return err
	}
	may := visitOf(r).has(administrator)
	d := view.EntitiesData{
		Form: view.Form{Values: r.URL.Query()}, Searched: s.Text != "" || s.Status != "" || s.Trade != "" || s.Client != uuid.Nil, May: may, Now: p.Now(),
		Sorts: map[string]view.HeadCell{},
	}
	for _, by := range []registry.Sort{registry.ByName, registry.ByCreated, registry.ByStatus} {
		d.Sorts[string(by)] = o.head("", string(by))
	}
	for i := range found.Entities {
		d.Rows = append(d.Rows, entityRow(&found.Entities[i]))
	}
	if s.After != uuid.Nil {
		d.First = pageAfter(r, "")
	}
	if found.Next != uuid.Nil {
		d.Next = pageAfter(r, found.Next.String())
	}
	if s.Client != uuid.Nil {
		client, err := p.Keeper.Client(r.Context(), s.Client)
		if isCode(err, fault.NotFound) {
			return errNoPage
		}
		if err != nil {
			return err
		}
		d.Client = client.Name
	}
	page := view.Page{Title: "Entities", Lead: "The organisations that the regulator has let in: telcos, which supply lines, and those that ask.", Active: entitiesPath}
	if may {
		page.Actions = []view.Action{{Label: "Let an organisation in", Href: newEntityPath, Kind: view.Primary}}
	}
	return p.show(w, r, page, view.Entities(d))
}

// entitySearch reads which organisations are wanted. A word that is not known
// means what its absence means.
func entitySearch(q url.Values, o order) registry.Search {
	s := registry.Search{Text: searchText(q.Get("q")), Sort: registry.Sort(o.column), Descending: o.desc, Limit: entitiesShown}
	switch status := registry.Status(q.Get("state")); status {
	case registry.Approved, registry.Suspended, registry.Revoked:
		s.Status = status
	}
	switch trade := registry.Trade(q.Get("kind")); trade {
	case registry.SuppliesLines, registry.OnlyAsks:
		s.Trade = trade
	}
	s.Client, _ = uuid.Parse(q.Get("client"))
	s.After, _ = uuid.Parse(q.Get("after"))
	return s
}

// searchText is what is searched for, no longer than a name can be.
func searchText(typed string) string {
	typed = strings.TrimSpace(typed)
	if text := []rune(typed); len(text) > mostSearch {
		return string(text[:mostSearch])
	}
	return typed
}

func entityRow(e *registry.Standing) view.EntityRow {
	return view.EntityRow{
		ID: e.ID.String(), Name: e.Name, CAC: e.CAC, State: string(e.Status), Tone: statusTones[e.Status], Asks: e.Asks, Supplies: e.Supplies,
		Keys: e.Keys, People: e.Accounts, Created: e.CreatedAt, Over: e.Status == registry.Revoked,
	}
}

func entityHref(id uuid.UUID) string { return entitiesPath + "/" + id.String() }
