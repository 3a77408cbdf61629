package keys

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// keysShown is the number of keys on one page.
const keysShown = 50

// KeyPage returns the requested page of an organisation's keys. MayRevoke says which of them
// the visitor may revoke.
func KeyPage(r *http.Request, keys *access.Service, entity uuid.UUID, now time.Time, mayRevoke func(*access.KeyRow) bool) (KeysData, error) {
	o := portal.ReadOrder(r, string(access.KeysByName), string(access.KeysByCreated), string(access.KeysByUsed), string(access.KeysByExpires))
	s := access.KeySearch{Entity: entity, Sort: access.KeySort(o.Column), Descending: o.Descending, After: web.Cursor(r), Limit: keysShown}
	page, err := keys.KeyPage(r.Context(), s)
	if err != nil {
		return KeysData{}, err
	}
	links := web.PageLinks(r, s.After, page.Next)
	d := KeysData{Heads: o.Head, First: links.First, Next: links.Next, Now: now}
	if d.First != "" || d.Next != "" {
		d.Note = kit.Count(page.Total) + " keys"
	}
	for i := range page.Keys {
		d.Rows = append(d.Rows, KeyRow{&page.Keys[i], mayRevoke(&page.Keys[i]), now})
	}
	return d, nil
}

// PurposeLabel returns a purpose as pages show it: "Account opening", or "Other: " and
// the words of the key's owner.
func PurposeLabel(code, text string) string {
	label := strings.ReplaceAll(code, "-", " ")
	if label != "" {
		label = strings.ToUpper(label[:1]) + label[1:] // codes are ASCII
	}
	if text != "" {
		label += ": " + text
	}
	return label
}

// KeyRow is a key, as it stands now.
type KeyRow struct {
	*access.KeyRow

	MayEnd bool // the visitor may revoke it; others can report it as leaked
	now    time.Time
}

// Inactive reports whether the key is expired or revoked.
func (k KeyRow) Inactive() bool { return !k.Active(k.now) }

// state is the state of a key in a word, with its colour.
func (k KeyRow) state() (word string, tone kit.Tone) {
	switch {
	case !k.RevokedAt.IsZero():
		return "Revoked", kit.Bad
	case k.Inactive():
		return "Expired", kit.Neutral
	case !k.ExpiresAt.IsZero() && (k.Rolled || k.ExpiresAt.Sub(k.now) < expiringSoon(k.KeyRow)):
		return "Expiring soon", kit.Warn
	}
	return "Active", kit.Good
}

// networks are the networks from which the key works, as text.
func (k KeyRow) networks() string {
	words := make([]string, len(k.Networks))
	for i, n := range k.Networks {
		words[i] = access.NetworkText(n)
	}
	return strings.Join(words, " ")
}

// expiringSoon is how long before its end a key is "expiring soon". It is scaled
// to the key's lifetime, so that a one-day key is not expiring soon when it is
// created.
func expiringSoon(k *access.KeyRow) time.Duration {
	return min(14*24*time.Hour, k.ExpiresAt.Sub(k.CreatedAt)/4)
}

// PathKey returns the key that the path names, if it belongs to the organisation.
func PathKey(r *http.Request, keys *access.Service, entity uuid.UUID) (access.KeyChain, error) {
	id, err := portal.PathID(r, "key")
	if err != nil {
		return access.KeyChain{}, err
	}
	chain, err := keys.Key(r.Context(), entity, id)
	if errors.Is(err, access.ErrNoKey) {
		return access.KeyChain{}, portal.ErrNotFound
	}
	return chain, err
}

// RevokeKeyQuestion is the confirmation before a key is revoked, for which its
// name has to be typed.
func RevokeKeyQuestion(k *access.KeyRow, cancel string, crumbs []kit.Link) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Revoke key", Crumbs: crumbs, Label: "Revoke key", Kind: kit.Danger, Cancel: cancel, Word: strings.TrimSpace(k.Name),
		Text: "The key " + k.Preview + " of “" + k.Name + "” is revoked for good, on every node within five seconds. Applications that still use it are refused from then on. " + lastUsed(k),
	}
}

func lastUsed(k *access.KeyRow) string {
	if k.LastUsedAt.IsZero() {
		return "It was never used."
	}
	return "It was last used on " + kit.Stamp(k.LastUsedAt) + "."
}

// CheckKeyName checks that the visitor has typed the name of the key to revoke.
func CheckKeyName(r *http.Request, k *access.KeyRow) error {
	var wrong fault.Form
	wrong.Check(portal.SameText(r.PostFormValue("confirm"), k.Name), "confirm", fault.NotAllowed, "Type the name of the key as shown above.")
	return wrong.Err()
}

// MissingForLiveKey returns what the visitor's account lacks for creating a live key, or
// another credential that needs the same.
func MissingForLiveKey(r *http.Request, p *portal.Portal) (Missing, error) {
	return MissingOf(p.People.CheckKeyMaker(r.Context(), p.Pool, portal.VisitOf(r).Who.Account))
}

// MissingOf returns what an account lacks, if err says that it lacks something.
func MissingOf(err error) (m Missing, _ error) {
	if errors.Is(err, people.ErrNoKeyRight) || errors.Is(err, people.ErrNoSupplyRight) {
		return Missing{Right: true}, nil
	}
	if !errors.Is(err, people.ErrIncompleteAccount) && !errors.Is(err, people.ErrIncompleteSupplier) {
		return m, err
	}
	for _, v := range portal.FaultOf(err).Violations {
		m.Email = m.Email || v.Field == people.EmailField
		switch {
		case v.Field != people.FactorField:
		case v.Code == people.FactorWaitsCode:
			m.Waits = v.Message
		default:
			m.Factor = true
		}
	}
	return m, nil
}
