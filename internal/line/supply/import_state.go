package supply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// reportProgress calls onProgress, at most once a second unless always is set.
// During a check it also writes the number of rows to the import; while rows are
// applied, saveProgress does so with each chunk.
func (r *importRun) reportProgress(ctx context.Context, always bool) error {
	if !always && time.Since(r.progressAt) < time.Second {
		return nil
	}
	r.progressAt = time.Now()
	r.im.Updated = r.service.now()
	r.onProgress(r.im)
	if r.im.State != Checking {
		return nil
	}
	done, err := r.service.Pool.Exec(ctx, `UPDATE supply_import SET rows = $2, updated_at = $3, started_at = coalesce(started_at, $3)
		WHERE id = $1 AND state = 'checking'`, r.im.id, r.im.Rows, r.im.Updated)
	if err != nil {
		return fmt.Errorf("supply: write progress: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errBusy
	}
	return nil
}

// saveProgress adds a chunk to the import's progress, in the transaction of the
// chunk. It fails if place and cursor are not those that this run wrote last:
// another process has continued the import.
func (r *importRun) saveProgress(ctx context.Context, tx pg.Tx, phase string, place, cursor int64, digest []byte, rows int64, c Counts) error {
	done, err := tx.Exec(ctx, `UPDATE supply_import SET phase = $2, place = $3, cursor = $4, digest = $5, rows = rows + $6, added = added + $7,
		changed = changed + $8, unchanged = unchanged + $9, ended = ended + $10, duplicates = duplicates + $11, no_effect = no_effect + $12,
		ported_out = ported_out + $13, refused = refused + $14, updated_at = $15, started_at = coalesce(started_at, $15), waiting = waiting + $18
		WHERE id = $1 AND state = 'applying' AND place = $16 AND cursor = $17`,
		r.im.id, phase, place, cursor, digest, rows, c.Added, c.Changed, c.Unchanged, c.Ended, c.Duplicates, c.NoEffect, c.PortedOut, c.Refused,
		r.service.now(), r.im.place, r.im.cursor, c.Waiting)
	if err != nil {
		return fmt.Errorf("supply: write progress: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errBusy
	}
	return nil
}

// reject ends the import because the file as a whole cannot be used.
func (r *importRun) reject(ctx context.Context, why string) error {
	return r.setState(ctx, Rejected, why, nil)
}

// setState writes the result of a check, or of a rejected file. It fails if
// another process or a person has changed the state in the meantime.
func (r *importRun) setState(ctx context.Context, state, reason string, digest []byte) error {
	now := r.service.now()
	finished := state != Held && state != Applying
	c := &r.im.Counts
	err := r.service.inLongTx(ctx, func(tx pg.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE supply_import SET state = $2, reason = $3, updated_at = $4, finished_at = CASE WHEN $5 THEN $4::timestamptz END,
			started_at = CASE WHEN $2 = 'applying' THEN NULL ELSE started_at END,
			rows = $6, added = $7, changed = $8, unchanged = $9, ended = $10, duplicates = $11, no_effect = $12, ported_out = $13, refused = $14,
			file_digest = coalesce($15, file_digest), waiting = $17 WHERE id = $1 AND state = $16`,
			r.im.id, state, reason, now, finished, r.im.Rows, c.Added, c.Changed, c.Unchanged, c.Ended, c.Duplicates, c.NoEffect, c.PortedOut, c.Refused,
			digest, r.im.State, c.Waiting)
		if err != nil {
			return fmt.Errorf("supply: set the state of an import: %w", err)
		}
		if done.RowsAffected() == 0 {
			return errBusy
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.im.State, r.im.Reason, r.im.fileDigest = state, reason, digest
	return nil
}

// finish ends an import whose rows are all applied. Only now is the network's
// coverage extended, up to the file's AsOf: part of a file proves nothing about completeness,
// and neither do events without a word on others.
func (r *importRun) finish(ctx context.Context, digest []byte) error {
	now := r.service.now()
	err := r.service.inLongTx(ctx, func(tx pg.Tx) error {
		through, complete := r.im.AsOf, time.Time{}
		switch {
		case !r.im.hasLines() && r.im.Rows > 0 && r.im.Rows == r.im.Counts.Refused:
			through = time.Time{} // every event was refused: nothing was reported
		case r.im.Kind == linefile.Snapshot:
			complete = r.im.AsOf
		}
		if !through.IsZero() {
			if err := linestore.ExtendCoverage(ctx, tx, now, r.im.extensions(complete, through)...); err != nil {
				return err
			}
		}
		done, err := tx.Exec(ctx, `UPDATE supply_import SET state = 'applied', phase = '', updated_at = $2, finished_at = $2, file_digest = $3, supplier_name = $4
			WHERE id = $1 AND state = 'applying'`, r.im.id, now, digest, r.im.senderName(r.rules.plan))
		if err != nil {
			return fmt.Errorf("supply: finish an import: %w", err)
		}
		if done.RowsAffected() == 0 {
			return errBusy
		}
		if err := audit.Write(ctx, tx, audit.Entry{At: now, Actor: audit.Actor{Kind: audit.System}, Action: audit.ImportApplied, Subject: r.im.ID}); err != nil {
			return err
		}
		kind := outbox.LinesAdded
		if r.lastSnapshot.IsZero() {
			kind = outbox.SupplyStarted
		}
		return r.im.tellClass(ctx, tx, kind, now)
	})
	if err != nil {
		return err
	}
	r.im.State = Finished
	return r.reportProgress(ctx, true)
}

// tellClass tells of the lines that a snapshot has added, or that go with it, as one
// change: a nation's first files have 200 million of them.
func (i *Import) tellClass(ctx context.Context, tx pg.Tx, kind outbox.Kind, now time.Time) error {
	if !i.hasLines() || i.Counts.Added == 0 {
		return nil
	}
	return outbox.Append(ctx, tx, outbox.Change{Kind: kind, Lines: i.Counts.Added, Network: i.Network, Import: i.id, ReportedAt: now})
}

// extensions returns what the import adds to the coverage. A file of an operator
// speaks of its lifecycle and its SIM changes, one of the clearing house of ports,
// and others of no topic.
func (i *Import) extensions(complete, through time.Time) []linestore.Extension {
	switch i.Authority {
	case line.ClearingHouse:
		return []linestore.Extension{{Network: line.Nation, Topic: line.TopicPort, CompleteSince: complete, Through: through}}
	case line.Sector, line.Regulator:
		return nil
	case line.Operator:
	}
	return []linestore.Extension{
		{Network: i.Network, Topic: line.TopicLifecycle, CompleteSince: complete, Through: through},
		{Network: i.Network, Topic: line.TopicSIM, CompleteSince: complete, Through: through},
	}
}

// ErrTooLate reports an import that its sender can no longer withdraw.
var ErrTooLate = fault.New(fault.IncompatibleState, "This import is finished or is being applied. Only the regulator can cancel one that is being applied.")

// CheckHeld returns an error unless an import is held.
func (s *Service) CheckHeld(ctx context.Context, tx pg.Tx, uid uuid.UUID) error {
	im, err := findImport(ctx, tx, uid)
	if err == nil && im.State != Held {
		err = ErrNotHeld
	}
	return err
}

// ConfirmHeld lets a held import be applied, in the caller's transaction. Package order
// has made sure that two people agreed. The entry has who did it, and why.
func (s *Service) ConfirmHeld(ctx context.Context, tx pg.Tx, uid uuid.UUID, e audit.Entry) error {
	e.Action = audit.ImportConfirmed
	return decideIn(ctx, tx, uid, e, ErrNotHeld, `UPDATE supply_import SET state = 'applying', reason = '', confirmed_at = $2, updated_at = $2, started_at = NULL, rows = 0,
		added = 0, changed = 0, unchanged = 0, ended = 0, duplicates = 0, no_effect = 0, waiting = 0, ported_out = 0, refused = 0 WHERE uid = $1 AND state = 'held'`)
}

// Cancel ends an import that is not finished. Rows that it has applied stay
// applied.
func (s *Service) Cancel(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	return s.decide(ctx, uid, by, audit.ImportCancelled, ErrImportFinished, `UPDATE supply_import SET state = 'cancelled', finished_at = $2, updated_at = $2,
		reason = 'Staff of the regulator cancelled it.' || CASE WHEN state = 'held' THEN ' It was held: ' || reason ELSE '' END
		WHERE uid = $1 AND state IN ('checking', 'held', 'applying')`)
}

// Withdraw cancels an import of which nothing is applied yet. Its sender may do
// that without the regulator.
func (s *Service) Withdraw(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	return s.decide(ctx, uid, by, audit.ImportCancelled, ErrTooLate, `UPDATE supply_import SET state = 'cancelled', finished_at = $2, updated_at = $2,
		reason = 'Its sender cancelled it.' || CASE WHEN state = 'held' THEN ' It was held: ' || reason ELSE '' END
		WHERE uid = $1 AND state IN ('checking', 'held')`)
}

// ConfirmIntent records, for the staff who will decide, that a held import is
// what its sender intended. The import stays held.
func (s *Service) ConfirmIntent(ctx context.Context, uid uuid.UUID, by audit.Actor) (Import, error) {
	return s.decide(ctx, uid, by, audit.ImportMeant, ErrNotHeld, `UPDATE supply_import SET updated_at = $2 WHERE uid = $1 AND state = 'held'`)
}

// decide runs the statement that changes the import's state. If the import is not
// in a state from which that is possible, it returns otherwise.
func (s *Service) decide(ctx context.Context, uid uuid.UUID, by audit.Actor, action audit.Action, otherwise error, statement string) (Import, error) {
	err := s.inTx(ctx, func(tx pg.Tx) error {
		return decideIn(ctx, tx, uid, audit.Entry{At: s.now(), Actor: by, Action: action}, otherwise, statement)
	})
	if err != nil && !errors.Is(err, otherwise) {
		return Import{}, err
	}
	// Not in the transaction: it would hold one connection while it waits for another.
	im, missing := s.Import(ctx, uid)
	if err := cmp.Or(missing, err); err != nil {
		return Import{}, err
	}
	return im, nil
}

func decideIn(ctx context.Context, tx pg.Tx, uid uuid.UUID, e audit.Entry, otherwise error, statement string) error {
	done, err := tx.Exec(ctx, statement, uid, e.At)
	if err != nil {
		return fmt.Errorf("supply: change the state of an import: %w", err)
	}
	if done.RowsAffected() == 0 {
		return otherwise
	}
	e.Subject = uid
	return audit.Write(ctx, tx, e)
}
