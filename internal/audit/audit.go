// Package audit keeps what staff, admins, clients and operators did.
//
// An entry is written in the transaction that does the thing, so there is no
// deed without its entry and no entry without its deed. Entries are never
// changed: the serving role has no right to. They hold ids and no personal
// data, and no foreign keys, so that they outlive their subjects.
package audit

import (
	"context"
	"fmt"
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
)

// Actor is who did it. An operator has no id.
type Actor struct {
	Kind ActorKind
	ID   uuid.UUID
}

// Action is what was done. The words are stored; they are never changed.
type Action string

// The actions.
const (
	EntityOnboarded  Action = "entity.onboarded"
	EntityCreated    Action = "entity.created"
	StaffCreated     Action = "staff.created"
	ClientCreated    Action = "client.created"
	ClientRevoked    Action = "client.revoked"
	KeyCreated       Action = "key.created"
	KeyRevoked       Action = "key.revoked"
	DocumentUploaded Action = "document.uploaded"
	LoggedIn         Action = "session.opened"
	ImportBegun      Action = "import.begun"
	ImportConfirmed  Action = "import.confirmed"
	ImportCancelled  Action = "import.cancelled"
	ImportApplied    Action = "import.applied"
	PlanSet          Action = "plan.set"
	PolicySet        Action = "policy.set"
	OrderGiven       Action = "order.given"
	OrderConfirmed   Action = "order.confirmed"
	HistoryRead      Action = "history.read"
	JournalArchived  Action = "journal.archived"
	JournalDropped   Action = "journal.dropped" // of a day that was archived
	EpochsSkipped    Action = "journal.epochs_skipped"
)

// Entry is one line of the trail.
type Entry struct {
	At      time.Time
	Actor   Actor
	Action  Action
	Subject uuid.UUID // the thing that was made or changed
	Entity  uuid.UUID // the entity that it concerns; zero for none
	Request uuid.UUID // the request that did it; zero for none
}

// Write adds e to the trail, in the caller's transaction.
func Write(ctx context.Context, tx pg.Tx, e Entry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("audit: make an id: %w", err)
	}
	err = db.New(tx).Insert(ctx, db.InsertParams{
		ID: id, At: e.At, ActorKind: string(e.Actor.Kind), ActorID: nullable(e.Actor.ID), Action: string(e.Action),
		SubjectID: e.Subject, EntityID: nullable(e.Entity), RequestID: nullable(e.Request),
	})
	if err != nil {
		return fmt.Errorf("audit: write: %w", err)
	}
	return nil
}

func nullable(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }
