package portal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

// teamShown is how many people one page lists.
const teamShown = 100

var teamPage = view.Page{Title: "Team", Lead: "Who works here for your organisation. An admin looks after the others; a member does everything else.", Active: teamPath, Actions: []view.Action{toInvite}}

// toInvite leads past a long list to the form below it.
var toInvite = view.Action{Label: "Invite somebody", Href: "#invite", Kind: view.Secondary}

// showTeam serves GET /portal/team.
func (p *Portal) showTeam(w http.ResponseWriter, r *http.Request) error {
	d, err := p.team(r, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, teamPage, view.Team(d))
}

// accountOrder is how people compare, by column.
var accountOrder = map[string]func(a, b *registry.Account) int{
	"name":  func(a, b *registry.Account) int { return byText(a.Name, b.Name) },
	"role":  func(a, b *registry.Account) int { return strings.Compare(string(a.Kind)+a.Role, string(b.Kind)+b.Role) },
	"since": func(a, b *registry.Account) int { return a.CreatedAt.Compare(b.CreatedAt) },
}

// goneLast puts those who were removed behind the others.
func goneLast(list []registry.Account) {
	slices.SortStableFunc(list, func(a, b registry.Account) int {
		switch {
		case a.Disabled == b.Disabled:
			return 0
		case a.Disabled:
			return 1
		}
		return -1
	})
}

func (p *Portal) team(r *http.Request, form view.Form) (view.TeamData, error) {
	v := visitOf(r)
	list, err := p.People.Team(r.Context(), v.who)
	if err != nil {
		return view.TeamData{}, err
	}
	goneLast(list)
	o := orderOf(r, "name", "role", "since")
	arrange(o, list, accountOrder)
	page, at := pageOf(r, list, teamShown, func(a *registry.Account) string { return a.ID.String() })
	d := view.TeamData{Form: form, First: at.first, Next: at.next, Note: at.note, Heads: o.head, Now: p.Now()}
	for _, a := range page {
		d.Rows = append(d.Rows, memberRow(&a, v.who.Account))
	}
	return d, nil
}

func memberRow(a *registry.Account, self uuid.UUID) view.MemberRow {
	row := view.MemberRow{ID: a.ID.String(), Name: a.Name, Email: a.Email, Admin: a.Kind == registry.AdminAccount, Self: a.ID == self, Since: a.CreatedAt, State: "Active", Tone: view.Good}
	switch {
	case a.Disabled:
		row.State, row.Tone, row.Gone = "Removed", view.Neutral, true
	case !a.Accepted:
		row.State, row.Tone, row.Invited = "Invited", view.Info, true
	}
	return row
}

// invite serves POST /portal/team.
func (p *Portal) invite(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	g := people.Guest{Email: strings.TrimSpace(r.PostFormValue("email")), Kind: registry.AccountKind(r.PostFormValue("kind"))}
	var wrong fault.Form
	wrong.Check(g.Email != "", "email", fault.Required, "Give the e-mail address of the person.")
	wrong.Check(g.Kind == registry.MemberAccount || g.Kind == registry.AdminAccount, "kind", fault.NotAllowed, "Choose member or admin.")
	err := wrong.Err()
	if err == nil {
		_, err = p.People.Invite(r.Context(), g, v.who, v.id)
	}
	if form, wrong := formOf(r, err); wrong {
		d, failed := p.team(r, form)
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, teamPage, view.Team(d))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, teamPath, "team.invited")
}

// colleague returns the account that the path names, if it is of the visitor's
// organisation.
func (p *Portal) colleague(r *http.Request) (registry.Account, error) {
	id, err := idOf(r, "account")
	if err != nil {
		return registry.Account{}, err
	}
	a, err := p.Registry.Account(r.Context(), p.Pool, id)
	if isCode(err, fault.NotFound) || (err == nil && a.Entity != visitOf(r).who.Entity) {
		return registry.Account{}, errNoPage
	}
	return a, err
}

// inviteAgain serves POST /portal/team/{account}/invite: another letter to
// somebody who has not accepted, or who was removed.
func (p *Portal) inviteAgain(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	if _, err := p.People.Invite(r.Context(), people.Guest{Email: a.Email, Kind: a.Kind}, v.who, v.id); err != nil {
		return err
	}
	return p.goOn(w, r, teamPath, "team.invited")
}

// askRemove serves GET /portal/team/{account}/remove.
func (p *Portal) askRemove(w http.ResponseWriter, r *http.Request) error {
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	return p.show(w, r, removeColleaguePage, view.Confirm(removeQuestion(&a, view.Form{})))
}

var removeColleaguePage = view.Page{Title: "Remove somebody", Crumbs: []view.Link{{Label: "Team", Href: teamPath}}, Active: teamPath}

func removeQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	return view.ConfirmData{
		Text:   "The account of " + a.Name + " (" + a.Email + ") ends, and every session of it. Keys that they generated stay: revoke those that they know.",
		Action: teamPath + "/" + a.ID.String() + "/remove", Label: "Remove", Kind: view.Danger, Cancel: teamPath, Form: f,
	}
}

// removeFromTeam serves POST /portal/team/{account}/remove.
func (p *Portal) removeFromTeam(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	err = p.People.Remove(r.Context(), a.ID, v.who, v.id)
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, removeColleaguePage, view.Confirm(removeQuestion(&a, form)))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, teamPath, "team.removed")
}

var rolePage = view.Page{Title: "Change a role", Crumbs: []view.Link{{Label: "Team", Href: teamPath}}, Active: teamPath}

// askRole serves GET /portal/team/{account}/role.
func (p *Portal) askRole(w http.ResponseWriter, r *http.Request) error {
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	return p.show(w, r, rolePage, view.Confirm(roleQuestion(&a, view.Form{})))
}

func roleQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	q := view.ConfirmData{
		Text:   a.Name + " (" + a.Email + ") becomes an admin, and can invite and remove people, you included.",
		Action: teamPath + "/" + a.ID.String() + "/role", Label: "Make admin", Kind: view.Primary, Cancel: teamPath, Form: f, Extra: view.Hidden("kind", string(registry.AdminAccount)),
	}
	if a.Kind == registry.AdminAccount {
		q.Text = a.Name + " (" + a.Email + ") becomes a member, and looks after the team no longer. They have to sign in again."
		q.Label, q.Extra = "Make member", view.Hidden("kind", string(registry.MemberAccount))
	}
	return q
}

// changeRole serves POST /portal/team/{account}/role.
func (p *Portal) changeRole(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	err = p.People.SetKind(r.Context(), a.ID, registry.AccountKind(r.PostFormValue("kind")), v.who, v.id)
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, rolePage, view.Confirm(roleQuestion(&a, form)))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, teamPath, "team.role")
}
