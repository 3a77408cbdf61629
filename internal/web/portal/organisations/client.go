package organisations

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
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

// clientPage is the page /portal/desk/clients/{client}.
func (p *Pages) clientPage(r *http.Request, form kit.Form) (page kit.Page, _ templ.Component, err error) {
	c, err := p.pathClient(r)
	if err != nil {
		return page, nil, err
	}
	page = kit.Page{Title: c.Name, Crumbs: clientCrumbs, Active: portal.ClientsPath}
	d := ClientData{
		Row: &c, Form: form, Max: access.MaxSecrets, CanEdit: portal.VisitOf(r).Has(portal.Administrator), Entities: portal.EntitiesPath + "?client=" + c.ID.String(), Now: p.Now(),
	}
	d.TwoPeople = slices.ContainsFunc(c.Scopes, access.ChangesLines)
	if d.Secrets, err = p.Access.Secrets(r.Context(), c.ID); err != nil {
		return page, nil, err
	}
	for _, m := range clientChanges {
		if d.CanEdit && m.offered(&c) {
			d.Moves = append(d.Moves, kit.Action{Label: m.label, Href: portal.ClientURL(c.ID) + "/" + m.verb, Kind: m.kind})
		}
	}
	d.Trail, err = approvals.Trail(r, p.Portal, audit.Filter{Subject: c.ID, Before: web.CursorID(r)})
	return page, Client(d), err
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
	if err != nil {
		return p.ShowErrors(w, r, err, p.clientPage)
	}
	return p.showNewSecret(w, r, CreatedSecretData{ID: c.ID.String(), Name: c.Name, Secret: s.Text.Reveal(), Second: c.Secrets > 0, Waits: s.Pending != uuid.Nil})
}

// clientSecret is a client and a secret of it.
type clientSecret struct {
	access.ClientRow

	secret access.SecretRow
}

// pathSecret returns the client and its secret that the path names.
func (p *Pages) pathSecret(r *http.Request) (at clientSecret, err error) {
	if at.ClientRow, err = p.pathClient(r); err != nil {
		return at, err
	}
	id, err := portal.PathID(r, "secret")
	if err != nil {
		return at, err
	}
	list, err := p.Access.Secrets(r.Context(), at.ID)
	if err != nil {
		return at, err
	}
	i := slices.IndexFunc(list, func(s access.SecretRow) bool { return s.ID == id })
	if i < 0 {
		return at, portal.ErrNotFound
	}
	at.secret = list[i]
	return at, nil
}

func clientPageCrumbs(c *access.ClientRow) []kit.Link {
	return append(clientCrumbs[:1:1], kit.Link{Label: c.Name, Href: portal.ClientURL(c.ID)})
}

func revokeSecretQuestion(at *clientSecret, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{
		Title: "Revoke secret", Crumbs: clientPageCrumbs(&at.ClientRow), Label: "Revoke secret", Kind: kit.Danger, Cancel: portal.ClientURL(at.ID),
		Text: "The secret " + at.secret.Preview + " of " + at.Name + " is revoked for good. Tokens that were issued for it end with it, on every node within five seconds.",
	}
	if at.Secrets == 1 {
		q.Text = "It is the client's only secret: without another one the client gets no more tokens. " + q.Text
	}
	return q
}

// clientChange is an action that stops or resumes a client.
type clientChange struct {
	verb, label, title, text string
	kind                     kit.Kind
	typed                    bool // the name has to be typed
	offered                  func(*access.ClientRow) bool
	done                     string
	do                       func(*access.Service, context.Context, uuid.UUID, audit.Actor, uuid.UUID) error
}

var clientChanges = []clientChange{
	{
		verb: "suspend", label: "Suspend client", title: "Suspend client", kind: kit.Danger, done: "client.suspended", do: (*access.Service).SuspendClient,
		text:    "is stopped: within five seconds every node refuses its tokens, and it gets no new ones until it is resumed. The organisations that it onboarded are not affected.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked && !c.Suspended },
	},
	{
		verb: "resume", label: "Resume client", title: "Resume client", kind: kit.Primary, done: "client.resumed", do: (*access.Service).ResumeClient,
		text:    "is resumed, with its secrets and its tokens that have not expired.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked && c.Suspended },
	},
	{
		verb: "revoke", label: "Revoke client", title: "Revoke client", kind: kit.Danger, typed: true, done: "client.revoked", do: (*access.Service).RevokeClient,
		text:    "is revoked for good, with all its tokens. This cannot be undone: you would have to create a new client. The organisations that it onboarded are not affected.",
		offered: func(c *access.ClientRow) bool { return !c.Revoked },
	},
}

func (m *clientChange) question(c *access.ClientRow, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{Title: m.title, Crumbs: clientPageCrumbs(c), Text: c.Name + " " + m.text, Label: m.label, Kind: m.kind, Cancel: portal.ClientURL(c.ID)}
	if m.typed {
		q.Word = strings.TrimSpace(c.Name)
	}
	return q
}

// changeClient suspends, resumes or revokes a client.
func (p *Pages) changeClient(m clientChange) portal.Action[access.ClientRow] {
	return portal.Action[access.ClientRow]{
		Path: clientPath + "/" + m.verb, Right: portal.Administrator, Change: stepup.ChangeClient, Ask: m.question,
		Do: func(r *http.Request, v *portal.Visit, c *access.ClientRow) (string, error) {
			var wrong fault.Form
			wrong.Check(!m.typed || portal.SameText(r.PostFormValue("confirm"), c.Name), "confirm", fault.NotAllowed, "Type the name of the client as shown above.")
			if err := wrong.Err(); err != nil {
				return "", err
			}
			return m.done, m.do(p.Access, r.Context(), c.ID, v.Who.Actor(), v.ID)
		},
	}
}
