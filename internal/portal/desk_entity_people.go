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

// showEntityPeople serves GET /portal/desk/entities/{entity}/people.
func (p *Portal) showEntityPeople(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	page, d, err := p.entityPeople(r, &e, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, page, view.EntityPeople(d))
}

func (p *Portal) entityPeople(r *http.Request, e *registry.Standing, form view.Form) (view.Page, view.EntityPeopleData, error) {
	list, err := p.Registry.Accounts(r.Context(), e.ID)
	if err != nil {
		return view.Page{}, view.EntityPeopleData{}, err
	}
	rank := func(a *registry.Account) int { // admins first, and who was removed last
		switch {
		case a.Disabled:
			return 2
		case a.Kind == registry.AdminAccount:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b registry.Account) int { return rank(&a) - rank(&b) })
	shown, at := pageOf(r, list, teamShown, func(a *registry.Account) string { return a.ID.String() })
	page, frame := entityFrame(r, e, "/people")
	if frame.May {
		page.Actions = append(page.Actions, toInvite)
	}
	d := view.EntityPeopleData{EntityFrame: frame, Form: form, First: at.first, Next: at.next, Note: at.note, Now: p.Now()}
	for i := range shown {
		d.Rows = append(d.Rows, memberRow(&shown[i], uuid.Nil))
	}
	return page, d, nil
}

// inviteToEntity serves POST /portal/desk/entities/{entity}/people.
func (p *Portal) inviteToEntity(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	g := people.Guest{Email: strings.TrimSpace(r.PostFormValue("email")), Kind: registry.AccountKind(r.PostFormValue("kind")), Entity: e.ID}
	var wrong fault.Form
	wrong.Check(g.Email != "", "email", fault.Required, "Give the e-mail address of the person.")
	wrong.Check(g.Kind == registry.MemberAccount || g.Kind == registry.AdminAccount, "kind", fault.NotAllowed, "Choose admin or member.")
	if err = wrong.Err(); err == nil {
		_, err = p.People.Invite(r.Context(), g, v.who, v.id)
	}
	if form, wrong := formOf(r, err); wrong {
		page, d, failed := p.entityPeople(r, &e, form)
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, page, view.EntityPeople(d))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, entityHref(e.ID)+"/people", "team.invited")
}

// entityAccount returns the organisation and the person of it that the path
// names.
func (p *Portal) entityAccount(r *http.Request) (registry.Standing, registry.Account, error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return registry.Standing{}, registry.Account{}, err
	}
	id, err := idOf(r, "account")
	if err != nil {
		return registry.Standing{}, registry.Account{}, err
	}
	a, err := p.Registry.Account(r.Context(), p.Pool, id)
	if isCode(err, fault.NotFound) || (err == nil && a.Entity != e.ID) {
		return registry.Standing{}, registry.Account{}, errNoPage
	}
	return e, a, err
}

// inviteToEntityAgain serves POST …/people/{account}/invite: another letter to
// somebody who has not accepted, or who was removed.
func (p *Portal) inviteToEntityAgain(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	e, a, err := p.entityAccount(r)
	if err != nil {
		return err
	}
	if _, err := p.People.Invite(r.Context(), people.Guest{Email: a.Email, Kind: a.Kind, Entity: e.ID}, v.who, v.id); err != nil {
		return err
	}
	return p.goOn(w, r, entityHref(e.ID)+"/people", "team.invited")
}

func removeFromEntityPage(e *registry.Standing) view.Page {
	return view.Page{Title: "Remove somebody", Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func removeFromEntityQuestion(e *registry.Standing, a *registry.Account, f view.Form) view.ConfirmData {
	q := removeQuestion(a, f)
	q.Cancel = entityHref(e.ID) + "/people"
	q.Action = q.Cancel + "/" + a.ID.String() + "/remove"
	return q
}

// askRemoveFromEntity serves GET …/people/{account}/remove.
func (p *Portal) askRemoveFromEntity(w http.ResponseWriter, r *http.Request) error {
	e, a, err := p.entityAccount(r)
	if err != nil {
		return err
	}
	return p.show(w, r, removeFromEntityPage(&e), view.Confirm(removeFromEntityQuestion(&e, &a, view.Form{})))
}

// removeFromEntity serves POST …/people/{account}/remove.
func (p *Portal) removeFromEntity(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	e, a, err := p.entityAccount(r)
	if err != nil {
		return err
	}
	err = p.People.Remove(r.Context(), a.ID, v.who, v.id)
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, removeFromEntityPage(&e), view.Confirm(removeFromEntityQuestion(&e, &a, form)))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, entityHref(e.ID)+"/people", "team.removed")
}
