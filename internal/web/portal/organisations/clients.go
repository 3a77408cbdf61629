package organisations

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths about clients.
const (
	newClientPath     = "/portal/desk/new-client"
	clientPath        = "/portal/desk/clients/{client}"
	clientSecretsPath = "/portal/desk/clients/{client}/secrets" //nolint:gosec // a path
)

// clientRoutes are the pages about the OAuth clients with which telcos onboard and
// supply. All staff may look; administrators may change.
func (p *Pages) clientRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	routes := []portal.Route{
		{Method: get, Path: portal.ClientsPath, Right: portal.Staff, Serve: p.showClients},
		{Method: get, Path: newClientPath, Right: portal.Administrator, Serve: p.ShowForm(p.newClient)},
		{Method: post, Path: newClientPath, Right: portal.Administrator, Action: stepup.CreateClient, Serve: p.createClient},
		{Method: get, Path: clientPath, Right: portal.Staff, Serve: p.ShowForm(p.clientPage)},
		{Method: post, Path: clientSecretsPath, Right: portal.Administrator, Action: stepup.AddSecret, Serve: p.addSecret},
	}
	var changes []portal.Action[access.ClientRow]
	for _, m := range clientChanges {
		changes = append(changes, p.changeClient(m))
	}
	return slices.Concat(routes, portal.Actions(p.Portal, p.pathClient, changes...), portal.Actions(p.Portal, p.pathSecret, portal.Action[clientSecret]{
		Path: clientSecretsPath + "/{secret}/revoke", Right: portal.Administrator, Change: stepup.RevokeSecret, Ask: revokeSecretQuestion,
		Do: func(r *http.Request, v *portal.Visit, at *clientSecret) (string, error) {
			return "secret.revoked", p.Access.RevokeSecret(r.Context(), at.ID, at.secret.ID, v.Who.Actor(), v.ID)
		},
	}))
}

// clientsShown is the number of clients on one page.
const clientsShown = 50

var clientCrumbs = []kit.Link{{Label: "Clients", Href: portal.ClientsPath}}

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
	d := ClientsData{Rows: shown, First: links.First, Next: links.Next, Note: portal.WindowNote(links), CanEdit: portal.VisitOf(r).Has(portal.Administrator), Now: p.Now()}
	page := kit.Page{Title: "Clients", Lead: "A client is a program of an approved telco. It gets access tokens with its id and secret.", Active: portal.ClientsPath}
	if d.CanEdit {
		page.Actions = []kit.Action{{Label: "Create client", Href: newClientPath, Kind: kit.Primary}}
	}
	return p.Show(w, r, page, Clients(d))
}

// scopeHints explain what a scope lets a client do.
var scopeHints = map[access.Scope]string{
	access.EntityOnboard:  "Onboard telcos, each with its first admin. No further approval is needed.",
	access.DocumentUpload: "Upload documents for the organisations that it onboarded.",
	access.LineSupply:     "Supply the lines of one network: snapshots and events. Needs the network below.",
	access.LinePort:       "Report that numbers moved from one network to another. For the clearing house; never together with line:supply.",
	access.LineFlag:       "Report that a number is under suspicion. For a fraud desk.",
	access.LineOrder:      "Order that numbers are barred, blacklisted or released. For an authority.",
}

var newClientPage = kit.Page{
	Title: "New client", Lead: "For a telco that is already approved. The secret is shown once, on the next page.", Crumbs: clientCrumbs, Active: portal.ClientsPath,
}

// clientNetworks are the networks of the current numbering plan, to choose from.
func (p *Pages) clientNetworks(r *http.Request) ([]kit.Option, error) {
	options := []kit.Option{{Value: "", Label: "None"}}
	plan, err := numbering.Current(r.Context(), p.Pool, p.Now())
	if err != nil {
		return nil, err
	}
	for _, n := range plan.Networks() {
		options = append(options, kit.Option{Value: plan.Code(n), Label: plan.Code(n) + " · " + plan.Name(n)})
	}
	return options, nil
}

// newClient is the page /portal/desk/new-client.
func (p *Pages) newClient(r *http.Request, form kit.Form) (_ kit.Page, _ templ.Component, err error) {
	d := NewClientData{Form: form}
	for _, s := range access.Scopes {
		d.Scopes = append(d.Scopes, kit.Option{Value: string(s), Label: string(s), Hint: scopeHints[s]})
	}
	d.Networks, err = p.clientNetworks(r)
	return newClientPage, NewClient(d), err
}

// createClient serves POST /portal/desk/new-client. The secret is shown in this
// response and never again.
func (p *Pages) createClient(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	f := access.ClientForm{
		Name: strings.TrimSpace(r.PostFormValue("name")), Scopes: slices.Compact(slices.Sorted(slices.Values(r.PostForm["scope"]))),
		Network: r.PostFormValue("network"), Vouches: r.PostFormValue("vouches") == "yes", Sole: r.PostFormValue("sole") == "yes", Reason: portal.OneLine(r.PostFormValue("reason")),
	}
	networks, err := p.clientNetworks(r)
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(slices.ContainsFunc(networks, func(o kit.Option) bool { return o.Value == f.Network }), "network", fault.NotAllowed, "Choose a network of the numbering plan.")
	var c access.NewClient
	if err = wrong.Err(); err == nil {
		c, err = p.Access.CreateClient(r.Context(), f, v.Who.Actor(), v.ID)
	}
	if err != nil {
		return p.ShowErrors(w, r, err, p.newClient)
	}
	return p.showNewSecret(w, r, CreatedSecretData{ID: c.ID.String(), Name: f.Name, Secret: c.Secret.Reveal(), Waits: c.Pending != uuid.Nil})
}

func (p *Pages) showNewSecret(w http.ResponseWriter, r *http.Request, d CreatedSecretData) error {
	d.Curl = TokenExample(p.BaseURL(r), d.ID, d.Secret)
	page := kit.Page{Title: "New client secret", Lead: "Copy it now. It cannot be shown again.", Crumbs: clientCrumbs, Active: portal.ClientsPath}
	return p.Show(w, r, page, CreatedSecret(d))
}
