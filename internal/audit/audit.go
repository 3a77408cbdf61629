// Package audit keeps what staff, admins, clients and operators did.
//
// An entry is written in the transaction that does the thing, so there is no
// deed without its entry and no entry without its deed. Entries are never
// changed: the serving role has no right to, and a trigger refuses even the
// owner. They hold ids and no foreign keys, so that they outlive their subjects.
//
// What changed is kept as it was before and after. Secrets and personal data
// are masked here, on the way in: see [Write]. Nobody who writes an entry has to
// think of it.
package audit

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

// ActorKind says what sort of actor acted.
type ActorKind string

// The kinds of actor.
const (
	Client   ActorKind = "client"   // a program with an access token
	Account  ActorKind = "account"  // a person with a session
	Operator ActorKind = "operator" // whoever runs the command line
	System   ActorKind = "system"   // the service itself, when a rule of its own says so
)

// Actor is who did it. The operator and the service have no id.
type Actor struct {
	Kind ActorKind
	ID   uuid.UUID
	From netip.Addr // where the actor called from; zero at the command line
}

// Same reports whether both are one actor, wherever they called from. Compare
// actors with it and not with ==: a person has more than one address.
func (a Actor) Same(b Actor) bool { return a.Kind == b.Kind && a.ID == b.ID }

// Entry is one line of the trail.
type Entry struct {
	At      time.Time
	Actor   Actor
	Action  Action
	Subject uuid.UUID // the thing that was made or changed
	Entity  uuid.UUID // the entity that it concerns; zero for none
	Request uuid.UUID // the request that did it; zero for none
	// Before and After hold what changed and nothing else. Of something new there
	// is only After. A value is whatever JSON can say.
	Before, After map[string]any
}

// Write adds e to the trail, in the caller's transaction.
//
// Secrets and personal data in Before and After are masked, by the type of the
// value, by its name and by what it looks like. The last makes mistakes on the
// safe side: a long number may be taken for a phone number.
func Write(ctx context.Context, tx pg.Tx, e Entry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("audit: make an id: %w", err)
	}
	before, err := mask(e.Action, e.Before)
	if err != nil {
		return err
	}
	after, err := mask(e.Action, e.After)
	if err != nil {
		return err
	}
	err = db.New(tx).Insert(ctx, db.InsertParams{
		ID: id, At: e.At, ActorKind: string(e.Actor.Kind), ActorID: pg.ID(e.Actor.ID), Action: string(e.Action),
		SubjectID: e.Subject, EntityID: pg.ID(e.Entity), RequestID: pg.ID(e.Request),
		FromAddr: pg.Address(e.Actor.From), Before: before, After: after,
	})
	if err != nil {
		return fmt.Errorf("audit: write: %w", err)
	}
	return nil
}
