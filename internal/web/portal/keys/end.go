package keys

import (
	"errors"
	"net/http"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// mayRevoke returns which keys of the organisation the visitor may revoke. The others can be
// reported as leaked.
func (p *Pages) mayRevoke(r *http.Request) (func(*access.KeyRow) bool, error) {
	who := portal.VisitOf(r).Who
	makes, err := p.People.MakesKeys(r.Context(), p.Pool, who.Account)
	return func(k *access.KeyRow) bool { return k.MayRevoke(who.Account, makes) }, err
}

// confirmRevokeKey serves GET /portal/keys/{key}/revoke.
func (p *Pages) confirmRevokeKey(w http.ResponseWriter, r *http.Request) error {
	chain, err := p.ownKey(r)
	if err != nil {
		return err
	}
	may, err := p.mayRevoke(r)
	if err != nil {
		return err
	}
	q := revokeQuestion(&chain.Key)
	if !may(&chain.Key) {
		q = reportQuestion(&chain.Key, kit.Form{})
	}
	page, body := portal.Question(r, q, kit.Form{})
	return p.Show(w, r, page, body)
}

func keyCrumbs(k *access.KeyRow) []kit.Link {
	return append(keyCrumb[:1:1], kit.Link{Label: k.Name, Href: keyURL(k.ID)})
}

func revokeQuestion(k *access.KeyRow) kit.ConfirmData {
	return RevokeKeyQuestion(k, keyURL(k.ID), keyCrumbs(k))
}

// revokeKey serves POST /portal/keys/{key}/revoke.
func (p *Pages) revokeKey(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	chain, err := p.ownKey(r)
	if err != nil {
		return err
	}
	if err = CheckKeyName(r, &chain.Key); err == nil {
		err = p.Access.RevokeKey(r.Context(), v.Who.Entity, chain.Key.ID, v.Who.Actor(), v.ID)
	}
	q := revokeQuestion(&chain.Key)
	form, invalid := portal.FormErrors(r, err)
	if errors.Is(err, access.ErrNoRevokeRight) {
		q, form.Message, invalid = reportQuestion(&chain.Key, form), portal.FaultOf(err).Message, true
	}
	if invalid {
		page, body := portal.Question(r, q, form)
		return p.ShowInvalid(w, r, err, page, body)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, keysPath, "key.revoked")
}

func (p *Pages) ownKeyRow(r *http.Request) (access.KeyRow, error) {
	chain, err := p.ownKey(r)
	return chain.Key, err
}

func reportQuestion(k *access.KeyRow, _ kit.Form) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Report leaked key", Crumbs: keyCrumbs(k), Action: keyURL(k.ID) + "/report-leaked", Label: "Report as leaked", Kind: kit.Danger, Cancel: keyURL(k.ID),
		Text: "All admins of your organisation are told at once by e-mail that the key " + k.Preview + " of “" + k.Name +
			"” has leaked. The key works until one of them, a member who may create live keys, or whoever created it revokes it.",
	}
}

// reportKey reports a key as leaked.
func (p *Pages) reportKey(r *http.Request, v *portal.Visit, k *access.KeyRow) (string, error) {
	return "key.reported", p.Access.ReportLeak(r.Context(), v.Who.Entity, k.ID, v.Who.Actor(), v.ID)
}
