package keys

import (
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var keyCrumb = []kit.Link{{Label: "API settings", Href: keysPath}}

// showKeys serves GET /portal/keys. By default active keys come
// first, and the newest first among them and among the others.
func (p *Pages) showKeys(w http.ResponseWriter, r *http.Request) error {
	may, err := p.mayRevoke(r)
	if err != nil {
		return err
	}
	d, err := KeyPage(r, p.Access, portal.VisitOf(r).Who.Entity, p.Now(), may)
	if err != nil {
		return err
	}
	return p.Show(w, r, kit.Page{
		Title: "API settings", Lead: "Use one key per application, so that you can revoke it without affecting others.",
		Actions: []kit.Action{{Label: "Generate key", Href: newKeyPath, Kind: kit.Primary}},
	}, Keys(d))
}

var newKeyPage = kit.Page{
	Title: "New key", Lead: "The key is shown once, on the next page.", Crumbs: keyCrumb, Active: keysPath,
}

// newKey is the page /portal/new-key.
func (p *Pages) newKey(r *http.Request, f kit.Form) (_ kit.Page, _ templ.Component, err error) {
	d := NewKeyData{Form: f}
	if d.Purposes, err = p.purposeOptions(r); err != nil {
		return newKeyPage, nil, err
	}
	d.Missing, err = MissingForLiveKey(r, p.Portal)
	return newKeyPage, NewKey(d), err
}

// withoutMissing returns the form of somebody who asked for a live key without the
// right or with an incomplete account: a note says what is missing, and a test key is selected.
func withoutMissing(f kit.Form, err error) kit.Form {
	if !errors.Is(err, people.ErrIncompleteAccount) && !errors.Is(err, people.ErrNoKeyRight) {
		return f
	}
	values := maps.Clone(f.Values)
	values.Set("mode", access.Test)
	return kit.Form{Values: values}
}

// purposeOptions returns the purposes that a new key can have. Other comes last and is
// selected, so that nobody declares a purpose by leaving the field as it is.
func (p *Pages) purposeOptions(r *http.Request) (options []kit.Option, err error) {
	codes, err := p.Access.PurposeCodes(r.Context())
	for _, code := range codes {
		if code != access.OtherPurpose {
			options = append(options, kit.Option{Value: code, Label: PurposeLabel(code, "")})
		}
	}
	return append(options, kit.Option{Value: access.OtherPurpose, Label: "Other"}), err
}

const (
	maxDays     = 3650
	maxNetworks = 64
)

// createKey serves POST /portal/new-key. The key is shown in this response
// and never again.
func (p *Pages) createKey(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	f, err := keyForm(r)
	f.Entity = v.Who.Entity
	var key access.NewKey
	if err == nil {
		key, err = p.Access.CreateKey(r.Context(), f, v.Who.Actor(), v.ID)
	}
	if form, invalid := portal.FormErrors(r, err); invalid || errors.Is(err, people.ErrNoKeyRight) {
		return p.ShowAgain(w, r, err, p.newKey, withoutMissing(form, err))
	}
	if err != nil {
		return err
	}
	return p.showNewKeyOnce(w, r, key, f.Name, f.Mode, time.Time{})
}

// keyForm reads the form of a new key.
func keyForm(r *http.Request) (access.KeyForm, error) {
	f := access.KeyForm{Name: strings.TrimSpace(r.PostFormValue("name")), Mode: r.PostFormValue("mode"), Purpose: strings.TrimSpace(r.PostFormValue("purpose"))}
	for _, right := range access.KeyRights {
		if r.PostFormValue("right-"+right) == "yes" {
			f.Rights = append(f.Rights, right)
		}
	}
	var wrong fault.Form
	if code := r.PostFormValue("purposeCode"); code != "" && code != access.OtherPurpose {
		wrong.Check(f.Purpose == "", "purpose", fault.NotAllowed, "Leave this field empty, or select the purpose Other.")
		f.Purpose = code
	}
	if text := strings.TrimSpace(r.PostFormValue("expiresInDays")); text != "" {
		days, err := strconv.Atoi(text)
		wrong.Check(err == nil && days >= 0 && days <= maxDays, "expiresInDays", fault.NotAllowed, "Enter a number of days from 1 to 3650, or 0 for a key that is valid until it is revoked.")
		f.Expires = access.Days(days)
	}
	words := strings.FieldsFunc(r.PostFormValue("networks"), func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t' })
	wrong.Check(len(words) <= maxNetworks, "networks", fault.TooLong, "Enter at most 64 networks.")
	for _, text := range words[:min(len(words), maxNetworks)] {
		network, err := access.ParseNetwork(text)
		if err != nil {
			wrong.Once("networks", fault.BadFormat, "Write each address as 192.0.2.7, and each network as 192.0.2.0/24 or 2001:db8::/32.")
			continue
		}
		f.Networks = append(f.Networks, network)
	}
	if len(wrong.Violations()) > 0 { // report at once what CreateKey would report next
		wrong.Check(f.Name != "", "name", fault.Required, "Enter a name.")
		wrong.Check(f.Mode == access.Live || f.Mode == access.Test, "mode", fault.NotAllowed, "The mode must be live or test.")
	}
	return f, wrong.Err()
}

// showNewKeyOnce shows a key that was just created, with examples of its use.
func (p *Pages) showNewKeyOnce(w http.ResponseWriter, r *http.Request, key access.NewKey, name, mode string, oldEnds time.Time) error {
	number := p.exampleNumber(mode)
	base := p.BaseURL(r)
	d := CreatedKeyData{
		ID: key.ID.String(), Name: name, Mode: mode, Key: key.Text.Reveal(), OldExpires: oldEnds, Now: p.Now(), Number: number,
		Curl: curlExample(base, key.Text.Reveal(), number), Go: goExample(base, key.Text.Reveal(), number), TypeScript: typeScriptExample(base, key.Text.Reveal(), number),
	}
	return p.Show(w, r, kit.Page{Title: "Your new key", Lead: "Copy it now. It cannot be shown again.", Crumbs: keyCrumb, Active: keysPath}, CreatedKey(d))
}

// ownKey returns the key that the path names, if it belongs to the visitor's
// organisation, with its predecessor and successor.
func (p *Pages) ownKey(r *http.Request) (access.KeyChain, error) {
	return PathKey(r, p.Access, portal.VisitOf(r).Who.Entity)
}
