package organisations

import (
	"errors"
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/keys"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths about the client of the visitor's organisation.
const (
	ownClientPath  = "/portal/client"
	ownSecretsPath = "/portal/client/secrets"
	ownRevokePath  = "/portal/client/secrets/{secret}/revoke"
)

var ownClientPage = kit.Page{Title: "API client", Lead: "The client with which your programs get access tokens.", Active: ownClientPath}

// clientParent is the page above the pages of secrets.
var clientParent = []kit.Link{{Label: ownClientPage.Title, Href: ownClientPath}}

// OwnPages serves the page of an operator's own client.
type OwnPages struct {
	*portal.Portal
}

// Routes returns the routes of these pages.
func (p *OwnPages) Routes() []portal.Route {
	return append([]portal.Route{
		{Method: http.MethodGet, Path: ownClientPath, Right: portal.TelcoAdmin, Serve: p.ShowForm(p.client)},
		{Method: http.MethodPost, Path: ownSecretsPath, Right: portal.TelcoAdmin, Action: stepup.AddSecret, Serve: p.addSecret},
	}, portal.Actions(p.Portal, p.pathSecret, portal.Action[ownSecret]{
		Path: ownRevokePath, Right: portal.TelcoAdmin, Change: stepup.RevokeSecret, Ask: revokeQuestion, Do: p.revokeSecret,
	})...)
}

// ownClient returns the client that onboarded the visitor's organisation, and whether the
// organisation may change its secrets.
func (p *OwnPages) ownClient(r *http.Request) (c access.ClientRow, own bool, err error) {
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

// client is the page /portal/client. For an organisation without a client it says so.
func (p *OwnPages) client(r *http.Request, form kit.Form) (_ kit.Page, _ templ.Component, err error) {
	if portal.VisitOf(r).Client == uuid.Nil {
		return ownClientPage, OwnClient(OwnClientData{}), nil
	}
	c, own, err := p.ownClient(r)
	if err != nil {
		return ownClientPage, nil, err
	}
	d := OwnClientData{ClientRow: &c, Form: form, Own: own, Max: access.MaxSecrets, Now: p.Now()}
	if own {
		if d.Missing, err = keys.MissingForLiveKey(r, p.Portal); err != nil {
			return ownClientPage, nil, err
		}
	}
	d.Active, err = p.Access.Secrets(r.Context(), c.ID)
	return ownClientPage, OwnClient(d), err
}

// addSecret serves POST /portal/client/secrets. The secret is shown in this response
// and never again. The old one stays valid until it is revoked.
func (p *OwnPages) addSecret(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	var old []access.SecretRow
	s, err := access.NewSecret{}, error(access.ErrNoClient)
	if v.Client != uuid.Nil {
		if old, err = p.Access.Secrets(r.Context(), v.Client); err != nil {
			return err
		}
		s, err = p.Access.AddOwnSecret(r.Context(), v.Client, v.Who.Entity, v.Who.Actor(), v.ID)
	}
	if err != nil {
		return p.ShowErrors(w, r, err, func(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
			return p.client(r, kit.Form{Message: form.Message}) // the page itself says what the account lacks
		})
	}
	d := OwnSecretData{ID: v.Client.String(), Secret: s.Text.Reveal(), Curl: TokenExample(p.BaseURL(r), v.Client.String(), s.Text.Reveal())}
	if len(old) > 0 {
		d.Old, d.OldPreview = old[0].ID.String(), old[0].Preview
	}
	return p.Show(w, r, kit.Page{Title: "New client secret", Lead: "Copy it now. It cannot be shown again.", Crumbs: clientParent, Active: ownClientPath}, OwnSecret(d))
}

// ownSecret is a secret of the client of an organisation that may change it.
type ownSecret struct {
	access.SecretRow

	client uuid.UUID
	only   bool
}

// pathSecret returns the secret that the path names.
func (p *OwnPages) pathSecret(r *http.Request) (s ownSecret, err error) {
	id, err := portal.PathID(r, "secret")
	if err != nil || portal.VisitOf(r).Client == uuid.Nil {
		return s, portal.ErrNotFound
	}
	c, own, err := p.ownClient(r)
	if err != nil {
		return s, err
	}
	list, err := p.Access.Secrets(r.Context(), c.ID)
	if err != nil {
		return s, err
	}
	i := slices.IndexFunc(list, func(s access.SecretRow) bool { return s.ID == id })
	if !own || i < 0 {
		return s, portal.ErrNotFound
	}
	return ownSecret{list[i], c.ID, c.Secrets == 1}, nil
}

func revokeQuestion(s *ownSecret, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{
		Title: "Revoke secret", Crumbs: clientParent, Label: "Revoke secret", Kind: kit.Danger, Cancel: ownClientPath,
		Text: "The secret " + s.Preview + " is revoked for good. Tokens that were issued for it end with it, on every node within five seconds.",
	}
	if s.only {
		q.Text = "It is the only secret: without another one your programs get no more tokens. " + q.Text
	}
	return q
}

func (p *OwnPages) revokeSecret(r *http.Request, v *portal.Visit, s *ownSecret) (string, error) {
	return "secret.revoked", p.Access.RevokeSecret(r.Context(), s.client, s.ID, v.Who.Actor(), v.ID)
}
