package journal

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// Reading says who of the staff looks at the records of others, and why.
type Reading struct {
	By      audit.Actor
	Reason  string
	Request uuid.UUID
	At      time.Time
}

// Check complains about a reason that says too little.
func (r Reading) Check(wrong *fault.Form) { audit.CheckReason(wrong, "reason", r.Reason) }

// Note writes into the audit trail what somebody looks at, before they see it:
// the subject, the entity whose it is, and what else says which records. It has
// committed when it returns nil; whoever gets an error shows nothing.
func (r Reading) Note(ctx context.Context, pool *pgxpool.Pool, subject, entity uuid.UUID, what map[string]any) error {
	var wrong fault.Form
	r.Check(&wrong)
	if err := wrong.Err(); err != nil {
		return err
	}
	after := map[string]any{"reason": r.Reason}
	for name, value := range what {
		if value != "" {
			after[name] = value
		}
	}
	return pg.InTx(ctx, pool, func(tx pg.Tx) error {
		return audit.Write(ctx, tx, audit.Entry{
			At: r.At, Actor: r.By, Action: audit.JournalRead, Subject: subject, Entity: entity, Request: r.Request, After: after,
		})
	})
}

// One finds a record for somebody of the staff. That they looked is in the trail,
// also where there is no such record: that is an answer, too.
func (r Reading) One(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID, find func(context.Context, uuid.UUID) (Entry, error)) (Entry, error) {
	e, err := find(ctx, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Entry{}, err
	}
	if failed := r.Note(ctx, pool, id, e.Entity, nil); failed != nil {
		return Entry{}, failed
	}
	return e, err
}
