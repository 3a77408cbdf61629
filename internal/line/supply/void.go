package supply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

var (
	// ErrNotNewest reports a snapshot that cannot be voided, because its network has a
	// newer one.
	ErrNotNewest = fault.New(fault.IncompatibleState, "The network has a newer snapshot. Only the newest can be voided, so void that one first.")
	// ErrNotApplied reports an import that cannot be voided, because it is no snapshot
	// that was applied.
	ErrNotApplied = fault.New(fault.IncompatibleState, "Only a snapshot that has been applied can be voided. Void single events by orders.")
	// ErrVoided reports a snapshot that has been voided already.
	ErrVoided = fault.New(fault.IncompatibleState, "This snapshot has already been voided.")
	// ErrVoiding reports that no import can be created while a snapshot is being voided.
	ErrVoiding = fault.New(fault.IncompatibleState, "A snapshot of this network is being voided. Wait until that is finished.")
)

// The phases of voiding a snapshot: first the events that it made, then the rows that
// it created.
const (
	phaseVoidEvents = "void events"
	phaseVoidRows   = "void rows"
)

// voidBatch is how many numbers are voided in one transaction. It is small, because
// reports about these numbers wait meanwhile.
const voidBatch = 10_000

// voidNote is the note of the events that void those of a snapshot.
const voidNote = "The snapshot was voided."

// VoidSnapshot carries out the voiding that [Service.StartVoid] started: it voids the
// events and restatements that the snapshot made, and deletes the rows that it created
// and that no event has touched. A run can be stopped at any moment; the next call
// continues it. OnProgress, if it is not nil, is called after each batch.
func (s *Service) VoidSnapshot(ctx context.Context, uid uuid.UUID, onProgress func(Import)) (Import, error) {
	if onProgress == nil {
		onProgress = func(Import) {}
	}
	return s.voidInBatches(ctx, uid, voidBatch, onProgress)
}

func (s *Service) voidInBatches(ctx context.Context, uid uuid.UUID, batch int, onProgress func(Import)) (im Import, err error) {
	unlock, err := lockImport(ctx, &pg.SessionLocks{Pool: s.Pool}, uid)
	if err != nil {
		return Import{}, err
	}
	defer unlock()
	if im, err = s.Import(ctx, uid); err != nil {
		return Import{}, err
	}
	if im.State == Voided {
		return im, ErrVoided
	}
	v := &voidRun{service: s, im: im, batch: batch}
	for v.im.State == Voiding {
		if err := v.step(ctx); err != nil {
			return v.im, err
		}
		onProgress(v.im)
	}
	return s.Import(ctx, uid)
}

