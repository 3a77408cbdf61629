package portal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// The paths about clients.
const (
	clientsPath         = "/portal/desk/clients"
	newClientPath       = "/portal/desk/new-client"
	clientPath          = "/portal/desk/clients/{client}"
	clientSecretsPath   = "/portal/desk/clients/{client}/secrets"                 //nolint:gosec // a path
	clientSecretEndPath = "/portal/desk/clients/{client}/secrets/{secret}/revoke" //nolint:gosec // a path
)

// deskClientRoutes are the pages about the clients by which telcos onboard and
// supply. All staff look; administrators change.
func (p *Portal) deskClientRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	routes := []route{
		{method: get, path: clientsPath, who: staff, serve: p.showClients},
		{method: get, path: newClientPath, who: administrator, serve: p.showNewClient},
		{method: post, path: newClientPath, who: administrator, serve: p.createClient},
		{method: get, path: clientPath, who: staff, serve: p.showClient},
		{method: post, path: clientSecretsPath, who: administrator, serve: p.addSecret},
		{method: get, path: clientSecretEndPath, who: administrator, serve: p.askRevokeSecret},
		{method: post, path: clientSecretEndPath, who: administrator, serve: p.revokeSecret},
	}
	for _, c := range clientChanges {
		path := clientPath + "/" + c.verb
		routes = append(routes, route{method: get, path: path, who: administrator, serve: p.askChangeClient(c)}, route{method: post, path: path, who: administrator, serve: p.changeClient(c)})
	}
	return routes
}

// clientsShown is how many clients one page lists.
const clientsShown = 50

var clientCrumbs = []view.Link{{Label: "Clients", Href: clientsPath}}

// showClients serves GET /portal/desk/clients. Those that stand come first, each
// kind the newest first.
func (p *Portal) showClients(w http.ResponseWriter, r *http.Request) error {
	list, err := p.Keeper.Clients(r.Context())
	if err != nil {
		return err
	}
	slices.Reverse(list)
	rank := func(c *access.ClientRow) int {
		if c.Revoked {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b access.ClientRow) int { return rank(&a) - rank(&b) })
	shown, at := pageOf(r, list, clientsShown, func(c *access.ClientRow) string { return c.ID.String() })
	d := view.ClientsData{First: at.first, Next: at.next, Note: at.note, May: visitOf(r).has(administrator), Now: p.Now()}
	for i := range shown {
		d.Rows = append(d.Rows, clientRow(&shown[i]))
	}
	page := view.Page{Title: "Clients", Lead: "A client is a program of a telco that was approved beforehand: for its id and secret it gets access tokens.", Active: clientsPath}
	if d.May {
		page.Actions = []view.Action{{Label: "Make a client", Href: newClientPath, Kind: view.Primary}}
	}
	return p.show(w, r, page, view.Clients(d))
}

func clientRow(c *access.ClientRow) view.ClientRow {
	row := view.ClientRow{
		ID: c.ID.String(), Name: c.Name, Network: c.Network, Scopes: c.Scopes, Vouches: c.Vouches, Secrets: c.Secrets, Created: c.CreatedAt, LastToken: c.LastTokenAt,
		State: "In force", Tone: view.Good, Over: c.Revoked,
	}
	switch {
	case c.Revoked:
		row.State, row.Tone = "Revoked", view.Bad
	case c.Suspended:
		row.State, row.Tone = "Suspended", view.Warn
	}
	return row
}

func clientHref(id uuid.UUID) string { return clientsPath + "/" + id.String() }

// scopeWords say what a scope lets a client do.
var scopeWords = map[access.Scope]string{
	access.EntityOnboard:  "Bring telcos in, each with its first admin. Whoever has it needs nobody's consent: it is the approval.",
	access.DocumentUpload: "Hand in documents of the organisations that it brought in.",
	access.LineSupply:     "Supply the lines of one network: snapshots and events. Needs the network below.",
	access.LinePort:       "Report that numbers moved from one network to another. For the clearing house.",
	access.LineFlag:       "Report that a number is under suspicion. For a fraud desk.",
	access.LineOrder:      "Order that numbers are barred, blacklisted or released. For an authority.",
}

var newClientPage = view.Page{
	Title: "Make a client", Lead: "For a telco that was approved beforehand. Its secret is shown once, on the next page.", Crumbs: clientCrumbs, Active: clientsPath,
}

// newClientData offers the scopes, and the networks of the plan in force.
func (p *Portal) newClientData(r *http.Request, form view.Form) (view.NewClientData, error) {
	d := view.NewClientData{Form: form, Networks: []view.Option{{Value: "", Label: "None"}}}
	for _, s := range access.Scopes {
		d.Scopes = append(d.Scopes, view.Option{Value: string(s), Label: string(s), Hint: scopeWords[s]})
	}
	plan, err := numbering.InForce(r.Context(), p.Pool, p.Now())
	if err != nil {
		return view.NewClientData{}, err
	}
	for _, n := range plan.Networks() {
		d.Networks = append(d.Networks, view.Option{Value: plan.Code(n), Label: plan.Code(n) + " · " + plan.Name(n)})
	}
	return d, nil
}

// showNewClient serves GET /portal/desk/new-client.
func (p *Portal) showNewClient(w http.ResponseWriter, r *http.Request) error {
	d, err := p.newClientData(r, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, newClientPage, view.NewClient(d))
}

// createClient serves POST /portal/desk/new-client. The secret is shown in this
// answer and nowhere else.
func (p *Portal) createClient(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	f := access.ClientForm{
		Name: strings.TrimSpace(r.PostFormValue("name")), Scopes: slices.Compact(slices.Sorted(slices.Values(r.PostForm["scope"]))),
		Network: r.PostFormValue("network"), Vouches: r.PostFormValue("vouches") == "yes",
	}
	d, err := p.newClientData(r, view.Form{})
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(slices.ContainsFunc(d.Networks, func(o view.Option) bool { return o.Value == f.Network }), "network", fault.NotAllowed, "Choose a network of the numbering plan.")
	var c access.NewClient
	if err = wrong.Err(); err == nil {
		c, err = p.Keeper.CreateClient(r.Context(), f, v.who.Actor(), v.id)
	}
	if form, wrong := formOf(r, err); wrong {
		d.Form = form
		return p.showAgain(w, r, err, newClientPage, view.NewClient(d))
	}
	if err != nil {
		return err
	}
	return p.showMadeSecret(w, r, view.MadeSecretData{ID: c.ID.String(), Name: f.Name, Secret: c.Secret.Reveal()})
}

// tokenPath is where a client gets an access token.
const tokenPath = "/api/auth/token" //nolint:gosec // a path, not a token

func (p *Portal) showMadeSecret(w http.ResponseWriter, r *http.Request, d view.MadeSecretData) error {
	d.Curl = tokenLines(p.base(r), d.ID, d.Secret)
	page := view.Page{Title: "A new client secret", Lead: "Keep it now. It cannot be shown again.", Crumbs: clientCrumbs, Active: clientsPath}
	return p.show(w, r, page, view.MadeSecret(d))
}

func tokenLines(base, id, secret string) string {
	return `curl -sS ` + base + tokenPath + ` \
  -u '` + id + `:` + secret + `' \
  -d grant_type=client_credentials
`
}
