package organisations

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/internal/web/portal/team"
)

// entityPeople is the page /portal/desk/entities/{entity}/people.
func (p *Pages) entityPeople(r *http.Request, form kit.Form) (page kit.Page, _ templ.Component, err error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return page, nil, err
	}
	list, err := p.Registry.Accounts(r.Context(), e.ID)
	if err != nil {
		return page, nil, err
	}
	rank := func(a *registry.Account) int { // admins first, removed accounts last
		switch {
		case a.Disabled:
			return 2
		case a.Kind == registry.AdminAccount:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b registry.Account) int { return rank(&a) - rank(&b) })
	shown, links := web.PageOf(r, list, team.AccountsShown, func(a *registry.Account) string { return a.ID.String() })
	page, frame := entityFrame(r, &e, "/people")
	if frame.CanEdit {
		page.Actions = append(page.Actions, team.InviteAction)
	}
	d := EntityPeopleData{EntityFrame: frame, Form: form, First: links.First, Next: links.Next, Note: portal.WindowNote(links), Now: p.Now()}
	for i := range shown {
		d.Rows = append(d.Rows, team.MemberRow{Account: &shown[i]})
	}
	return page, EntityPeople(d), nil
}

// inviteToEntity serves POST /portal/desk/entities/{entity}/people.
func (p *Pages) inviteToEntity(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	var i people.Invited
	f, err := team.ReadInvitation(r, e.ID)
	if err == nil {
		i, err = p.People.Invite(r.Context(), f, v.Who, v.ID)
	}
	return p.EndForm(w, r, err, p.entityPeople, portal.EntityURL(e.ID)+"/people", joinedMessage(i))
}

func joinedMessage(i people.Invited) string {
	if i.Pending != uuid.Nil {
		return "staff.waits"
	}
	return "team.invited"
}

// entityPerson is an organisation and an account of it.
type entityPerson struct {
	registry.EntityDetails

	account registry.Account
}

// entityAccount returns the organisation and its account that the path names.
func (p *Pages) entityAccount(r *http.Request) (at entityPerson, err error) {
	if at.EntityDetails, err = p.pathEntity(r); err != nil {
		return at, err
	}
	id, err := portal.PathID(r, "account")
	if err != nil {
		return at, err
	}
	at.account, err = p.Registry.Account(r.Context(), p.Pool, id)
	if portal.IsCode(err, fault.NotFound) || (err == nil && at.account.Entity != at.ID) {
		return at, portal.ErrNotFound
	}
	return at, err
}

// inviteToEntityAgain serves POST …/people/{account}/invite: another e-mail to
// a person who has not accepted, or who was removed.
func (p *Pages) inviteToEntityAgain(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	at, err := p.entityAccount(r)
	if err != nil {
		return err
	}
	i, err := p.People.Invite(r.Context(), people.InviteForm{Email: at.account.Email, Kind: at.account.Kind, Entity: at.ID}, v.Who, v.ID)
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, portal.EntityURL(at.ID)+"/people", joinedMessage(i))
}

// removeFromEntity removes an account of an organisation.
func (p *Pages) removeFromEntity() portal.Action[entityPerson] {
	return portal.Action[entityPerson]{
		Path: entityRemovePath, Right: portal.Administrator, Change: stepup.RemovePerson,
		Ask: func(at *entityPerson, _ kit.Form) kit.ConfirmData {
			return team.RemoveQuestion(&at.account, portal.EntityURL(at.ID)+"/people", entityCrumbs(&at.EntityDetails))
		},
		Do: func(r *http.Request, v *portal.Visit, at *entityPerson) (string, error) {
			return "team.removed", p.People.Remove(r.Context(), at.account.ID, "", v.Who, v.ID)
		},
	}
}
