package portal

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// pathClient returns the client that the path names.
func (p *Portal) pathClient(r *http.Request) (access.ClientRow, error) {
	id, err := idOf(r, "client")
	if err != nil {
		return access.ClientRow{}, err
	}
	c, err := p.Keeper.Client(r.Context(), id)
	if isCode(err, fault.NotFound) {
		return access.ClientRow{}, errNoPage
	}
	return c, err
}

// showClient serves GET /portal/desk/clients/{client}.
func (p *Portal) showClient(w http.ResponseWriter, r *http.Request) error {
	c, err := p.pathClient(r)
	if err != nil {
		return err
	}
	page, d, err := p.clientPage(r, &c, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, page, view.Client(d))
}

func (p *Portal) clientPage(r *http.Request, c *access.ClientRow, form view.Form) (view.Page, view.ClientData, error) {
	ctx := r.Context()
	page := view.Page{Title: c.Name, Crumbs: clientCrumbs, Active: clientsPath}
	d := view.ClientData{
		Row: clientRow(c), Form: form, Most: access.MostSecrets, May: visitOf(r).has(administrator), Entities: entitiesPath + "?client=" + c.ID.String(), Now: p.Now(),
	}
	secrets, err := p.Keeper.Secrets(ctx, c.ID)
	if err != nil {
		return page, d, err
	}
	for _, s := range secrets {
		d.Secrets = append(d.Secrets, view.ClientSecretRow{ID: s.ID.String(), Preview: s.Preview, Created: s.CreatedAt, Used: s.LastUsedAt})
	}
	for _, m := range clientChanges {
		if d.May && m.offered(c) {
			d.Moves = append(d.Moves, view.Action{Label: m.label, Href: clientHref(c.ID) + "/" + m.verb, Kind: m.kind})
		}
	}
	d.Trail, err = p.trail(r, audit.Filter{Subject: c.ID})
	return page, d, err
}

// addSecret serves POST /portal/desk/clients/{client}/secrets. The secret is
// shown in this answer and nowhere else.
func (p *Portal) addSecret(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	c, err := p.pathClient(r)
	if err != nil {
		return err
	}
	s, err := p.Keeper.AddSecret(r.Context(), c.ID, v.who.Actor(), v.id)
	if form, wrong := formOf(r, err); wrong {
		page, d, failed := p.clientPage(r, &c, form)
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, page, view.Client(d))
	}
	if err != nil {
		return err
	}
	return p.showMadeSecret(w, r, view.MadeSecretData{ID: c.ID.String(), Name: c.Name, Secret: s.Text.Reveal(), Second: c.Secrets > 0})
}

// clientSecret returns the client and the secret of it that the path names.
func (p *Portal) clientSecret(r *http.Request) (access.ClientRow, access.SecretRow, error) {
	c, err := p.pathClient(r)
	if err != nil {
		return access.ClientRow{}, access.SecretRow{}, err
	}
	id, err := idOf(r, "secret")
	if err != nil {
		return access.ClientRow{}, access.SecretRow{}, err
	}
	list, err := p.Keeper.Secrets(r.Context(), c.ID)
	if err != nil {
		return access.ClientRow{}, access.SecretRow{}, err
	}
	i := slices.IndexFunc(list, func(s access.SecretRow) bool { return s.ID == id })
	if i < 0 {
		return access.ClientRow{}, access.SecretRow{}, errNoPage
	}
	return c, list[i], nil
}

func oneClientCrumbs(c *access.ClientRow) []view.Link {
	return append(clientCrumbs[:1:1], view.Link{Label: c.Name, Href: clientHref(c.ID)})
}

