package team

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var teamPage = kit.Page{Title: "Team", Lead: "The people of your organisation who can sign in. Only admins can manage the team, change webhooks, send or cancel files of numbers, and change an operator's API client. " +
	"Live keys are created by admins, and by members to whom an admin has given that right.", Active: teamPath, Actions: []kit.Action{InviteAction}}

// team is the page /portal/team.
func (p *Pages) team(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	v := portal.VisitOf(r)
	list, err := p.People.Team(r.Context(), v.Who)
	if err != nil {
		return teamPage, nil, err
	}
	o := SortAccounts(r, list)
	page, links := web.PageOf(r, list, AccountsShown, func(a *registry.Account) string { return a.ID.String() })
	d := TeamData{Form: form, First: links.First, Next: links.Next, Note: portal.WindowNote(links), Heads: o.Head, Now: p.Now(), Telco: v.Supplies}
	ids := make([]uuid.UUID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	factors, err := p.People.FactorsOf(r.Context(), ids)
	if err != nil {
		return teamPage, nil, err
	}
	for i := range page {
		d.Rows = append(d.Rows, MemberRow{Account: &page[i], Self: page[i].ID == v.Who.Account, Locked: factors[page[i].ID].Locked})
	}
	return teamPage, Team(d), nil
}

// invite serves POST /portal/team.
func (p *Pages) invite(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	f, err := ReadInvitation(r, uuid.Nil) // the organisation is the inviter's
	if err == nil {
		_, err = p.People.Invite(r.Context(), f, v.Who, v.ID)
	}
	return p.EndForm(w, r, err, p.team, teamPath, "team.invited")
}

// colleague returns the account that the path names, if it belongs to the
// visitor's organisation.
func (p *Pages) colleague(r *http.Request) (registry.Account, error) {
	id, err := portal.PathID(r, "account")
	if err != nil {
		return registry.Account{}, err
	}
	a, err := p.Registry.Account(r.Context(), p.Pool, id)
	if portal.IsCode(err, fault.NotFound) || (err == nil && a.Entity != portal.VisitOf(r).Who.Entity) {
		return registry.Account{}, portal.ErrNotFound
	}
	return a, err
}

// inviteAgain serves POST /portal/team/{account}/invite: another e-mail to
// a person who has not accepted, or who was removed.
func (p *Pages) inviteAgain(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	if _, err := p.People.Invite(r.Context(), people.InviteForm{Email: a.Email, Kind: a.Kind}, v.Who, v.ID); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, teamPath, "team.invited")
}

var teamCrumb = []kit.Link{{Label: "Team", Href: teamPath}}

// teamActions are the actions of admins on a colleague.
func (p *Pages) teamActions() []portal.Route {
	type action = portal.Action[registry.Account]
	return portal.Actions(p.Portal, p.colleague,
		action{
			Path: teamRolePath, Right: portal.OrgAdmin, Change: stepup.ChangePerson, Ask: roleQuestion,
			Do: func(r *http.Request, v *portal.Visit, a *registry.Account) (string, error) {
				return "team.role", p.People.SetKind(r.Context(), a.ID, registry.AccountKind(r.PostFormValue("kind")), v.Who, v.ID)
			},
		},
		action{Path: teamKeysPath, Right: portal.OrgAdmin, Change: stepup.ChangePerson, Ask: keyRight.question, Do: p.changeRight(&keyRight)},
		action{Path: teamSupplyPath, Right: portal.TelcoAdmin, Change: stepup.ChangePerson, Ask: supplyRight.question, Do: p.changeRight(&supplyRight)},
		action{
			Path: teamRemovePath, Right: portal.OrgAdmin, Change: stepup.RemovePerson,
			Ask: func(a *registry.Account, _ kit.Form) kit.ConfirmData {
				return RemoveQuestion(a, teamPath, teamCrumb)
			},
			Do: func(r *http.Request, v *portal.Visit, a *registry.Account) (string, error) {
				return "team.removed", p.People.Remove(r.Context(), a.ID, "", v.Who, v.ID)
			},
		},
		action{
			Path: teamUnlockPath, Right: portal.OrgAdmin, Change: stepup.ChangePerson,
			Ask: func(a *registry.Account, _ kit.Form) kit.ConfirmData {
				return UnlockQuestion(a, teamPath, teamCrumb)
			},
			Do: func(r *http.Request, v *portal.Visit, a *registry.Account) (string, error) {
				return "factor.unlocked", p.People.UnlockFactorOf(r.Context(), a.ID, v.Who, v.ID)
			},
		},
	)
}

func roleQuestion(a *registry.Account, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{
		Title: "Change role", Crumbs: teamCrumb, Kind: kit.Primary, Cancel: teamPath, Label: "Make admin", Extra: kit.Hidden("kind", string(registry.AdminAccount)),
		Text: a.Name + " (" + a.Email + ") becomes an admin and can invite and remove people, including you, change webhooks, send or cancel files of numbers, and change an operator's API client.",
	}
	if a.Kind == registry.AdminAccount {
		q.Text = a.Name + " (" + a.Email + ") becomes a member and can no longer manage the team, change webhooks, send or cancel files of numbers, or change an operator's API client. They have to sign in again."
		q.Label, q.Extra = "Make member", kit.Hidden("kind", string(registry.MemberAccount))
	}
	return q
}
