// Package audit records what staff, admins, clients and operators did.
//
// An entry is written in the transaction of the action, so there is no action
// without its entry and no entry without its action. Entries are never changed: the
// serving role has no right to, and a trigger refuses it even to the owner. They hold
// ids and no foreign keys, so that they outlive their subjects.
//
// The changed values are recorded as they were before and after. Secrets and personal
// data are masked here, when an entry is written (see [Write]), so that no caller can
// forget it.
package audit

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ActorKind is the kind of an actor.
type ActorKind string

// The kinds of actor.
const (
	Client   ActorKind = "client"   // a program with an access token
	Account  ActorKind = "account"  // a person with a session
	APIKey   ActorKind = "key"      // a program with an API key
	Operator ActorKind = "operator" // a person at the command line
	System   ActorKind = "system"   // the service itself, by one of its rules
)

// Actor is who acted. The operator and the service have no id.
type Actor struct {
	Kind ActorKind
	ID   uuid.UUID
	From netip.Addr // the source address; zero at the command line
}

// Same reports whether both are the same actor, whatever the source address. Compare
// actors with it and not with ==: a person can have more than one address.
func (a Actor) Same(b Actor) bool { return a.Kind == b.Kind && a.ID == b.ID }

// Entry is one entry of the audit trail.
type Entry struct {
	At      time.Time
	Actor   Actor
	Action  Action
	Subject uuid.UUID // what was created or changed
	Entity  uuid.UUID // the entity that it concerns; zero for none
	Request uuid.UUID // the request that did it; zero for none
	// Before and After hold the changed values and nothing else. For something new
	// there is only After. A value is anything that JSON can encode.
	Before, After map[string]any
}

// Write adds e to the trail, in the caller's transaction.
//
// Secrets and personal data in Before and After are masked, by the type of the value,
// by its name and by its appearance. The last errs on the safe side: a long number may
// be taken for a phone number.
func Write(ctx context.Context, tx pg.Tx, e Entry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("audit: create an id: %w", err)
	}
	before, err := mask(e.Action, e.Before)
	if err != nil {
		return err
	}
	after, err := mask(e.Action, e.After)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO audit (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		id, e.At, e.Actor.Kind, pg.ID(e.Actor.ID), e.Action, e.Subject, pg.ID(e.Entity), pg.ID(e.Request), pg.Address(e.Actor.From), before, after)
	return fault.Wrap(err, "audit: write")
}
