package desk

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/web"
)

// pathClient returns the client that the path names.
func (p *Pages) pathClient(r *http.Request) (access.ClientRow, error) {
	id, err := portal.PathID(r, "client")
	if err != nil {
		return access.ClientRow{}, err
	}
	c, err := p.Access.Client(r.Context(), id)
	if portal.IsCode(err, fault.NotFound) {
		return access.ClientRow{}, portal.ErrNotFound
	}
	return c, err
}

// showClient serves GET /portal/desk/clients/{client}.
func (p *Pages) showClient(w http.ResponseWriter, r *http.Request) error {
	c, err := p.pathClient(r)
	if err != nil {
		return err
	}
	page, d, err := p.clientPage(r, &c, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, page, deskview.Client(d))
}

func (p *Pages) clientPage(r *http.Request, c *access.ClientRow, form view.Form) (view.Page, deskview.ClientData, error) {
	ctx := r.Context()
	page := view.Page{Title: c.Name, Crumbs: clientCrumbs, Active: clientsPath}
	d := deskview.ClientData{
		Row: clientRow(c), Form: form, Max: access.MaxSecrets, CanEdit: portal.VisitOf(r).Has(portal.Administrator), Entities: entitiesPath + "?client=" + c.ID.String(), Now: p.Now(),
	}
	d.TwoPeople = slices.ContainsFunc(c.Scopes, access.ChangesLines)
	secrets, err := p.Access.Secrets(ctx, c.ID)
	if err != nil {
		return page, d, err
	}
	for _, s := range secrets {
		d.Secrets = append(d.Secrets, deskview.ClientSecretRow{ID: s.ID.String(), Preview: s.Preview, Created: s.CreatedAt, Used: s.LastUsedAt, Waits: s.Waits})
	}
	for _, m := range clientChanges {
		if d.CanEdit && m.offered(c) {
			d.Moves = append(d.Moves, view.Action{Label: m.label, Href: clientURL(c.ID) + "/" + m.verb, Kind: m.kind})
		}
	}
	d.Trail, err = p.trail(r, audit.Filter{Subject: c.ID, Before: web.CursorID(r)})
	return page, d, err
}

// addSecret serves POST /portal/desk/clients/{client}/secrets. The secret is
// shown in this response and never again.
func (p *Pages) addSecret(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	c, err := p.pathClient(r)
	if err != nil {
		return err
	}
	s, err := p.Access.AddSecret(r.Context(), c.ID, portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		page, d, failed := p.clientPage(r, &c, form)
		if failed != nil {
			return failed
		}
		return p.ShowInvalid(w, r, err, page, deskview.Client(d))
	}
	if err != nil {
		return err
	}
	return p.showNewSecret(w, r, deskview.CreatedSecretData{ID: c.ID.String(), Name: c.Name, Secret: s.Text.Reveal(), Second: c.Secrets > 0, Waits: s.Pending != uuid.Nil})
}

// clientSecret returns the client and its secret that the path names.
func (p *Pages) clientSecret(r *http.Request) (access.ClientRow, access.SecretRow, error) {
	c, err := p.pathClient(r)
	if err != nil {
		return access.ClientRow{}, access.SecretRow{}, err
	}
	id, err := portal.PathID(r, "secret")
	if err != nil {
		return access.ClientRow{}, access.SecretRow{}, err
	}
	list, err := p.Access.Secrets(r.Context(), c.ID)
	if err != nil {
		return access.ClientRow{}, access.SecretRow{}, err
	}
	i := slices.IndexFunc(list, func(s access.SecretRow) bool { return s.ID == id })
	if i < 0 {
		return access.ClientRow{}, access.SecretRow{}, portal.ErrNotFound
	}
	return c, list[i], nil
}

func clientPageCrumbs(c *access.ClientRow) []view.Link {
	return append(clientCrumbs[:1:1], view.Link{Label: c.Name, Href: clientURL(c.ID)})
}

