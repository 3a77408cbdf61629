// Package staffaccess writes to the audit trail which member of staff reads the records of
// other organisations, and why, before anything is shown.
package staffaccess

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
)

// Access says which member of staff reads the records of other organisations, and why.
type Access struct {
	By      audit.Actor
	Reason  string
	Request uuid.UUID
	At      time.Time
}

// Check reports a reason that is missing or too short.
func (r Access) Check(form *fault.Form) { audit.CheckReason(form, "reason", r.Reason) }

// Record writes the access to the audit trail before the records are shown: the
// subject, the entity that it belongs to, and further details of which records. It
// has committed when it returns nil; after an error the caller must show nothing.
func (r Access) Record(ctx context.Context, pool *pgxpool.Pool, subject, entity uuid.UUID, details map[string]any) error {
	var form fault.Form
	r.Check(&form)
	if err := form.Err(); err != nil {
		return err
	}
	after := map[string]any{"reason": r.Reason}
	for name, value := range details {
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

// FindEntry finds a record for a member of staff. The access is audited even if there is
// no such record, because that is information too.
func (r Access) FindEntry(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID, find func(context.Context, uuid.UUID) (record.Entry, error)) (record.Entry, error) {
	e, err := find(ctx, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return record.Entry{}, err
	}
	if auditErr := r.Record(ctx, pool, id, e.Entity, nil); auditErr != nil {
		return record.Entry{}, auditErr
	}
	return e, err
}
