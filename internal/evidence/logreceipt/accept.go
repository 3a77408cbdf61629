// This part of the package takes back a record that a restore of the database has lost, from whoever
// has its receipt.

package logreceipt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/receipt"
)

// Acceptance takes records back. Its pool must have the rights of the owner.
type Acceptance struct {
	Pool  *pgxpool.Pool
	Files blob.Store // the archives of the journal
	// Policy, if set, names the key of the log, by which a promise is accepted whose batch the
	// log never had.
	Policy *receipt.Policy
	Now    func() time.Time
}

// The reasons for which a receipt is not accepted.
var (
	ErrThere    = fault.New(fault.AlreadyExists, "The journal has this record. Nothing was lost, and nothing was changed.")
	ErrNotLost  = fault.New(fault.NotFound, "The public log names no lost batch of this receipt. Only a record that a restore has lost can come back. If the receipt is a promise, name the policy of the log with --policy.")
	ErrErased   = fault.New(fault.IncompatibleState, "An erasure covers this record. It stays erased.")
	ErrNoRecord = fault.New(fault.InvalidArgument, "The record of this receipt is not in its batch, or it is not a receipt of this service.")
)

// Accept takes the record of a receipt back and returns it.
func (s *Acceptance) Accept(ctx context.Context, r *receipt.Receipt, reason string) (record.Entry, error) {
	var form fault.Form
	audit.CheckReason(&form, "reason", reason)
	if err := form.Err(); err != nil {
		return record.Entry{}, err
	}
	read, err := r.ReadRecord()
	if err != nil {
		return record.Entry{}, ErrNoRecord.Because(err)
	}
	if err := s.requireLost(ctx, r); err != nil {
		return record.Entry{}, err
	}
	var back *journal.Returned
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) (err error) {
		back, err = journal.AddReturned(ctx, tx, r, reason, s.Now())
		switch {
		case errors.Is(err, journal.ErrCameBack):
			return ErrThere
		case errors.Is(err, journal.ErrReturnedDamaged):
			return ErrNoRecord.Because(err)
		case err != nil:
			return err
		}
		erased, err := journal.IsErased(ctx, tx, &back.Entry)
		if err != nil {
			return err
		}
		if erased || back.Erased() {
			return ErrErased
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: s.Now(), Actor: audit.Actor{Kind: audit.Operator}, Action: audit.RecordReturned, Subject: back.RequestID, Entity: back.Entity,
			After: map[string]any{"reason": reason, "epoch": r.Batch.Epoch, "n": r.Batch.N},
		})
	})
	if err != nil {
		return record.Entry{}, fmt.Errorf("logreceipt: the record of %s: %w", read.At.Format(time.DateOnly), err)
	}
	return back.Entry, nil
}

// requireLost returns an error unless the record was recorded and is lost: the public log
// has its batch and marks it as lost, or a key of the log has promised to have it.
func (s *Acceptance) requireLost(ctx context.Context, r *receipt.Receipt) error {
	there, err := s.isThere(ctx, r)
	if err != nil {
		return err
	}
	if there {
		return ErrThere
	}
	lost, err := publiclog.IsLost(ctx, s.Pool, r.Entry())
	if err != nil || lost {
		return err
	}
	if s.Policy == nil || r.Promise == "" {
		return ErrNotLost
	}
	if _, err := r.VerifyPromise(s.Policy); err != nil {
		return ErrNotLost.Because(err)
	}
	return nil
}

// isThere reports whether the journal has the record.
func (s *Acceptance) isThere(ctx context.Context, r *receipt.Receipt) (bool, error) {
	id, err := journal.RequestIDOf(r)
	if err != nil {
		return false, ErrNoRecord.Because(err)
	}
	_, err = journal.Find(ctx, s.Pool, s.Files, id)
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}
