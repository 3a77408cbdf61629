package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

var (
	// ErrNotAdministrator reports somebody who may not move entities, nor give
	// rights to staff.
	ErrNotAdministrator = approval.ErrNotAdministrator
	// ErrNoMove reports a move that the entity's state does not allow.
	ErrNoMove = fault.New(fault.IncompatibleState,
		"The entity's state does not allow this: only an approved one is suspended, only an approved or suspended one is revoked, and only a suspended or revoked one is restored.")
)

// RestoreRevoked is the question whether a revoked entity comes back.
const RestoreRevoked approval.Kind = "entity.restore"

// move is a change of state that is allowed.
type move struct {
	from, to Status
	action   audit.Action
	two      bool // it takes effect only when a second person confirms it
}

// moves are all of them. A revocation touches neither keys nor sessions nor
// accounts: the state alone stops them, so that a mistake can be undone whole.
var moves = []move{
	{Approved, Suspended, audit.EntitySuspended, false},
	{Approved, Revoked, audit.EntityRevoked, false},
	{Suspended, Revoked, audit.EntityRevoked, false},
	{Suspended, Approved, audit.EntityRestored, false},
	{Revoked, Approved, audit.EntityRestored, true},
}

// Moved is what became of the wish to move an entity.
type Moved struct {
	Entity Entity
	Waits  uuid.UUID // the approval that has to be confirmed first; zero: it is done
}

// Suspend stops an approved entity until it is restored: its keys and sessions
// open nothing from then on.
func (r *Registry) Suspend(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (Moved, error) {
	return r.move(ctx, id, Suspended, reason, by, request)
}

// Revoke stops an entity as [Registry.Suspend] does, and it takes two people to
// bring it back.
func (r *Registry) Revoke(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (Moved, error) {
	return r.move(ctx, id, Revoked, reason, by, request)
}

// Restore brings an entity back, with the keys and sessions that it had. For a
// revoked one a second person must confirm it.
func (r *Registry) Restore(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (Moved, error) {
	return r.move(ctx, id, Approved, reason, by, request)
}

func (r *Registry) move(ctx context.Context, id uuid.UUID, to Status, reason string, by audit.Actor, request uuid.UUID) (moved Moved, err error) {
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", reason)
	if err := wrong.Err(); err != nil {
		return Moved{}, err
	}
	now := r.now()
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if err := approval.MayDecide(ctx, tx, by); err != nil {
			return err
		}
		var m move
		moved.Entity, m, err = allowed(ctx, tx, id, to)
		if err != nil {
			return err
		}
		if m.two {
			moved.Waits, err = approval.Ask(ctx, tx, approval.Question{
				Kind: RestoreRevoked, Subject: id, Entity: id, Reason: reason, By: by, Request: request, At: now,
			})
			return err
		}
		e := audit.Entry{At: now, Actor: by, Request: request, After: map[string]any{"reason": reason}}
		return perform(ctx, tx, &moved.Entity, m, reason, e)
	})
	if err != nil {
		return Moved{}, err
	}
	return moved, nil
}

// allowed locks the entity and finds the move that leads to a state.
func allowed(ctx context.Context, tx pg.Tx, id uuid.UUID, to Status) (Entity, move, error) {
	row, err := db.New(tx).LockEntity(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Entity{}, move{}, ErrNoEntity
	}
	if err != nil {
		return Entity{}, move{}, fmt.Errorf("registry: lock the entity: %w", err)
	}
	e := Entity{
		ID: row.ID, Name: row.Name, CAC: row.Cac, Status: Status(row.Status), DocumentRequired: row.DocumentRequired, CreatedAt: row.CreatedAt.UTC(),
	}
	for _, m := range moves {
		if m.from == e.Status && m.to == to {
			return e, m, nil
		}
	}
	return Entity{}, move{}, ErrNoMove
}

// perform moves the entity, which is locked, and writes entry, which says by whom
// and why.
func perform(ctx context.Context, tx pg.Tx, e *Entity, m move, reason string, entry audit.Entry) error {
	err := db.New(tx).SetStatus(ctx, db.SetStatusParams{ID: e.ID, Status: string(m.to), Reason: reason, Since: entry.At})
	if err != nil {
		return fmt.Errorf("registry: move the entity: %w", err)
	}
	e.Status = m.to
	entry.Action, entry.Subject, entry.Entity = m.action, e.ID, e.ID
	entry.Before, entry.After["status"] = map[string]any{"status": m.from}, m.to
	return audit.Write(ctx, tx, entry)
}

// restoreRevoked is the effect of [RestoreRevoked].
func (r *Registry) restoreRevoked(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	e, m, err := allowed(ctx, tx, a.Subject, Approved)
	if err != nil {
		return err
	}
	return perform(ctx, tx, &e, m, a.Reason, audit.Entry{At: a.DecidedAt, Actor: a.Decided, Request: a.Request, After: a.Both()})
}

// Effects is what happens when a question of this package is confirmed.
func (r *Registry) Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{RestoreRevoked: r.restoreRevoked, GiveStaffRole: giveRole}
}
