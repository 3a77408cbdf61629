package org

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/web"
)

var teamPage = view.Page{Title: "Team", Lead: "The people of your organisation who can sign in. Only admins can manage the team, change webhooks, send or cancel files of numbers, and change an operator's API client. " +
	"Live keys are created by admins, and by members to whom an admin has given that right.", Active: teamPath, Actions: []view.Action{present.InviteAction}}

// showTeam serves GET /portal/team.
func (p *Pages) showTeam(w http.ResponseWriter, r *http.Request) error {
	d, err := p.team(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, teamPage, orgview.Team(d))
}

func (p *Pages) team(r *http.Request, form view.Form) (orgview.TeamData, error) {
	v := portal.VisitOf(r)
	list, err := p.People.Team(r.Context(), v.Who)
	if err != nil {
		return orgview.TeamData{}, err
	}
	o := present.SortAccounts(r, list)
	page, links := web.PageOf(r, list, present.AccountsShown, func(a *registry.Account) string { return a.ID.String() })
	d := orgview.TeamData{Form: form, First: links.First, Next: links.Next, Note: portal.WindowNote(links), Heads: o.Head, Now: p.Now()}
	ids := make([]uuid.UUID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	factors, err := p.People.FactorsOf(r.Context(), ids)
	if err != nil {
		return orgview.TeamData{}, err
	}
	for i := range page {
		row := present.MemberRow(&page[i], v.Who.Account)
		if row.Locked = factors[page[i].ID].Locked; row.Locked {
			row.State, row.Tone = "Locked", view.Bad
		}
		d.Rows = append(d.Rows, row)
	}
	return d, nil
}

var unlockPage = view.Page{Title: "Unlock two-factor authentication", Crumbs: []view.Link{{Label: "Team", Href: teamPath}}, Active: teamPath}

// confirmUnlock serves GET /portal/team/{account}/unlock.
func (p *Pages) confirmUnlock(w http.ResponseWriter, r *http.Request) error {
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, unlockPage, view.Confirm(present.UnlockQuestion(&a, teamPath, view.Form{})))
}

// unlock serves POST /portal/team/{account}/unlock.
func (p *Pages) unlock(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	err = p.People.UnlockFactorOf(r.Context(), a.ID, v.Who, v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, unlockPage, view.Confirm(present.UnlockQuestion(&a, teamPath, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, teamPath, "factor.unlocked")
}

// invite serves POST /portal/team.
func (p *Pages) invite(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	f, err := present.ReadInvitation(r, uuid.Nil) // the organisation is the inviter's
	if err == nil {
		_, err = p.People.Invite(r.Context(), f, v.Who, v.ID)
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		d, failed := p.team(r, form)
		if failed != nil {
			return failed
		}
		return p.ShowInvalid(w, r, err, teamPage, orgview.Team(d))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, teamPath, "team.invited")
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

// confirmRemove serves GET /portal/team/{account}/remove.
func (p *Pages) confirmRemove(w http.ResponseWriter, r *http.Request) error {
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, removePage, view.Confirm(present.RemoveQuestion(&a, teamPath, view.Form{})))
}

var removePage = view.Page{Title: "Remove person", Crumbs: []view.Link{{Label: "Team", Href: teamPath}}, Active: teamPath}

// removeFromTeam serves POST /portal/team/{account}/remove.
func (p *Pages) removeFromTeam(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	err = p.People.Remove(r.Context(), a.ID, "", v.Who, v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, removePage, view.Confirm(present.RemoveQuestion(&a, teamPath, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, teamPath, "team.removed")
}

var rolePage = view.Page{Title: "Change role", Crumbs: []view.Link{{Label: "Team", Href: teamPath}}, Active: teamPath}

// confirmRole serves GET /portal/team/{account}/role.
func (p *Pages) confirmRole(w http.ResponseWriter, r *http.Request) error {
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, rolePage, view.Confirm(roleQuestion(&a, view.Form{})))
}

func roleQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	q := view.ConfirmData{
		Text:   a.Name + " (" + a.Email + ") becomes an admin and can invite and remove people, including you, change webhooks, send or cancel files of numbers, and change an operator's API client.",
		Action: teamPath + "/" + a.ID.String() + "/role", Label: "Make admin", Kind: view.Primary, Cancel: teamPath, Form: f, Extra: view.Hidden("kind", string(registry.AdminAccount)),
	}
	if a.Kind == registry.AdminAccount {
		q.Text = a.Name + " (" + a.Email + ") becomes a member and can no longer manage the team, change webhooks, send or cancel files of numbers, or change an operator's API client. They have to sign in again."
		q.Label, q.Extra = "Make member", view.Hidden("kind", string(registry.MemberAccount))
	}
	return q
}

// changeRole serves POST /portal/team/{account}/role.
func (p *Pages) changeRole(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	err = p.People.SetKind(r.Context(), a.ID, registry.AccountKind(r.PostFormValue("kind")), v.Who, v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, rolePage, view.Confirm(roleQuestion(&a, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, teamPath, "team.role")
}

var keyRightPage = view.Page{Title: "Live keys", Crumbs: []view.Link{{Label: "Team", Href: teamPath}}, Active: teamPath}

// confirmKeyRight serves GET /portal/team/{account}/keys.
func (p *Pages) confirmKeyRight(w http.ResponseWriter, r *http.Request) error {
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, keyRightPage, view.Confirm(keyRightQuestion(&a, view.Form{})))
}

func keyRightQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	q := view.ConfirmData{
		Text:   a.Name + " (" + a.Email + ") can then create and roll live keys, once their account is complete.",
		Action: teamPath + "/" + a.ID.String() + "/keys", Label: "Allow live keys", Kind: view.Primary, Cancel: teamPath, Form: f, Extra: view.Hidden("makesKeys", "yes"),
	}
	if a.MakesKeys {
		q.Text = a.Name + " (" + a.Email + ") can no longer create or roll live keys. Keys that this person generated stay active."
		q.Label, q.Extra = "Withdraw live keys", view.Hidden("makesKeys", "no")
	}
	return q
}

// changeKeyRight serves POST /portal/team/{account}/keys.
func (p *Pages) changeKeyRight(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	a, err := p.colleague(r)
	if err != nil {
		return err
	}
	err = p.People.SetKeyRight(r.Context(), a.ID, r.PostFormValue("makesKeys") == "yes", v.Who, v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, keyRightPage, view.Confirm(keyRightQuestion(&a, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, teamPath, "team.keys")
}
