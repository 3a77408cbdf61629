package portal

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

// entityMove is a way in which an organisation is stopped or brought back.
type entityMove struct {
	verb, label, title, text string
	kind                     view.Kind
	from                     []registry.Status // in which states it is offered; package registry decides
	done                     string            // the message
	do                       func(*registry.Registry, context.Context, uuid.UUID, string, audit.Actor, uuid.UUID) (registry.Moved, error)
}

var entityMoves = []entityMove{
	{
		verb: "suspend", label: "Suspend", title: "Suspend an organisation", kind: view.Danger, from: []registry.Status{registry.Approved}, done: "entity.suspended",
		text: "is stopped until it is restored: within five seconds its keys and sessions open nothing on any node, and nobody of it can sign in. Nothing else of it is touched.",
		do:   (*registry.Registry).Suspend,
	},
	{
		verb: "restore", label: "Restore", title: "Bring an organisation back", kind: view.Primary, from: []registry.Status{registry.Suspended, registry.Revoked}, done: "entity.restored",
		text: "comes back, with the keys, the people and the documents that it had.",
		do:   (*registry.Registry).Restore,
	},
	{
		verb: "revoke", label: "Revoke", title: "Revoke an organisation", kind: view.Danger, from: []registry.Status{registry.Approved, registry.Suspended}, done: "entity.revoked",
		text: "ends: its keys and sessions open nothing within five seconds, and nobody of it can sign in. That it comes back needs two administrators.",
		do:   (*registry.Registry).Revoke,
	},
}

func movePage(e *registry.Standing, m *entityMove) view.Page {
	return view.Page{Title: m.title, Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func entityCrumbs(e *registry.Standing) []view.Link {
	return []view.Link{{Label: "Entities", Href: entitiesPath}, {Label: e.Name, Href: entityHref(e.ID)}}
}

func moveQuestion(e *registry.Standing, m *entityMove, f view.Form) view.ConfirmData {
	q := view.ConfirmData{
		Text: e.Name + " (" + e.CAC + ") " + m.text, Action: entityHref(e.ID) + "/" + m.verb, Label: m.label, Kind: m.kind, Cancel: entityHref(e.ID), Reason: true, Form: f,
	}
	if m.verb == "restore" && e.Status == registry.Revoked {
		q.Label, q.Extra = "Ask for it", view.NeedsTwo()
	}
	return q
}

// askMove serves GET of /portal/desk/entities/{entity}/suspend, restore, revoke.
func (p *Portal) askMove(m entityMove) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		e, err := p.pathEntity(r)
		if err != nil {
			return err
		}
		return p.show(w, r, movePage(&e, &m), view.Confirm(moveQuestion(&e, &m, view.Form{})))
	}
}

// moveEntity serves POST of the same.
func (p *Portal) moveEntity(m entityMove) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := visitOf(r)
		e, err := p.pathEntity(r)
		if err != nil {
			return err
		}
		moved, err := m.do(p.Registry, r.Context(), e.ID, oneLine(r.PostFormValue("reason")), v.who.Actor(), v.id)
		if form, wrong := formOf(r, err); wrong {
			return p.showAgain(w, r, err, movePage(&e, &m), view.Confirm(moveQuestion(&e, &m, form)))
		}
		if err != nil {
			return err
		}
		if moved.Waits != uuid.Nil {
			return p.goOn(w, r, entityHref(e.ID), "entity.waits")
		}
		return p.goOn(w, r, entityHref(e.ID), m.done)
	}
}
