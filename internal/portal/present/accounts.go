package present

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/registry"
)

// AccountsShown is the number of accounts on one page.
const AccountsShown = 100

// InviteAction leads past a long list to the form below it.
var InviteAction = view.Action{Label: "Invite a person", Href: "#invite", Kind: view.Secondary}

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

// MemberRow returns an account as a row. Self is the visitor's own account.
func MemberRow(a *registry.Account, self uuid.UUID) orgview.MemberRow {
	row := orgview.MemberRow{ID: a.ID.String(), Name: a.Name, Email: a.Email, Admin: a.Kind == registry.AdminAccount, MakesKeys: a.MakesKeys, Self: a.ID == self, Since: a.CreatedAt, State: "Active", Tone: view.Good}
	switch {
	case a.Disabled:
		row.State, row.Tone, row.Gone = "Removed", view.Neutral, true
	case !a.Accepted:
		row.State, row.Tone, row.Invited = "Invited", view.Info, true
	}
	return row
}

// RemoveQuestion is the confirmation before a person is removed from the team
// that is listed at the address team.
func RemoveQuestion(a *registry.Account, team string, f view.Form) view.ConfirmData {
	return view.ConfirmData{
		Text:   "The account of " + a.Name + " (" + a.Email + ") is removed, and all its sessions end. Keys that this person generated stay active: revoke those that they know.",
		Action: team + "/" + a.ID.String() + "/remove", Label: "Remove person", Kind: view.Danger, Cancel: team, Form: f,
	}
}

// UnlockQuestion is the confirmation before the two-factor authentication of a person
// of the team that is listed at the address team is unlocked.
func UnlockQuestion(a *registry.Account, team string, f view.Form) view.ConfirmData {
	return view.ConfirmData{
		Text: "Somebody who knew the password of " + a.Name + " (" + a.Email + ") entered 100 wrong codes in a row. " +
			"First ask the person, in a way that you trust, whether they did: if not, they must change their password before you unlock the account.",
		Action: team + "/" + a.ID.String() + "/unlock", Label: "Unlock two-factor authentication", Kind: view.Primary, Cancel: team, Form: f,
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
