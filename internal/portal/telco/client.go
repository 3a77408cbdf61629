package telco

import (
	"errors"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
)

// The paths about the client of the visitor's organisation.
const (
	clientPath       = "/portal/client"
	secretsPath      = "/portal/client/secrets"
	secretRevokePath = "/portal/client/secrets/{secret}/revoke"
)

var clientPage = view.Page{Title: "API client", Lead: "The client with which your programs get access tokens.", Active: clientPath}

// clientParent is the page above the pages of secrets.
var clientParent = []view.Link{{Label: clientPage.Title, Href: clientPath}}

// ownClient returns the client that onboarded the visitor's organisation, and whether the
// organisation may change its secrets.
func (p *Pages) ownClient(r *http.Request) (c access.ClientRow, own bool, err error) {
	v := portal.VisitOf(r)
	c, err = p.Access.Client(r.Context(), v.Client)
	if err != nil {
		return c, false, err
	}
	err = p.Access.CheckOwn(r.Context(), &c, v.Who.Entity)
	if errors.Is(err, access.ErrNotOwn) {
		return c, false, nil
	}
	return c, err == nil && !c.Revoked, err
}

// showClient serves GET /portal/client.
func (p *Pages) showClient(w http.ResponseWriter, r *http.Request) error {
	d, err := p.clientData(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, clientPage, orgview.Client(d))
}

// clientData returns no data for an organisation without a client; the page then says so.
func (p *Pages) clientData(r *http.Request, form view.Form) (d orgview.ClientData, err error) {
	if portal.VisitOf(r).Client == uuid.Nil {
		return d, nil
	}
	c, own, err := p.ownClient(r)
	if err != nil {
		return d, err
	}
	d = orgview.ClientData{
		Form: form, ID: c.ID.String(), Name: c.Name, Network: c.Network, Scopes: c.Scopes, State: "Active", Tone: view.Good, LastToken: c.LastTokenAt, Own: own, Max: access.MaxSecrets, Now: p.Now(),
	}
	switch {
	case c.Revoked:
		d.State, d.Tone = "Revoked", view.Bad
	case c.Suspended:
		d.State, d.Tone = "Suspended", view.Warn
	}
	if own {
		if d.Missing, err = present.MissingForLiveKey(r, p.Portal); err != nil {
			return d, err
		}
	}
	secrets, err := p.Access.Secrets(r.Context(), c.ID)
	for _, s := range secrets {
		d.Secrets = append(d.Secrets, orgview.SecretRow{ID: s.ID.String(), Preview: s.Preview, Created: s.CreatedAt, Used: s.LastUsedAt, Waits: s.Waits})
	}
	return d, err
}

// addSecret serves POST /portal/client/secrets. The secret is shown in this response
// and never again. The old one stays valid until it is revoked.
func (p *Pages) addSecret(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	var old []access.SecretRow
	s, err := access.NewSecret{}, error(access.ErrNoClient)
	if v.Client != uuid.Nil {
		if old, err = p.Access.Secrets(r.Context(), v.Client); err != nil {
			return err
		}
		s, err = p.Access.AddOwnSecret(r.Context(), v.Client, v.Who.Entity, v.Who.Actor(), v.ID)
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		d, failed := p.clientData(r, view.Form{Message: form.Message}) // the page itself says what the account lacks
		if failed != nil {
			return failed
		}
		return p.ShowInvalid(w, r, err, clientPage, orgview.Client(d))
	}
	if err != nil {
		return err
	}
	d := orgview.CreatedSecretData{ID: v.Client.String(), Secret: s.Text.Reveal(), Curl: present.TokenExample(p.BaseURL(r), v.Client.String(), s.Text.Reveal())}
	if len(old) > 0 {
		d.Old, d.OldPreview = old[0].ID.String(), old[0].Preview
	}
	return p.Show(w, r, view.Page{Title: "New client secret", Lead: "Copy it now. It cannot be shown again.", Crumbs: clientParent, Active: clientPath}, orgview.CreatedSecret(d))
}

// ownSecret returns the client and its secret that the path names, if the organisation may
// change it.
func (p *Pages) ownSecret(r *http.Request) (c access.ClientRow, s access.SecretRow, err error) {
	id, err := portal.PathID(r, "secret")
	if err != nil || portal.VisitOf(r).Client == uuid.Nil {
		return c, s, portal.ErrNotFound
	}
	c, own, err := p.ownClient(r)
	if err != nil {
		return c, s, err
	}
	list, err := p.Access.Secrets(r.Context(), c.ID)
	if err != nil {
		return c, s, err
	}
	i := slices.IndexFunc(list, func(s access.SecretRow) bool { return s.ID == id })
	if !own || i < 0 {
		return c, s, portal.ErrNotFound
	}
	return c, list[i], nil
}

// confirmRevokeSecret serves GET /portal/client/secrets/{secret}/revoke.
func (p *Pages) confirmRevokeSecret(w http.ResponseWriter, r *http.Request) error {
	c, s, err := p.ownSecret(r)
	if err != nil {
		return err
	}
	text := "The secret " + s.Preview + " is revoked for good. Tokens that were issued for it stay valid until they expire."
	if c.Secrets == 1 {
		text = "It is the only secret: without another one your programs get no more tokens. " + text
	}
	return p.Show(w, r, view.Page{Title: "Revoke secret", Crumbs: clientParent, Active: clientPath}, view.Confirm(view.ConfirmData{
		Text: text, Action: secretsPath + "/" + s.ID.String() + "/revoke", Label: "Revoke secret", Kind: view.Danger, Cancel: clientPath,
	}))
}

// revokeSecret serves POST /portal/client/secrets/{secret}/revoke.
func (p *Pages) revokeSecret(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	c, s, err := p.ownSecret(r)
	if err != nil {
		return err
	}
	if err := p.Access.RevokeSecret(r.Context(), c.ID, s.ID, v.Who.Actor(), v.ID); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, clientPath, "secret.revoked")
}
