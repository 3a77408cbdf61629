package desk

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/web"
)

// The paths about clients.
const (
	clientsPath            = "/portal/desk/clients"
	newClientPath          = "/portal/desk/new-client"
	clientPath             = "/portal/desk/clients/{client}"
	clientSecretsPath      = "/portal/desk/clients/{client}/secrets"                 //nolint:gosec // a path
	clientSecretRevokePath = "/portal/desk/clients/{client}/secrets/{secret}/revoke" //nolint:gosec // a path
)

// clientRoutes are the pages about the OAuth clients with which telcos onboard and
// supply. All staff may look; administrators may change.
func (p *Pages) clientRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	routes := []portal.Route{
		{Method: get, Path: clientsPath, Right: portal.Staff, Serve: p.showClients},
		{Method: get, Path: newClientPath, Right: portal.Administrator, Serve: p.showNewClient},
		{Method: post, Path: newClientPath, Right: portal.Administrator, Prove: true, Serve: p.createClient},
		{Method: get, Path: clientPath, Right: portal.Staff, Serve: p.showClient},
		{Method: post, Path: clientSecretsPath, Right: portal.Administrator, Prove: true, Serve: p.addSecret},
		{Method: get, Path: clientSecretRevokePath, Right: portal.Administrator, Serve: p.confirmRevokeSecret},
		{Method: post, Path: clientSecretRevokePath, Right: portal.Administrator, Serve: p.revokeSecret},
	}
	for _, c := range clientChanges {
		path := clientPath + "/" + c.verb
		routes = append(routes, portal.Route{Method: get, Path: path, Right: portal.Administrator, Serve: p.confirmChangeClient(c)}, portal.Route{Method: post, Path: path, Right: portal.Administrator, Serve: p.changeClient(c)})
	}
	return routes
}

// clientsShown is the number of clients on one page.
const clientsShown = 50

var clientCrumbs = []view.Link{{Label: "Clients", Href: clientsPath}}

// showClients serves GET /portal/desk/clients. Revoked ones come last; the
// newest come first among them and among the others.
func (p *Pages) showClients(w http.ResponseWriter, r *http.Request) error {
	list, err := p.Access.Clients(r.Context())
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
	shown, links := web.PageOf(r, list, clientsShown, func(c *access.ClientRow) string { return c.ID.String() })
	d := deskview.ClientsData{First: links.First, Next: links.Next, Note: portal.WindowNote(links), CanEdit: portal.VisitOf(r).Has(portal.Administrator), Now: p.Now()}
	for i := range shown {
		d.Rows = append(d.Rows, clientRow(&shown[i]))
	}
	page := view.Page{Title: "Clients", Lead: "A client is a program of an approved telco. It gets access tokens with its id and secret.", Active: clientsPath}
	if d.CanEdit {
		page.Actions = []view.Action{{Label: "Create client", Href: newClientPath, Kind: view.Primary}}
	}
	return p.Show(w, r, page, deskview.Clients(d))
}

func clientRow(c *access.ClientRow) deskview.ClientRow {
	row := deskview.ClientRow{
		ID: c.ID.String(), Name: c.Name, Network: c.Network, Scopes: c.Scopes, Vouches: c.Vouches, Sole: c.Sole, Secrets: c.Secrets, Created: c.CreatedAt, LastToken: c.LastTokenAt,
		State: "Active", Tone: view.Good, Inactive: c.Revoked,
	}
	switch {
	case c.Revoked:
		row.State, row.Tone = "Revoked", view.Bad
	case c.Suspended:
		row.State, row.Tone = "Suspended", view.Warn
	}
	return row
}

func clientURL(id uuid.UUID) string { return clientsPath + "/" + id.String() }

// scopeHints explain what a scope lets a client do.
var scopeHints = map[access.Scope]string{
	access.EntityOnboard:  "Onboard telcos, each with its first admin. No further approval is needed.",
	access.DocumentUpload: "Upload documents for the organisations that it onboarded.",
	access.LineSupply:     "Supply the lines of one network: snapshots and events. Needs the network below.",
	access.LinePort:       "Report that numbers moved from one network to another. For the clearing house; never together with line:supply.",
	access.LineFlag:       "Report that a number is under suspicion. For a fraud desk.",
	access.LineOrder:      "Order that numbers are barred, blacklisted or released. For an authority.",
}

var newClientPage = view.Page{
	Title: "New client", Lead: "For a telco that is already approved. The secret is shown once, on the next page.", Crumbs: clientCrumbs, Active: clientsPath,
}

// newClientData lists the scopes, and the networks of the current numbering plan.
func (p *Pages) newClientData(r *http.Request, form view.Form) (deskview.NewClientData, error) {
	d := deskview.NewClientData{Form: form, Networks: []view.Option{{Value: "", Label: "None"}}}
	for _, s := range access.Scopes {
		d.Scopes = append(d.Scopes, view.Option{Value: string(s), Label: string(s), Hint: scopeHints[s]})
	}
	plan, err := numbering.Current(r.Context(), p.Pool, p.Now())
	if err != nil {
		return deskview.NewClientData{}, err
	}
	for _, n := range plan.Networks() {
		d.Networks = append(d.Networks, view.Option{Value: plan.Code(n), Label: plan.Code(n) + " · " + plan.Name(n)})
	}
	return d, nil
}

// showNewClient serves GET /portal/desk/new-client.
func (p *Pages) showNewClient(w http.ResponseWriter, r *http.Request) error {
	d, err := p.newClientData(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, newClientPage, deskview.NewClient(d))
}

// createClient serves POST /portal/desk/new-client. The secret is shown in this
// response and never again.
func (p *Pages) createClient(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	f := access.ClientForm{
		Name: strings.TrimSpace(r.PostFormValue("name")), Scopes: slices.Compact(slices.Sorted(slices.Values(r.PostForm["scope"]))),
		Network: r.PostFormValue("network"), Vouches: r.PostFormValue("vouches") == "yes", Sole: r.PostFormValue("sole") == "yes", Reason: portal.OneLine(r.PostFormValue("reason")),
	}
	d, err := p.newClientData(r, view.Form{})
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(slices.ContainsFunc(d.Networks, func(o view.Option) bool { return o.Value == f.Network }), "network", fault.NotAllowed, "Choose a network of the numbering plan.")
	var c access.NewClient
	if err = wrong.Err(); err == nil {
		c, err = p.Access.CreateClient(r.Context(), f, v.Who.Actor(), v.ID)
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		d.Form = form
		return p.ShowInvalid(w, r, err, newClientPage, deskview.NewClient(d))
	}
	if err != nil {
		return err
	}
	return p.showNewSecret(w, r, deskview.CreatedSecretData{ID: c.ID.String(), Name: f.Name, Secret: c.Secret.Reveal(), Waits: c.Pending != uuid.Nil})
}

func (p *Pages) showNewSecret(w http.ResponseWriter, r *http.Request, d deskview.CreatedSecretData) error {
	d.Curl = present.TokenExample(p.BaseURL(r), d.ID, d.Secret)
	page := view.Page{Title: "New client secret", Lead: "Copy it now. It cannot be shown again.", Crumbs: clientCrumbs, Active: clientsPath}
	return p.Show(w, r, page, deskview.CreatedSecret(d))
}