// StartVoid checks that a snapshot is the newest of its network and can be voided, and
// takes back its completeness, in the caller's transaction. That comes first: while
// rows are deleted, the absence of a row must not mean that the number is unassigned.
// Package order has made sure that two people agreed, because voiding a snapshot can
// hide changes. The entry has who did it, and why.
func (s *Service) StartVoid(ctx context.Context, tx pg.Tx, uid uuid.UUID, e audit.Entry) error {
	im, err := s.CheckVoid(ctx, tx, uid)
	if err != nil {
		return err
	}
	if err := linestore.WithdrawCoverage(ctx, tx, e.At, im.Finished, im.extensions(im.AsOf, im.AsOf)...); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE supply_import SET state = 'voiding', phase = $2, cursor = 0, updated_at = $3 WHERE id = $1`, im.id, phaseVoidEvents, e.At)
	if err != nil {
		return fmt.Errorf("supply: void a snapshot: %w", err)
	}
	e.Action, e.Subject = audit.ImportVoided, uid
	e.After["asOf"] = im.AsOf
	if err := audit.Write(ctx, tx, e); err != nil {
		return err
	}
	return im.tellClass(ctx, tx, outbox.LinesWithdrawn, e.At)
}

// CheckVoid returns an import that can be voided, and keeps the network from getting
// another until the transaction ends.
func (s *Service) CheckVoid(ctx context.Context, tx pg.Tx, uid uuid.UUID) (Import, error) {
	im, err := findImport(ctx, tx, uid)
	if err != nil {
		return Import{}, err
	}
	if err := im.sender().lock(ctx, tx); err != nil {
		return Import{}, err
	}
	if im.IsBase() {
		return im, errBaseNotVoid
	}
	return im, checkVoid(ctx, tx, im.id)
}

// checkVoid refuses to void an import that is not its network's newest snapshot, or
// while another import of the network is open: that one was compared with the lines
// as they are.
func checkVoid(ctx context.Context, tx pg.Tx, id int32) error {
	var kind linefile.Kind
	var state string
	var open, newer bool
	err := tx.QueryRow(ctx, `SELECT kind, state,
		EXISTS (SELECT FROM supply_import o WHERE o.network = i.network AND o.state IN ('checking', 'held', 'applying')),
		EXISTS (SELECT FROM supply_import o WHERE o.network = i.network AND o.kind = 'snapshot' AND o.state = 'applied' AND o.as_of > i.as_of)
		FROM supply_import i WHERE id = $1 FOR UPDATE`, id).Scan(&kind, &state, &open, &newer)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoImport
	case err != nil:
		return fmt.Errorf("supply: void a snapshot: %w", err)
	case state == Voided:
		return ErrVoided
	case kind != linefile.Snapshot || state != Finished:
		return ErrNotApplied
	case newer:
		return ErrNotNewest
	case open:
		return ErrImportOpen
	}
	return nil
}

// voidRun is one run of voiding a snapshot.
type voidRun struct {
	service *Service
	im      Import
	batch   int // numbers in one transaction
}

// step voids the next numbers and saves the progress, in one transaction.
func (v *voidRun) step(ctx context.Context) error {
	next := v.im
	err := v.service.inLongTx(ctx, func(tx pg.Tx) (err error) {
		next = v.im
		next.Updated = v.service.now()
		if v.im.phase == phaseVoidEvents {
			err = v.voidEvents(ctx, tx, &next)
		} else {
			err = v.deleteRows(ctx, tx, &next)
		}
		if err != nil {
			return err
		}
		done, err := tx.Exec(ctx, `UPDATE supply_import SET state = $2, phase = $3, cursor = $4, voided = $5, updated_at = $6
			WHERE id = $1 AND state = 'voiding' AND phase = $7 AND cursor = $8`,
			next.id, next.State, next.phase, next.cursor, next.Voided, next.Updated, v.im.phase, v.im.cursor)
		if err != nil {
			return fmt.Errorf("supply: write progress: %w", err)
		}
		if done.RowsAffected() == 0 {
			return errBusy
		}
		return nil
	})
	if err == nil {
		v.im = next
	}
	return err
}

// voidEvents voids the events that the snapshot made about the next numbers.
func (v *voidRun) voidEvents(ctx context.Context, tx pg.Tx, next *Import) error {
	numbers, err := linestore.ImpliedBy(ctx, tx, v.im.id, v.im.cursor, v.batch)
	if err != nil {
		return err
	}
	switch {
	case len(numbers) > 0:
		next.cursor = numbers[len(numbers)-1].Int()
	case v.im.Counts.Added > 0:
		next.phase, next.cursor = phaseVoidRows, 0
		return nil
	default:
		next.finishVoid()
		return nil
	}
	next.Voided += int64(len(numbers))
	return v.voidEventsOf(ctx, tx, numbers, next.Updated)
}

func (v *voidRun) voidEventsOf(ctx context.Context, tx pg.Tx, numbers []phone.Number, now time.Time) error {
	rules, err := v.service.rulesAt(ctx, tx, now)
	if err != nil {
		return err
	}
	cs, err := v.service.load(ctx, tx, rules, numbers, true)
	if err != nil {
		return err
	}
	cs.seqs = &seqAllocator{tx: tx}
	for _, c := range cs.ordered {
		if err := c.VoidImport(v.im.id, voidNote, cs.comparisonRules(ctx)); err != nil {
			return err
		}
	}
	if err := cs.save(ctx, tx); err != nil {
		return err
	}
	return cs.counts.save(ctx, tx)
}

// deleteRows deletes the rows that the snapshot created, among the next ones, unless
// an event has touched them.
func (v *voidRun) deleteRows(ctx context.Context, tx pg.Tx, next *Import) error {
	deleted, err := linestore.DeleteBaselines(ctx, tx, v.im.id, v.im.cursor, v.batch)
	if err != nil {
		return err
	}
	if deleted.Last == 0 {
		next.finishVoid()
		return nil
	}
	next.cursor, next.Voided = deleted.Last, next.Voided+deleted.Rows
	return linestore.AddLineCount(ctx, tx, v.im.Network, -deleted.Running, next.Updated)
}

func (i *Import) finishVoid() { i.State, i.phase, i.cursor = Voided, "", 0 }
