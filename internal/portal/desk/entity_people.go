package desk

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/web"
)

// showEntityPeople serves GET /portal/desk/entities/{entity}/people.
func (p *Pages) showEntityPeople(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	page, d, err := p.entityPeople(r, &e, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, page, deskview.EntityPeople(d))
}

func (p *Pages) entityPeople(r *http.Request, e *registry.EntityDetails, form view.Form) (view.Page, deskview.EntityPeopleData, error) {
	list, err := p.Registry.Accounts(r.Context(), e.ID)
	if err != nil {
		return view.Page{}, deskview.EntityPeopleData{}, err
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
	shown, links := web.PageOf(r, list, present.AccountsShown, func(a *registry.Account) string { return a.ID.String() })
	page, frame := entityFrame(r, e, "/people")
	if frame.CanEdit {
		page.Actions = append(page.Actions, present.InviteAction)
	}
	d := deskview.EntityPeopleData{EntityFrame: frame, Form: form, First: links.First, Next: links.Next, Note: portal.WindowNote(links), Now: p.Now()}
	for i := range shown {
		d.Rows = append(d.Rows, present.MemberRow(&shown[i], uuid.Nil))
	}
	return page, d, nil
}

// inviteToEntity serves POST /portal/desk/entities/{entity}/people.
func (p *Pages) inviteToEntity(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	f, err := present.ReadInvitation(r, e.ID)
	if err == nil {
		_, err = p.People.Invite(r.Context(), f, v.Who, v.ID)
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		page, d, failed := p.entityPeople(r, &e, form)
		if failed != nil {
			return failed
		}
		return p.ShowInvalid(w, r, err, page, deskview.EntityPeople(d))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID)+"/people", "team.invited")
}

// entityAccount returns the organisation and its account that the path names.
func (p *Pages) entityAccount(r *http.Request) (registry.EntityDetails, registry.Account, error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return registry.EntityDetails{}, registry.Account{}, err
	}
	id, err := portal.PathID(r, "account")
	if err != nil {
		return registry.EntityDetails{}, registry.Account{}, err
	}
	a, err := p.Registry.Account(r.Context(), p.Pool, id)
	if portal.IsCode(err, fault.NotFound) || (err == nil && a.Entity != e.ID) {
		return registry.EntityDetails{}, registry.Account{}, portal.ErrNotFound
	}
	return e, a, err
}

// inviteToEntityAgain serves POST …/people/{account}/invite: another e-mail to
// a person who has not accepted, or who was removed.
func (p *Pages) inviteToEntityAgain(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, a, err := p.entityAccount(r)
	if err != nil {
		return err
	}
	if _, err := p.People.Invite(r.Context(), people.InviteForm{Email: a.Email, Kind: a.Kind, Entity: e.ID}, v.Who, v.ID); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID)+"/people", "team.invited")
}

func removeFromEntityPage(e *registry.EntityDetails) view.Page {
	return view.Page{Title: "Remove person", Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func removeFromEntityQuestion(e *registry.EntityDetails, a *registry.Account, f view.Form) view.ConfirmData {
	return present.RemoveQuestion(a, entityURL(e.ID)+"/people", f)
}

// confirmRemoveFromEntity serves GET …/people/{account}/remove.
func (p *Pages) confirmRemoveFromEntity(w http.ResponseWriter, r *http.Request) error {
	e, a, err := p.entityAccount(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, removeFromEntityPage(&e), view.Confirm(removeFromEntityQuestion(&e, &a, view.Form{})))
}

// removeFromEntity serves POST …/people/{account}/remove.
func (p *Pages) removeFromEntity(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, a, err := p.entityAccount(r)
	if err != nil {
		return err
	}
	err = p.People.Remove(r.Context(), a.ID, "", v.Who, v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, removeFromEntityPage(&e), view.Confirm(removeFromEntityQuestion(&e, &a, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID)+"/people", "team.removed")
}
