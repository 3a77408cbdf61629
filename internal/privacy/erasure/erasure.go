// Package erasure erases the personal part of records of the journal: because the person
// demands it, because a court orders it, because of a mistake, or because the policy keeps
// it no longer.
//
// What it guarantees:
//
//   - An erasure takes two people. Only the policy erases without them.
//   - A record under a legal hold stays as it is.
//   - Before anything is erased, the records are listed in the database and in a file
//     beside the archives. A check accepts an erased record only if it is listed, and
//     after a restore everything that is listed is erased again.
//   - A run can be stopped at any moment; the next one continues it.
package erasure

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Confirm is the kind of approval that an erasure waits for.
const Confirm approval.Kind = "journal.erase"

// Ground is why records are erased. The values are stored.
type Ground string

// The grounds.
const (
	Request   Ground = "request" // the person demands it
	Court     Ground = "court"
	Mistake   Ground = "mistake"   // the record should not have been made
	Retention Ground = "retention" // the policy keeps it no longer
)

// State is the state of an erasure. The values are stored.
type State string

// The states.
const (
	Waiting   State = "waiting"   // for a second person
	Confirmed State = "confirmed" // and not begun
	Marked    State = "marked"    // the records are chosen and listed
	Finished  State = "finished"
)

var (
	// ErrNotFound reports an erasure that does not exist.
	ErrNotFound = fault.New(fault.NotFound, "There is no such erasure.")
	// ErrNotConfirmed reports an erasure that no second person has confirmed.
	ErrNotConfirmed = fault.New(fault.IncompatibleState, "This erasure waits for a second person. See: lineproof approval list")
	// ErrScope reports a request that names neither a number nor records, or both.
	ErrScope = fault.New(fault.InvalidArgument, "Name either one number or the records to erase.")
)

// Erasure is an order to erase.
type Erasure struct {
	ID       uuid.UUID
	Ground   Ground
	State    State
	AskedAt  time.Time
	Finished time.Time
	Records  int64 // that it covers; known once it is marked
	Held     int64 // that stay because of a legal hold

	number     int64
	requestIDs []uuid.UUID
}

// Service takes orders and holds. All fields are required.
type Service struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
}

// Order is what is to be erased, and why: all records about a number, or some records.
type Order struct {
	Number     int64 // 0 for none
	RequestIDs []uuid.UUID
	Ground     Ground
	Reason     string
	By         audit.Actor
}

// Request stores an order, which then waits for a second person.
func (s *Service) Request(ctx context.Context, o Order) (erasure, approvalID uuid.UUID, err error) {
	if (o.Number != 0) == (len(o.RequestIDs) > 0) {
		return uuid.Nil, uuid.Nil, ErrScope
	}
	erasure, now := uuid.Must(uuid.NewV7()), s.Now().UTC().Truncate(time.Microsecond)
	var number *int64
	if o.Number != 0 {
		number = &o.Number
	}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO erasure (id, ground, state, number, request_ids, asked_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			erasure, o.Ground, Waiting, number, o.RequestIDs, now)
		if err != nil {
			return fmt.Errorf("erasure: store an order: %w", err)
		}
		approvalID, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: Confirm, Subject: erasure, Details: map[string]string{"ground": string(o.Ground)}, Reason: o.Reason, By: o.By, At: now,
		})
		return err
	})
	return erasure, approvalID, err
}

// Effects returns the effect of the approval that this package requests.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{Confirm: func(ctx context.Context, tx pg.Tx, a approval.Approval) error {
		tag, err := tx.Exec(ctx, `UPDATE erasure SET state = $2, confirmed_at = $3 WHERE id = $1 AND state = $4`, a.Subject, Confirmed, a.DecidedAt, Waiting)
		switch {
		case err != nil:
			return fmt.Errorf("erasure: confirm: %w", err)
		case tag.RowsAffected() == 0:
			return ErrNotFound
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: a.DecidedAt, Actor: a.DecidedBy, Action: audit.ErasureConfirmed, Subject: a.Subject, Request: a.Request, After: a.Both(),
		})
	}}
}

const columns = `id, ground, state, asked_at, coalesce(finished_at, '0001-01-01Z'), records, held, coalesce(number, 0), coalesce(request_ids, '{}')`

func scan(row pgx.CollectableRow) (e Erasure, err error) {
	err = row.Scan(&e.ID, &e.Ground, &e.State, &e.AskedAt, &e.Finished, &e.Records, &e.Held, &e.number, &e.requestIDs)
	e.AskedAt, e.Finished = e.AskedAt.UTC(), e.Finished.UTC()
	return e, err
}

// List returns the erasures, newest first.
func List(ctx context.Context, from pg.DB, limit int) ([]Erasure, error) {
	return query(ctx, from, `ORDER BY asked_at DESC, id LIMIT $1`, limit)
}

// unfinished returns the erasures that can be run, newest first.
func unfinished(ctx context.Context, from pg.DB) ([]Erasure, error) {
	return query(ctx, from, `WHERE state IN ($1, $2) ORDER BY asked_at DESC, id`, Confirmed, Marked)
}

func find(ctx context.Context, from pg.DB, id uuid.UUID) (Erasure, error) {
	found, err := query(ctx, from, `WHERE id = $1`, id)
	if err != nil {
		return Erasure{}, err
	}
	if len(found) == 0 {
		return Erasure{}, ErrNotFound
	}
	return found[0], nil
}

func query(ctx context.Context, from pg.DB, which string, args ...any) ([]Erasure, error) {
	found, err := pg.Collect(ctx, from, scan, `SELECT `+columns+` FROM erasure `+which, args...)
	return found, fault.Wrap(err, "erasure: read")
}
