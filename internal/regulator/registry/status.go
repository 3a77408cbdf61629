package registry

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrNotAdministrator reports an actor who may neither change the status of
	// entities nor give rights to staff.
	ErrNotAdministrator = approval.ErrNotAdministrator
	// ErrTransition reports a change of status that the current status does not
	// allow.
	ErrTransition = fault.New(fault.IncompatibleState,
		"The entity's status does not allow this: only an approved entity can be suspended, only an approved or suspended one revoked, and only a suspended or revoked one restored.")
)

// RestoreRevoked is the approval of restoring a revoked entity.
const RestoreRevoked approval.Kind = "entity.restore"

// transition is an allowed change of status.
type transition struct {
	from, to      Status
	action        audit.Action
	needsApproval bool // it takes effect only when a second person confirms it
}

// transitions are all allowed changes of status. A revocation changes neither
// keys nor sessions nor accounts: the status alone disables them, so that a
// mistaken revocation can be undone completely.
var transitions = []transition{
	{Approved, Suspended, audit.EntitySuspended, false},
	{Approved, Revoked, audit.EntityRevoked, false},
	{Suspended, Revoked, audit.EntityRevoked, false},
	{Suspended, Approved, audit.EntityRestored, false},
	{Revoked, Approved, audit.EntityRestored, true},
}

// StatusChange is the result of a request to change the status of an entity.
type StatusChange struct {
	Entity  Entity
	Pending uuid.UUID // the approval that must be confirmed first; zero if the status has changed
}

// Suspend suspends an approved entity until it is restored: its keys and sessions
// are rejected until then.
func (r *Registry) Suspend(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (StatusChange, error) {
	return r.changeStatus(ctx, id, Suspended, reason, by, request)
}

// Revoke revokes an entity. It has the effect of [Registry.Suspend], but restoring
// the entity takes two people.
func (r *Registry) Revoke(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (StatusChange, error) {
	return r.changeStatus(ctx, id, Revoked, reason, by, request)
}

// Restore makes an entity Approved again, with the keys and sessions that it had.
// For a revoked entity a second person must confirm it.
func (r *Registry) Restore(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (StatusChange, error) {
	return r.changeStatus(ctx, id, Approved, reason, by, request)
}

func (r *Registry) changeStatus(ctx context.Context, id uuid.UUID, to Status, reason string, by audit.Actor, request uuid.UUID) (change StatusChange, err error) {
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", reason)
	if err := wrong.Err(); err != nil {
		return StatusChange{}, err
	}
	now := r.now()
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if err := CheckAdministrator(ctx, tx, by); err != nil {
			return err
		}
		var t transition
		change.Entity, t, err = findTransition(ctx, tx, id, to)
		if err != nil {
			return err
		}
		if t.needsApproval {
			change.Pending, err = approval.Create(ctx, tx, CheckStaff, approval.Request{
				Kind: RestoreRevoked, Subject: id, Entity: id, Reason: reason, By: by, Request: request, At: now,
			})
			return err
		}
		e := audit.Entry{At: now, Actor: by, Request: request, After: map[string]any{"reason": reason}}
		return setStatus(ctx, tx, &change.Entity, t, reason, e)
	})
	if err != nil {
		return StatusChange{}, err
	}
	return change, nil
}

// findTransition locks the entity and returns the transition to a status.
func findTransition(ctx context.Context, tx pg.Tx, id uuid.UUID, to Status) (Entity, transition, error) {
	e, err := lockEntity(ctx, tx, id)
	if err != nil {
		return Entity{}, transition{}, err
	}
	for _, t := range transitions {
		if t.from == e.Status && t.to == to {
			return e, t, nil
		}
	}
	return Entity{}, transition{}, ErrTransition
}

// setStatus changes the status of a locked entity and writes the audit entry,
// which holds the actor and the reason.
func setStatus(ctx context.Context, tx pg.Tx, e *Entity, t transition, reason string, entry audit.Entry) error {
	_, err := tx.Exec(ctx, `UPDATE entity SET status = $2, status_reason = $3, status_since = $4 WHERE id = $1`, e.ID, t.to, reason, entry.At)
	if err != nil {
		return fmt.Errorf("registry: change the status: %w", err)
	}
	e.Status = t.to
	entry.Action, entry.Subject, entry.Entity = t.action, e.ID, e.ID
	entry.Before, entry.After["status"] = map[string]any{"status": t.from}, t.to
	return audit.Write(ctx, tx, entry)
}

// restoreRevoked is the effect of [RestoreRevoked].
func (r *Registry) restoreRevoked(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	e, t, err := findTransition(ctx, tx, a.Subject, Approved)
	if err != nil {
		return err
	}
	return setStatus(ctx, tx, &e, t, a.Reason, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
}

// Effects returns the effects of the approvals that this package requests.
func (r *Registry) Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{RestoreRevoked: r.restoreRevoked, GiveStaffRole: giveRole}
}
