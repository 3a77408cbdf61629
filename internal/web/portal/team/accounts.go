package team

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// AccountsShown is the number of accounts on one page.
const AccountsShown = 100

// InviteAction leads past a long list to the form below it.
var InviteAction = kit.Action{Label: "Invite a person", Href: "#invite", Kind: kit.Secondary}

// accountColumns compare two accounts, by the column that is sorted by.
var accountColumns = map[string]func(a, b *registry.Account) int{
	"name":  func(a, b *registry.Account) int { return portal.CompareText(a.Name, b.Name) },
	"role":  func(a, b *registry.Account) int { return strings.Compare(string(a.Kind)+a.Role, string(b.Kind)+b.Role) },
	"since": func(a, b *registry.Account) int { return a.CreatedAt.Compare(b.CreatedAt) },
}

// SortAccounts puts accounts into the requested order; removed ones come last
// unless a column is sorted by.
func SortAccounts(r *http.Request, list []registry.Account) portal.Order {
	slices.SortStableFunc(list, func(a, b registry.Account) int { return portal.CompareBools(a.Disabled, b.Disabled) })
	o := portal.ReadOrder(r, "name", "role", "since")
	portal.SortRows(o, list, accountColumns)
	return o
}

// MemberRow is the account of a person.
type MemberRow struct {
	*registry.Account

	Self   bool // it is the visitor
	Locked bool // two-factor authentication is locked
}

// state is the state of an account in a word, with its colour.
func (m MemberRow) state() (word string, tone kit.Tone) {
	switch {
	case m.Disabled:
		return "Removed", kit.Neutral
	case m.Invited():
		return "Invited", kit.Info
	}
	return "Active", kit.Good
}

func (m MemberRow) admin() bool { return m.Kind == registry.AdminAccount }

// Invited reports whether the person has yet to accept the invitation.
func (m MemberRow) Invited() bool { return !m.Disabled && !m.Accepted }

// RemoveQuestion is the confirmation before a person is removed from the team that is
// listed at the address team.
func RemoveQuestion(a *registry.Account, team string, crumbs []kit.Link) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Remove person", Crumbs: crumbs, Label: "Remove person", Kind: kit.Danger, Cancel: team,
		Text: "The account of " + a.Name + " (" + a.Email + ") is removed, and all its sessions end. Keys that this person generated stay active: revoke those that they know.",
	}
}

// UnlockQuestion is the confirmation before the two-factor authentication of a person of
// such a team is unlocked.
func UnlockQuestion(a *registry.Account, team string, crumbs []kit.Link) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Unlock two-factor authentication", Crumbs: crumbs, Label: "Unlock two-factor authentication", Kind: kit.Primary, Cancel: team,
		Text: "Somebody who knew the password of " + a.Name + " (" + a.Email + ") entered 100 wrong codes in a row. " +
			"First ask the person, in a way that you trust, whether they did: if not, they must change their password before you unlock the account.",
	}
}

// ReadInvitation reads the form by which an organisation's person is invited.
func ReadInvitation(r *http.Request, entity uuid.UUID) (people.InviteForm, error) {
	g := people.InviteForm{Email: strings.TrimSpace(r.PostFormValue("email")), Kind: registry.AccountKind(r.PostFormValue("kind")), Entity: entity}
	var wrong fault.Form
	wrong.Check(g.Email != "", "email", fault.Required, "Enter the person's e-mail address.")
	wrong.Check(g.Kind == registry.MemberAccount || g.Kind == registry.AdminAccount, "kind", fault.NotAllowed, "Choose admin or member.")
	return g, wrong.Err()
}
