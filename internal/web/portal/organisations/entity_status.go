package organisations

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// statusChange is an action that suspends, restores or revokes an organisation.
type statusChange struct {
	verb, label, title, text string
	kind                     kit.Kind
	from                     []registry.Status // the states in which it is offered; package registry checks
	done                     string            // the flash message
	do                       func(*registry.Registry, context.Context, uuid.UUID, string, audit.Actor, uuid.UUID) (registry.StatusChange, error)
}

var statusChanges = []statusChange{
	{
		verb: "suspend", label: "Suspend organisation", title: "Suspend organisation", kind: kit.Danger, from: []registry.Status{registry.Approved}, done: "entity.suspended",
		text: "is stopped until it is restored: within five seconds every node refuses its keys and sessions, and its people cannot sign in. Nothing else of it changes.",
		do:   (*registry.Registry).Suspend,
	},
	{
		verb: "restore", label: "Restore organisation", title: "Restore organisation", kind: kit.Primary, from: []registry.Status{registry.Suspended, registry.Revoked}, done: "entity.restored",
		text: "is restored, with the keys, the people and the documents that it had.",
		do:   (*registry.Registry).Restore,
	},
	{
		verb: "revoke", label: "Revoke organisation", title: "Revoke organisation", kind: kit.Danger, from: []registry.Status{registry.Approved, registry.Suspended}, done: "entity.revoked",
		text: "is revoked: within five seconds every node refuses its keys and sessions, and its people cannot sign in. To restore it needs two administrators.",
		do:   (*registry.Registry).Revoke,
	},
}

func entityCrumbs(e *registry.EntityDetails) []kit.Link {
	return []kit.Link{{Label: "Organisations", Href: portal.EntitiesPath}, {Label: e.Name, Href: portal.EntityURL(e.ID)}}
}

// changeStatus suspends, restores or revokes an organisation.
func (p *Pages) changeStatus(m statusChange) portal.Action[registry.EntityDetails] {
	return portal.Action[registry.EntityDetails]{
		Path: entityPath + "/" + m.verb, Right: portal.Administrator, Change: stepup.ChangeEntity, Ask: m.question,
		Do: func(r *http.Request, v *portal.Visit, e *registry.EntityDetails) (string, error) {
			var wrong fault.Form
			wrong.Check(m.verb != "revoke" || portal.SameText(r.PostFormValue("confirm"), e.Name), "confirm", fault.NotAllowed, "Type "+e.Name+".")
			if err := wrong.Err(); err != nil {
				return "", err
			}
			moved, err := m.do(p.Registry, r.Context(), e.ID, portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
			if moved.Pending != uuid.Nil {
				return "entity.waits", err
			}
			return m.done, err
		},
	}
}

func (m *statusChange) question(e *registry.EntityDetails, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{Title: m.title, Crumbs: entityCrumbs(e), Text: e.Name + " (" + e.CAC + ") " + m.text, Label: m.label, Kind: m.kind, Cancel: portal.EntityURL(e.ID), Reason: true}
	if m.verb == "revoke" {
		q.Word = e.Name
	}
	if m.verb == "restore" && e.Status == registry.Revoked {
		q.Label, q.Extra = "Request approval", kit.NeedsTwo()
	}
	return q
}
