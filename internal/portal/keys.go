package portal

import (
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
)

var keyCrumb = []view.Link{{Label: "API settings", Href: keysPath}}

// keysShown is how many keys one page lists.
const keysShown = 50

// showKeys serves GET /portal/keys. Unless the visitor wants it otherwise, those
// that stand come first, each kind the newest first.
func (p *Portal) showKeys(w http.ResponseWriter, r *http.Request) error {
	d, err := p.keyPage(r, visitOf(r).who.Entity)
	if err != nil {
		return err
	}
	return p.show(w, r, view.Page{
		Title: "API settings", Lead: "A key lets one application ask. Give each its own, so that one can be ended without the others.",
		Actions: []view.Action{{Label: "Generate a key", Href: newKeyPath, Kind: view.Primary}},
	}, view.Keys(d))
}

// keyPage returns the page of an organisation's keys that a request asks for.
func (p *Portal) keyPage(r *http.Request, entity uuid.UUID) (view.KeysData, error) {
	o := orderOf(r, string(access.KeysByName), string(access.KeysByCreated), string(access.KeysByUsed), string(access.KeysByExpires))
	s := access.KeySearch{Entity: entity, Sort: access.KeySort(o.column), Descending: o.desc, After: r.URL.Query().Get("after"), Limit: keysShown}
	page, err := p.Keeper.KeyPage(r.Context(), s)
	if err != nil {
		return view.KeysData{}, err
	}
	d := view.KeysData{Heads: o.head, Now: p.Now()}
	if s.After != "" {
		d.First = pageAfter(r, "")
	}
	if page.Next != "" {
		d.Next = pageAfter(r, page.Next)
	}
	if d.First != "" || d.Next != "" {
		d.Note = view.Count(page.Total) + " keys"
	}
	for i := range page.Keys {
		d.Rows = append(d.Rows, keyRow(&page.Keys[i], d.Now))
	}
	return d, nil
}

func keyRow(k *access.KeyRow, now time.Time) view.KeyRow {
	row := view.KeyRow{
		ID: k.ID.String(), Name: k.Name, Mode: k.Mode, Purpose: k.Purpose, Preview: k.Preview, Created: k.CreatedAt, Expires: k.ExpiresAt,
		Revoked: k.RevokedAt, Used: k.LastUsedAt, UsedFrom: k.LastUsedFrom, Rolled: k.Rolled, Over: !k.InForce(now), State: "In force", Tone: view.Good,
	}
	for _, n := range k.Networks {
		row.Networks = append(row.Networks, n.String())
	}
	switch {
	case !k.RevokedAt.IsZero():
		row.State, row.Tone = "Revoked", view.Bad
	case row.Over:
		row.State, row.Tone = "Expired", view.Neutral
	case !k.ExpiresAt.IsZero() && (k.Rolled || k.ExpiresAt.Sub(now) < soon(k)):
		row.State, row.Tone = "Ends soon", view.Warn
	}
	return row
}

// soon is how long before its end a key is said to end soon. One that was made
// for a day does not from its birth.
func soon(k *access.KeyRow) time.Duration {
	return min(14*24*time.Hour, k.ExpiresAt.Sub(k.CreatedAt)/4)
}

var newKeyPage = view.Page{
	Title: "Generate a key", Lead: "It is shown once, on the next page.", Crumbs: keyCrumb, Active: keysPath,
}

// showNewKey serves GET /portal/new-key.
func (p *Portal) showNewKey(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, newKeyPage, view.NewKey(view.Form{}))
}

const (
	mostDays     = 3650
	mostNetworks = 64
)

// createKey serves POST /portal/new-key. The key is shown in this answer and
// nowhere else.
func (p *Portal) createKey(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	f, err := keyForm(r)
	f.Entity = v.who.Entity
	var key access.NewKey
	if err == nil {
		key, err = p.Keeper.CreateKey(r.Context(), f, v.who.Actor(), v.id)
	}
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, newKeyPage, view.NewKey(form))
	}
	if err != nil {
		return err
	}
	return p.showMade(w, r, key, f.Name, f.Mode, time.Time{})
}

// keyForm reads what somebody wants of a new key.
func keyForm(r *http.Request) (access.KeyForm, error) {
	f := access.KeyForm{Name: strings.TrimSpace(r.PostFormValue("name")), Mode: r.PostFormValue("mode"), Purpose: strings.TrimSpace(r.PostFormValue("purpose"))}
	var wrong fault.Form
	if text := strings.TrimSpace(r.PostFormValue("expiresInDays")); text != "" {
		days, err := strconv.Atoi(text)
		wrong.Check(err == nil && days >= 1 && days <= mostDays, "expiresInDays", fault.NotAllowed, "Give a number of days from 1 to 3650, or nothing for a key that stands until it is revoked.")
		f.Expires = time.Duration(days) * 24 * time.Hour
	}
	words := strings.FieldsFunc(r.PostFormValue("networks"), func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t' })
	wrong.Check(len(words) <= mostNetworks, "networks", fault.TooLong, "Give at most 64 networks.")
	for _, text := range words[:min(len(words), mostNetworks)] {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			wrong.Once("networks", fault.BadFormat, "Write each network as 192.0.2.0/24 or 2001:db8::/32.")
			continue
		}
		f.Networks = append(f.Networks, network)
	}
	if len(wrong.Violations()) > 0 { // say in the same breath what the keeper would say next
		wrong.Check(f.Name != "", "name", fault.Required, "Give a name.")
		wrong.Check(f.Mode == access.Live || f.Mode == access.Test, "mode", fault.NotAllowed, "The mode must be live or test.")
	}
	return f, wrong.Err()
}

// showMade shows a key that was just made, with all that is needed to use it.
func (p *Portal) showMade(w http.ResponseWriter, r *http.Request, key access.NewKey, name, mode string, oldEnds time.Time) error {
	number := p.exampleNumber(mode)
	base := p.base(r)
	d := view.MadeKeyData{
		ID: key.ID.String(), Name: name, Mode: mode, Key: key.Text.Reveal(), OldEnds: oldEnds, Now: p.Now(), Number: number,
		Curl: curlLines(base, key.Text.Reveal(), number), Go: goLines(base, key.Text.Reveal(), number), TypeScript: scriptLines(base, key.Text.Reveal(), number),
	}
	return p.show(w, r, view.Page{Title: "Your new key", Lead: "Keep it now. It cannot be shown again.", Crumbs: keyCrumb, Active: keysPath}, view.MadeKey(d))
}

// ownKey returns the key that the path names, if it is the visitor's, and those
// beside it.
func (p *Portal) ownKey(r *http.Request) (access.Kin, error) {
	return p.keyOf(r, visitOf(r).who.Entity)
}

// keyOf returns the key that the path names, if it is the entity's.
func (p *Portal) keyOf(r *http.Request, entity uuid.UUID) (access.Kin, error) {
	id, err := idOf(r, "key")
	if err != nil {
		return access.Kin{}, err
	}
	kin, err := p.Keeper.Key(r.Context(), entity, id)
	if errors.Is(err, access.ErrNoKey) {
		return access.Kin{}, errNoPage
	}
	return kin, err
}
