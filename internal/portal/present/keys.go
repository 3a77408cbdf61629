package present

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/web"
)

// keysShown is the number of keys on one page.
const keysShown = 50

// KeyPage returns the requested page of an organisation's keys.
func KeyPage(r *http.Request, keys *access.Service, entity uuid.UUID, now time.Time) (orgview.KeysData, error) {
	o := portal.ReadOrder(r, string(access.KeysByName), string(access.KeysByCreated), string(access.KeysByUsed), string(access.KeysByExpires))
	s := access.KeySearch{Entity: entity, Sort: access.KeySort(o.Column), Descending: o.Descending, After: web.Cursor(r), Limit: keysShown}
	page, err := keys.KeyPage(r.Context(), s)
	if err != nil {
		return orgview.KeysData{}, err
	}
	links := web.PageLinks(r, s.After, page.Next)
	d := orgview.KeysData{Heads: o.Head, First: links.First, Next: links.Next, Now: now}
	if d.First != "" || d.Next != "" {
		d.Note = view.Count(page.Total) + " keys"
	}
	for i := range page.Keys {
		d.Rows = append(d.Rows, KeyRow(&page.Keys[i], now))
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

// KeyRow returns a key as a row.
func KeyRow(k *access.KeyRow, now time.Time) orgview.KeyRow {
	row := orgview.KeyRow{
		ID: k.ID.String(), Name: k.Name, Mode: k.Mode, Purpose: PurposeLabel(k.Purpose, k.PurposeText), Preview: k.Preview, Created: k.CreatedAt, Expires: k.ExpiresAt,
		Revoked: k.RevokedAt, Used: k.LastUsedAt, UsedFrom: k.LastUsedFrom, Rolled: k.Rolled, Rights: k.Rights, Inactive: !k.Active(now), State: "Active", Tone: view.Good,
	}
	for _, n := range k.Networks {
		row.Networks = append(row.Networks, access.NetworkText(n))
	}
	switch {
	case !k.RevokedAt.IsZero():
		row.State, row.Tone = "Revoked", view.Bad
	case row.Inactive:
		row.State, row.Tone = "Expired", view.Neutral
	case !k.ExpiresAt.IsZero() && (k.Rolled || k.ExpiresAt.Sub(now) < expiringSoon(k)):
		row.State, row.Tone = "Expiring soon", view.Warn
	}
	return row
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
// name has to be typed. The form is sent to action.
func RevokeKeyQuestion(k *access.KeyRow, action, cancel string, f view.Form) view.ConfirmData {
	return view.ConfirmData{
		Text:   "The key " + k.Preview + " of “" + k.Name + "” is revoked for good, on every node within five seconds. Applications that still use it are refused from then on. " + lastUsed(k),
		Action: action, Label: "Revoke key", Kind: view.Danger, Cancel: cancel, Word: strings.TrimSpace(k.Name), Form: f,
	}
}

func lastUsed(k *access.KeyRow) string {
	if k.LastUsedAt.IsZero() {
		return "It was never used."
	}
	return "It was last used on " + view.Stamp(k.LastUsedAt) + "."
}

// CheckKeyName checks that the visitor has typed the name of the key to revoke.
func CheckKeyName(r *http.Request, k *access.KeyRow) error {
	var wrong fault.Form
	wrong.Check(portal.SameText(r.PostFormValue("confirm"), k.Name), "confirm", fault.NotAllowed, "Type the name of the key as shown above.")
	return wrong.Err()
}

// MissingForLiveKey returns what the visitor's account lacks for creating a live key, or
// another credential that needs the same.
func MissingForLiveKey(r *http.Request, p *portal.Portal) (m orgview.Missing, err error) {
	err = p.People.CheckKeyMaker(r.Context(), p.Pool, portal.VisitOf(r).Who.Account)
	if errors.Is(err, people.ErrNoKeyRight) {
		return orgview.Missing{Right: true}, nil
	}
	if !errors.Is(err, people.ErrIncompleteAccount) {
		return m, err
	}
	for _, v := range portal.FaultOf(err).Violations {
		m.Email = m.Email || v.Field == people.EmailField
		m.Factor = m.Factor || v.Field == people.FactorField
	}
	return m, nil
}
