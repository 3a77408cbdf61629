package filejob

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// ReleaseKind is the approval of a release. RejectKind names a rejection in the table of
// dangerous actions; it takes one person.
const (
	ReleaseKind approval.Kind = "file.release"
	RejectKind  approval.Kind = "file.reject"
)

const (
	// heldFor is how long a file waits for staff.
	heldFor = 14 * 24 * time.Hour

	minSample = 1_000
	sampleOf  = 100 // one number in so many, at least minSample, is looked up before a file is answered
)

// ErrNotHeld reports a file that does not wait for staff.
var ErrNotHeld = fault.New(fault.IncompatibleState, "This file is not held.")

// sample looks some numbers of a file up, at random, and counts those that are not allocated.
func (r *jobRun) sample(ctx context.Context, f *guard.FileNumbers) error {
	size := min(max(len(f.Numbers)/sampleOf, minSample), len(f.Numbers))
	some := make([]phone.Number, 0, size)
	for i, n := range f.Numbers { // each rest of the sample is equally likely (selection sampling)
		if rand.IntN(len(f.Numbers)-i) < size-len(some) { //nolint:gosec // a statistic, and not a secret
			some = append(some, n)
		}
	}
	for part := range slices.Chunk(some, checkRows) {
		started, at := time.Now(), r.now()
		found, err := r.Verifier.Lines.LookupAll(ctx, r.Pool, part, at)
		if err != nil {
			return err
		}
		for _, n := range part {
			known := found.Get(n)
			if f.Sampled++; known.View(at).Status == line.Unallocated {
				f.Missed++
			}
		}
		if err := r.turns.Do(ctx, time.Since(started), ctx.Err); err != nil {
			return err
		}
	}
	return nil
}

// admit spends the budgets for the numbers of a live file, and runs the job or holds it.
func (r *jobRun) admit(ctx context.Context, c *Caller, numbers []phone.Number, total int64) error {
	f := guard.FileNumbers{Numbers: numbers}
	if r.job.Owner.Mode == "live" {
		if err := r.sample(ctx, &f); err != nil {
			return err
		}
	}
	return pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if r.job.Owner.Mode != "live" {
			return change(ctx, tx, &r.job, `state = $4, rows = $5, started_at = $6`, Running, total, r.now())
		}
		v, err := r.Guard.EnterFile(ctx, tx, r.job.Owner.Entity, c.Budget, &f)
		if err != nil {
			return err
		}
		if !v.Held {
			return change(ctx, tx, &r.job, `state = $4, rows = $5, started_at = $6, numbers = $7`, Running, total, r.now(), v.Numbers)
		}
		err = change(ctx, tx, &r.job, `state = $4, rows = $5, numbers = $6, missed = $7, dense = $8, block = $9, steps = $10`, Held, total, v.Numbers, v.Misses, v.Dense, v.Block, v.Steps)
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: r.now(), Actor: audit.Actor{Kind: audit.System}, Action: audit.JobHeld, Subject: r.job.ID, Entity: r.job.Owner.Entity,
			After: map[string]any{"rows": total, "different": v.Numbers, "missed": v.Misses, "dense": v.Dense, "block": v.Block, "steps": v.Steps},
		})
	})
}

// HeldFiles returns the files that wait for staff, oldest first.
func HeldFiles(ctx context.Context, from pg.DB) ([]Job, error) {
	return query(ctx, from, `WHERE state = 'held' ORDER BY received_at, id`)
}

// HeldFile returns a file that waits for staff, or [ErrNoJob].
func HeldFile(ctx context.Context, from pg.DB, id uuid.UUID) (Job, error) {
	return one(query(ctx, from, `WHERE state = 'held' AND id = $1`, id))
}

// Decision is a decision of staff about a held file.
type Decision struct {
	Job     uuid.UUID
	Reason  string
	By      audit.Actor
	Request uuid.UUID // zero for none
}

func (d *Decision) check() error {
	d.Reason = strings.TrimSpace(d.Reason)
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", d.Reason)
	return wrong.Err()
}

// RequestRelease lets a held file be answered. A second person has to confirm it first: then
// it returns an [approval.WaitsError].
func RequestRelease(ctx context.Context, pool *pgxpool.Pool, now time.Time, d Decision) error {
	if err := d.check(); err != nil {
		return err
	}
	pending := uuid.Nil
	err := pg.InTx(ctx, pool, func(tx pg.Tx) error {
		j, err := HeldFile(ctx, tx, d.Job)
		if errors.Is(err, ErrNoJob) {
			return ErrNotHeld
		}
		if err != nil {
			return err
		}
		pending, err = registry.RequestChange(ctx, tx, approval.Request{
			Kind: ReleaseKind, Subject: d.Job, Entity: j.Owner.Entity, Details: map[string]string{"rows": strconv.FormatInt(j.Rows, 10)}, Reason: d.Reason, By: d.By, Request: d.Request,
			At: now.UTC().Truncate(time.Microsecond),
		}, release)
		return err
	})
	if err != nil {
		return err
	}
	return approval.Waits(pending)
}

// release is the effect of [ReleaseKind].
func release(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	done, err := tx.Exec(ctx, `UPDATE file_job SET state = 'running', started_at = $2 WHERE id = $1 AND state = 'held'`, a.Subject, a.DecidedAt)
	if err != nil {
		return fmt.Errorf("filejob: release a file: %w", err)
	}
	if done.RowsAffected() == 0 {
		return ErrNotHeld
	}
	return audit.Write(ctx, tx, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Action: audit.JobReleased, Subject: a.Subject, Entity: a.Entity, Request: a.Request, After: a.Both()})
}

// Reject ends a held file without an answer. Its numbers stay spent.
func Reject(ctx context.Context, pool *pgxpool.Pool, now time.Time, d Decision) error {
	if err := d.check(); err != nil {
		return err
	}
	return pg.InTx(ctx, pool, func(tx pg.Tx) error {
		if err := registry.CheckStaff(ctx, tx, d.By, approval.ActionOf(RejectKind).Request...); err != nil {
			return err
		}
		now = now.UTC().Truncate(time.Microsecond)
		var entity uuid.UUID
		err := tx.QueryRow(ctx, `UPDATE file_job SET state = 'failed', reason = 'The regulator''s staff have rejected this file, because its numbers look like number scanning.', finished_at = $2
			WHERE id = $1 AND state = 'held' RETURNING entity_id`, d.Job, now).Scan(&entity)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotHeld
		}
		if err != nil {
			return fmt.Errorf("filejob: reject a file: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: d.By, Action: audit.JobRejected, Subject: d.Job, Entity: entity, Request: d.Request, After: map[string]any{"reason": d.Reason}})
	})
}

// Effects returns the effects of the approvals of this package, which a second person confirms.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{ReleaseKind: release}
}