// confirmRevokeSecret serves GET /portal/desk/clients/{client}/secrets/{secret}/revoke.
func (p *Pages) confirmRevokeSecret(w http.ResponseWriter, r *http.Request) error {
	c, s, err := p.clientSecret(r)
	if err != nil {
		return err
	}
	text := "The secret " + s.Preview + " of " + c.Name + " is revoked for good. Tokens that were issued for it stay valid until they expire; to stop those as well, suspend the client."
	if c.Secrets == 1 {
		text = "It is the client's only secret: without another one the client gets no more tokens. " + text
	}
	return p.Show(w, r, view.Page{Title: "Revoke secret", Crumbs: clientPageCrumbs(&c), Active: clientsPath}, view.Confirm(view.ConfirmData{
		Text: text, Action: clientURL(c.ID) + "/secrets/" + s.ID.String() + "/revoke", Label: "Revoke secret", Kind: view.Danger, Cancel: clientURL(c.ID),
	}))
}

// revokeSecret serves POST /portal/desk/clients/{client}/secrets/{secret}/revoke.
func (p *Pages) revokeSecret(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	c, s, err := p.clientSecret(r)
	if err != nil {
		return err
	}
	if err := p.Access.RevokeSecret(r.Context(), c.ID, s.ID, v.Who.Actor(), v.ID); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, clientURL(c.ID), "secret.revoked")
}

// clientChange is an action that stops or resumes a client.
type clientChange struct {
	verb, label, title, text string
	kind                     view.Kind
	typed                    bool // the name has to be typed
	offered                  func(*access.ClientRow) bool
	done                     string
	do                       func(*access.Service, context.Context, uuid.UUID, audit.Actor, uuid.UUID) error
}

var clientChanges = []clientChange{
	{
		verb: "suspend", label: "Suspend client", title: "Suspend client", kind: view.Danger, done: "client.suspended", do: (*access.Service).SuspendClient,
		text:    "is stopped: within five seconds every node refuses its tokens, and it gets no new ones until it is resumed. The organisations that it onboarded are not affected.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked && !c.Suspended },
	},
	{
		verb: "resume", label: "Resume client", title: "Resume client", kind: view.Primary, done: "client.resumed", do: (*access.Service).ResumeClient,
		text:    "is resumed, with its secrets and its tokens that have not expired.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked && c.Suspended },
	},
	{
		verb: "revoke", label: "Revoke client", title: "Revoke client", kind: view.Danger, typed: true, done: "client.revoked", do: (*access.Service).RevokeClient,
		text:    "is revoked for good, with all its tokens. This cannot be undone: you would have to create a new client. The organisations that it onboarded are not affected.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked },
	},
}

func (m *clientChange) page(c *access.ClientRow) view.Page {
	return view.Page{Title: m.title, Crumbs: clientPageCrumbs(c), Active: clientsPath}
}

func (m *clientChange) question(c *access.ClientRow, f view.Form) view.ConfirmData {
	q := view.ConfirmData{Text: c.Name + " " + m.text, Action: clientURL(c.ID) + "/" + m.verb, Label: m.label, Kind: m.kind, Cancel: clientURL(c.ID), Form: f}
	if m.typed {
		q.Word = strings.TrimSpace(c.Name)
	}
	return q
}

// confirmChangeClient serves GET of /portal/desk/clients/{client}/suspend, resume,
// revoke.
func (p *Pages) confirmChangeClient(m clientChange) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := p.pathClient(r)
		if err != nil {
			return err
		}
		return p.Show(w, r, m.page(&c), view.Confirm(m.question(&c, view.Form{})))
	}
}

// changeClient serves POST of the same.
func (p *Pages) changeClient(m clientChange) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := portal.VisitOf(r)
		c, err := p.pathClient(r)
		if err != nil {
			return err
		}
		var wrong fault.Form
		wrong.Check(!m.typed || portal.SameText(r.PostFormValue("confirm"), c.Name), "confirm", fault.NotAllowed, "Type the name of the client as shown above.")
		if err = wrong.Err(); err == nil {
			err = m.do(p.Access, r.Context(), c.ID, v.Who.Actor(), v.ID)
		}
		if form, invalid := portal.FormErrors(r, err); invalid {
			return p.ShowInvalid(w, r, err, m.page(&c), view.Confirm(m.question(&c, form)))
		}
		if err != nil {
			return err
		}
		return p.RedirectWithFlash(w, r, clientURL(c.ID), m.done)
	}
}
