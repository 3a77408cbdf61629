package desk

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/registry"
)

// statusChange is an action that suspends, restores or revokes an organisation.
type statusChange struct {
	verb, label, title, text string
	kind                     view.Kind
	from                     []registry.Status // the states in which it is offered; package registry checks
	done                     string            // the flash message
	do                       func(*registry.Registry, context.Context, uuid.UUID, string, audit.Actor, uuid.UUID) (registry.StatusChange, error)
}

var statusChanges = []statusChange{
	{
		verb: "suspend", label: "Suspend organisation", title: "Suspend organisation", kind: view.Danger, from: []registry.Status{registry.Approved}, done: "entity.suspended",
		text: "is stopped until it is restored: within five seconds every node refuses its keys and sessions, and its people cannot sign in. Nothing else of it changes.",
		do:   (*registry.Registry).Suspend,
	},
	{
		verb: "restore", label: "Restore organisation", title: "Restore organisation", kind: view.Primary, from: []registry.Status{registry.Suspended, registry.Revoked}, done: "entity.restored",
		text: "is restored, with the keys, the people and the documents that it had.",
		do:   (*registry.Registry).Restore,
	},
	{
		verb: "revoke", label: "Revoke organisation", title: "Revoke organisation", kind: view.Danger, from: []registry.Status{registry.Approved, registry.Suspended}, done: "entity.revoked",
		text: "is revoked: within five seconds every node refuses its keys and sessions, and its people cannot sign in. To restore it needs two administrators.",
		do:   (*registry.Registry).Revoke,
	},
}

func statusChangePage(e *registry.EntityDetails, m *statusChange) view.Page {
	return view.Page{Title: m.title, Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func entityCrumbs(e *registry.EntityDetails) []view.Link {
	return []view.Link{{Label: "Organisations", Href: entitiesPath}, {Label: e.Name, Href: entityURL(e.ID)}}
}

func statusChangeQuestion(e *registry.EntityDetails, m *statusChange, f view.Form) view.ConfirmData {
	q := view.ConfirmData{
		Text: e.Name + " (" + e.CAC + ") " + m.text, Action: entityURL(e.ID) + "/" + m.verb, Label: m.label, Kind: m.kind, Cancel: entityURL(e.ID), Reason: true, Form: f,
	}
	if m.verb == "revoke" {
		q.Word = e.Name
	}
	if m.verb == "restore" && e.Status == registry.Revoked {
		q.Label, q.Extra = "Request approval", deskview.NeedsTwo()
	}
	return q
}

// confirmStatusChange serves GET of /portal/desk/entities/{entity}/suspend, restore, revoke.
func (p *Pages) confirmStatusChange(m statusChange) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		e, err := p.pathEntity(r)
		if err != nil {
			return err
		}
		return p.Show(w, r, statusChangePage(&e, &m), view.Confirm(statusChangeQuestion(&e, &m, view.Form{})))
	}
}

// changeStatus serves POST of the same.
func (p *Pages) changeStatus(m statusChange) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := portal.VisitOf(r)
		e, err := p.pathEntity(r)
		if err != nil {
			return err
		}
		var wrong fault.Form
		wrong.Check(m.verb != "revoke" || portal.SameText(r.PostFormValue("confirm"), e.Name), "confirm", fault.NotAllowed, "Type "+e.Name+".")
		var moved registry.StatusChange
		if err = wrong.Err(); err == nil {
			moved, err = m.do(p.Registry, r.Context(), e.ID, portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
		}
		if form, invalid := portal.FormErrors(r, err); invalid {
			return p.ShowInvalid(w, r, err, statusChangePage(&e, &m), view.Confirm(statusChangeQuestion(&e, &m, form)))
		}
		if err != nil {
			return err
		}
		if moved.Pending != uuid.Nil {
			return p.RedirectWithFlash(w, r, entityURL(e.ID), "entity.waits")
		}
		return p.RedirectWithFlash(w, r, entityURL(e.ID), m.done)
	}
}