// askRevokeSecret serves GET /portal/desk/clients/{client}/secrets/{secret}/revoke.
func (p *Portal) askRevokeSecret(w http.ResponseWriter, r *http.Request) error {
	c, s, err := p.clientSecret(r)
	if err != nil {
		return err
	}
	text := "The secret " + s.Preview + " of " + c.Name + " ends for good. Tokens that it got stand until they expire; to end those, too, suspend the client."
	if c.Secrets == 1 {
		text = "It is the client's only secret: without another it gets no more tokens. " + text
	}
	return p.show(w, r, view.Page{Title: "Revoke a secret", Crumbs: oneClientCrumbs(&c), Active: clientsPath}, view.Confirm(view.ConfirmData{
		Text: text, Action: clientHref(c.ID) + "/secrets/" + s.ID.String() + "/revoke", Label: "Revoke the secret", Kind: view.Danger, Cancel: clientHref(c.ID),
	}))
}

// revokeSecret serves POST /portal/desk/clients/{client}/secrets/{secret}/revoke.
func (p *Portal) revokeSecret(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	c, s, err := p.clientSecret(r)
	if err != nil {
		return err
	}
	if err := p.Keeper.RevokeSecret(r.Context(), c.ID, s.ID, v.who.Actor(), v.id); err != nil {
		return err
	}
	return p.goOn(w, r, clientHref(c.ID), "secret.revoked")
}

// clientChange is a way in which a client is stopped or goes on.
type clientChange struct {
	verb, label, title, text string
	kind                     view.Kind
	typed                    bool // the name has to be typed
	offered                  func(*access.ClientRow) bool
	done                     string
	do                       func(*access.Keeper, context.Context, uuid.UUID, audit.Actor, uuid.UUID) error
}

var clientChanges = []clientChange{
	{
		verb: "suspend", label: "Suspend", title: "Suspend a client", kind: view.Danger, done: "client.suspended", do: (*access.Keeper).SuspendClient,
		text:    "is stopped: within five seconds every node refuses its tokens, and it gets no new ones until it is resumed. The organisations that it brought in are not touched.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked && !c.Suspended },
	},
	{
		verb: "resume", label: "Resume", title: "Let a client go on", kind: view.Primary, done: "client.resumed", do: (*access.Keeper).ResumeClient,
		text:    "goes on, with its secrets and those of its tokens that have not expired.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked && c.Suspended },
	},
	{
		verb: "revoke", label: "Revoke", title: "Revoke a client", kind: view.Danger, typed: true, done: "client.revoked", do: (*access.Keeper).RevokeClient,
		text:    "ends for good, and every token that it holds. It cannot be undone: make a new client instead. The organisations that it brought in are not touched.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked },
	},
}

func (m *clientChange) page(c *access.ClientRow) view.Page {
	return view.Page{Title: m.title, Crumbs: oneClientCrumbs(c), Active: clientsPath}
}

func (m *clientChange) question(c *access.ClientRow, f view.Form) view.ConfirmData {
	q := view.ConfirmData{Text: c.Name + " " + m.text, Action: clientHref(c.ID) + "/" + m.verb, Label: m.label, Kind: m.kind, Cancel: clientHref(c.ID), Form: f}
	if m.typed {
		q.Word = strings.TrimSpace(c.Name)
	}
	return q
}

// askChangeClient serves GET of /portal/desk/clients/{client}/suspend, resume,
// revoke.
func (p *Portal) askChangeClient(m clientChange) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := p.pathClient(r)
		if err != nil {
			return err
		}
		return p.show(w, r, m.page(&c), view.Confirm(m.question(&c, view.Form{})))
	}
}

// changeClient serves POST of the same.
func (p *Portal) changeClient(m clientChange) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := visitOf(r)
		c, err := p.pathClient(r)
		if err != nil {
			return err
		}
		var wrong fault.Form
		wrong.Check(!m.typed || sameWord(r.PostFormValue("confirm"), c.Name), "confirm", fault.NotAllowed, "Type the name of the client as it stands above.")
		if err = wrong.Err(); err == nil {
			err = m.do(p.Keeper, r.Context(), c.ID, v.who.Actor(), v.id)
		}
		if form, wrong := formOf(r, err); wrong {
			return p.showAgain(w, r, err, m.page(&c), view.Confirm(m.question(&c, form)))
		}
		if err != nil {
			return err
		}
		return p.goOn(w, r, clientHref(c.ID), m.done)
	}
}
