package guard

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ReleaseKind is the approval of a release.
const ReleaseKind approval.Kind = "guard.release"

// MaxQuiet is for how long staff can exempt an organisation from the guard. Then
// the decision should be reviewed.
const MaxQuiet = 366 * 24 * time.Hour

// ErrNothingToRelease reports an organisation or a sponsor that is neither slowed nor stopped.
var ErrNothingToRelease = fault.New(fault.NotFound, "There is nothing to release: the organisation is neither slowed nor stopped.")

// ReleaseForm is the decision of staff to release an organisation or a sponsor.
type ReleaseForm struct {
	Entity  uuid.UUID // zero for a sponsor
	Sponsor uuid.UUID // the client; zero for an organisation
	Reason  string
	// Quiet is for how long it is not slowed or stopped again. Its numbers stay in
	// the window for a day, so that with less than a day it may be slowed again at
	// once.
	Quiet   time.Duration
	By      audit.Actor
	Request uuid.UUID // zero for none
}

// Release ends every alert that slows or stops an organisation or a sponsor, on every
// node within five seconds, and returns how many alerts it ended. A second person has to
// confirm it first: then it returns an [approval.WaitsError].
func Release(ctx context.Context, pool *pgxpool.Pool, now time.Time, r ReleaseForm) (ended int64, err error) {
	r.Reason = strings.TrimSpace(r.Reason)
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", r.Reason)
	wrong.Check(r.Quiet >= 0 && r.Quiet <= MaxQuiet, "quiet", fault.NotAllowed, "Give a time of at most 366 days.")
	if err := wrong.Err(); err != nil {
		return 0, err
	}
	request := approval.Request{
		Kind: ReleaseKind, Subject: cmp.Or(r.Entity, r.Sponsor), Entity: r.Entity, Details: map[string]string{"quiet": r.Quiet.String()},
		Reason: r.Reason, By: r.By, Request: r.Request, At: now.UTC().Truncate(time.Microsecond),
	}
	pending := uuid.Nil
	err = pg.InTx(ctx, pool, func(tx pg.Tx) (err error) {
		if ended, err = countReleasable(ctx, tx, request.Subject); err != nil {
			return err
		}
		pending, err = registry.RequestChange(ctx, tx, request, release)
		return err
	})
	if err != nil {
		return 0, err
	}
	if pending != uuid.Nil {
		return 0, approval.Waits(pending)
	}
	return ended, nil
}

// releasable is the condition of an alert that ends only by a release. An id is that of
// an organisation or that of a client, never both.
const releasable = `(entity_id = $1 OR sponsor_id = $1) AND released_at IS NULL AND ends_at IS NULL`

// countReleasable locks the alerts that a release ends, and returns how many they are.
func countReleasable(ctx context.Context, tx pg.Tx, subject uuid.UUID) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM guard_alert WHERE `+releasable+` FOR UPDATE) a`, subject).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("guard: count alerts: %w", err)
	}
	if n == 0 {
		return 0, ErrNothingToRelease
	}
	return n, nil
}

// release is the effect of [ReleaseKind].
func release(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	quiet, err := time.ParseDuration(a.Details["quiet"])
	if err != nil {
		return fmt.Errorf("guard: read the approval of a release: %w", err)
	}
	until := a.DecidedAt.Add(quiet)
	tag, err := tx.Exec(ctx, `UPDATE guard_alert SET released_at = $2, released_by = $3, reason = $4, quiet_until = $5 WHERE `+releasable,
		a.Subject, a.DecidedAt, pg.ID(a.DecidedBy.ID), a.Reason, until)
	if err != nil {
		return fmt.Errorf("guard: release: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNothingToRelease
	}
	after := a.Both()
	after["alerts"], after["quietUntil"] = tag.RowsAffected(), until
	return audit.Write(ctx, tx, audit.Entry{
		At: a.DecidedAt, Actor: a.DecidedBy, Action: audit.GuardReleased, Subject: a.Subject, Entity: a.Entity, Request: a.Request, After: after,
	})
}

// Effects returns the effects of the approvals that this package requests.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{ReleaseKind: release}
}
