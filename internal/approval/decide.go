package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/approval/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
)

// Effect does what was asked for, in the transaction of the confirmation. It
// looks again whether that can still be done: a question waits for days. It
// writes its own audit entry, as the deed of the one who confirms.
type Effect func(ctx context.Context, tx pg.Tx, a Approval) error

// Desk is where questions are decided. All fields are required.
type Desk struct {
	Pool    *pgxpool.Pool
	Effects map[Kind]Effect
	Now     func() time.Time
}

// Knows reports whether a kind of question can be confirmed here. After a return
// to an earlier version there can be questions of kinds that only a later one
// knows; they can be refused, and lapse like all others.
func (d *Desk) Knows(k Kind) bool { return d.Effects[k] != nil }

// Confirm lets what was asked for take effect. By must be another person than
// the one who asked.
func (d *Desk) Confirm(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (Approval, error) {
	return d.decide(ctx, id, Given, by, request)
}

// Refuse ends a question. Whoever asked may do so, too, and withdraws it.
func (d *Desk) Refuse(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (Approval, error) {
	return d.decide(ctx, id, Refused, by, request)
}

func (d *Desk) decide(ctx context.Context, id uuid.UUID, to State, by audit.Actor, request uuid.UUID) (a Approval, err error) {
	now := d.now()
	err = pg.InTx(ctx, d.Pool, func(tx pg.Tx) error {
		if err := MayDecide(ctx, tx, by); err != nil {
			return err
		}
		// The lock lets two who decide at once pass one after the other.
		row, err := db.New(tx).Lock(ctx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNone
		}
		if err != nil {
			return fmt.Errorf("approval: read a question: %w", err)
		}
		if a, err = fromRow(row, now); err != nil {
			return err
		}
		switch {
		case a.State != Waiting:
			return ErrNotWaiting
		case to == Given && !d.Knows(a.Kind):
			return ErrUnknownKind
		case to == Given && (by.Same(a.Asked) || by.Kind == audit.Account && by.ID == a.Subject):
			return ErrSecondPerson
		}
		if to == Given {
			// Two people means two who have the right at this moment.
			if err := MayDecide(ctx, tx, a.Asked); errors.Is(err, ErrNotAdministrator) {
				return ErrAskerGone
			} else if err != nil {
				return err
			}
		}
		a.State, a.Decided, a.DecidedAt, a.Request = to, by, now, request
		return d.settle(ctx, tx, a)
	})
	if err != nil {
		return Approval{}, err
	}
	return a, nil
}

// settle writes the decision and does what follows from it.
func (d *Desk) settle(ctx context.Context, tx pg.Tx, a Approval) error {
	err := db.New(tx).Decide(ctx, db.DecideParams{
		ID: a.ID, State: string(a.State), DecidedKind: string(a.Decided.Kind), DecidedBy: pg.ID(a.Decided.ID), DecidedAt: a.DecidedAt,
	})
	if err != nil {
		return fmt.Errorf("approval: decide: %w", err)
	}
	action := audit.ApprovalRefused
	if a.State == Given {
		action = audit.ApprovalGiven
		if err := d.Effects[a.Kind](ctx, tx, a); err != nil {
			return err
		}
	}
	after := a.Both()
	after["kind"], after["subject"] = a.Kind, a.Subject
	return audit.Write(ctx, tx, audit.Entry{
		At: a.DecidedAt, Actor: a.Decided, Action: action, Subject: a.ID, Entity: a.Entity, Request: a.Request, After: after,
	})
}

// Both says, for an audit entry whose actor is the one who confirmed, who the
// other one was and why they asked.
func (a Approval) Both() map[string]any {
	asked := string(a.Asked.Kind)
	if a.Asked.ID != uuid.Nil {
		asked = a.Asked.ID.String()
	}
	return map[string]any{"approval": a.ID, "askedBy": asked, "reason": a.Reason}
}

// List returns questions, the newest first: those that wait or, if all is set,
// every one.
func (d *Desk) List(ctx context.Context, all bool, limit int) ([]Approval, error) {
	now := d.now()
	rows, err := db.New(d.Pool).List(ctx, db.ListParams{Every: all, Now: now, Most: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("approval: list: %w", err)
	}
	list := make([]Approval, 0, len(rows))
	for _, row := range rows {
		a, err := fromRow(row, now)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// Find returns a question, or [ErrNone].
func (d *Desk) Find(ctx context.Context, id uuid.UUID) (Approval, error) {
	row, err := db.New(d.Pool).Find(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Approval{}, ErrNone
	}
	if err != nil {
		return Approval{}, fmt.Errorf("approval: find a question: %w", err)
	}
	return fromRow(row, d.now())
}

func (d *Desk) now() time.Time { return d.Now().UTC().Truncate(time.Microsecond) }

func fromRow(r db.Approval, now time.Time) (Approval, error) {
	a := Approval{
		ID: r.ID, Kind: Kind(r.Kind), Subject: r.SubjectID, Entity: r.EntityID.UUID, Reason: r.Reason, State: State(r.State),
		Asked: audit.Actor{Kind: audit.ActorKind(r.AskedKind), ID: r.AskedBy.UUID}, AskedAt: r.AskedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
	}
	if a.State == Waiting && !now.Before(a.ExpiresAt) {
		a.State = Lapsed
	}
	if r.DecidedKind != nil {
		a.Decided = audit.Actor{Kind: audit.ActorKind(*r.DecidedKind), ID: r.DecidedBy.UUID}
	}
	if r.DecidedAt != nil {
		a.DecidedAt = r.DecidedAt.UTC()
	}
	if err := json.Unmarshal(r.Details, &a.Details); err != nil {
		return Approval{}, fmt.Errorf("approval: read the details: %w", err)
	}
	return a, nil
}
