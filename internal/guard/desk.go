package guard

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// Found is an alert as staff see it.
type Found struct {
	Alert

	EntityName string
	ReleasedAt time.Time // zero while it holds
	ReleasedBy uuid.UUID // zero while it holds, and for the operator
	Reason     string
	QuietUntil time.Time
}

// Holds reports whether the alert still has an effect at a moment.
func (f *Found) Holds(at time.Time) bool {
	return f.ReleasedAt.IsZero() && (f.Ends.IsZero() || f.Ends.After(at))
}

// List returns alerts, newest first: those that hold, or all.
func List(ctx context.Context, from pg.DB, now time.Time, all bool, limit int) ([]Found, error) {
	var q pg.Where
	if !all {
		q.Add(holds, now)
	}
	return find(ctx, from, &q, limit)
}

// Search says which alerts are meant.
type Search struct {
	Entity uuid.UUID // zero for everybody's
	Past   bool      // those that are over, in place of those that hold
	Before uuid.UUID // an alert: only what is older; zero for the newest
	Limit  int
}

// Find returns the alerts that s means, newest first.
func Find(ctx context.Context, from pg.DB, now time.Time, s Search) ([]Found, error) {
	var q pg.Where
	if s.Past {
		q.Add(`NOT (`+holds+`)`, now)
	} else {
		q.Add(holds, now)
	}
	if s.Entity != uuid.Nil {
		q.Add(`a.entity_id = ?`, s.Entity)
	}
	if s.Before != uuid.Nil {
		q.Add(`(a.since, a.id) < (SELECT b.since, b.id FROM guard_alert b WHERE b.id = ?)`, s.Before)
	}
	return find(ctx, from, &q, s.Limit)
}

// holds is the condition of an alert that is not over at a time.
const holds = `a.released_at IS NULL AND (a.ends_at IS NULL OR a.ends_at > ?)`

func find(ctx context.Context, from pg.DB, q *pg.Where, limit int) ([]Found, error) {
	most := q.Fill(`?`, limit)
	rows, err := from.Query(ctx, `SELECT a.id, a.entity_id, e.name, a.kind, a.level, a.since, a.ends_at, a.node, a.numbers, a.misses, a.dense, a.block, a.budget,
			a.released_at, a.released_by, coalesce(a.reason, ''), a.quiet_until
		FROM guard_alert a JOIN entity e ON e.id = a.entity_id
		WHERE `+q.String()+` ORDER BY a.since DESC, a.id DESC LIMIT `+most, q.Args...)
	if err != nil {
		return nil, fmt.Errorf("guard: list alerts: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f Found, err error) {
		var level string
		var ends, released, quiet *time.Time
		var by uuid.NullUUID
		err = row.Scan(&f.ID, &f.Entity, &f.EntityName, &f.Kind, &level, &f.Since, &ends, &f.Node, &f.Numbers, &f.Misses, &f.Dense, &f.Block, &f.Budget,
			&released, &by, &f.Reason, &quiet)
		f.Level, f.Ends, f.ReleasedAt, f.ReleasedBy, f.QuietUntil = levelOf(level), orZero(ends), orZero(released), by.UUID, orZero(quiet)
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("guard: list alerts: %w", err)
	}
	return list, nil
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// LongestQuiet is for how long staff may have the guard overlook an
// organisation. Then somebody should look again.
const LongestQuiet = 366 * 24 * time.Hour

// ErrNothingToRelease reports an organisation that is neither slowed nor
// stopped.
var ErrNothingToRelease = fault.New(fault.NotFound, "There is nothing to release: the organisation is neither slowed nor stopped.")

// Release is the decision of staff that an organisation may go on.
type Release struct {
	Entity uuid.UUID
	Reason string
	// Quiet is for how long it is not slowed or stopped again. What it asked stays
	// in sight for a day, so that with less than a day it may be found at once.
	Quiet   time.Duration
	By      audit.Actor
	Request uuid.UUID // zero for none
}

// LetGo ends every alert of an organisation that slows or stops it, on every
// node within five seconds. It returns how many those were.
func LetGo(ctx context.Context, pool *pgxpool.Pool, now time.Time, r Release) (ended int64, err error) {
	r.Reason = strings.TrimSpace(r.Reason)
	var wrong fault.Form
	wrong.Check(r.Reason != "", "reason", fault.Required, "Say why the organisation may go on.")
	wrong.Check(len([]rune(r.Reason)) <= 500, "reason", fault.TooLong, "Use at most 500 characters.")
	wrong.Check(r.Quiet >= 0 && r.Quiet <= LongestQuiet, "quiet", fault.NotAllowed, "Give a time of at most 366 days.")
	if err := wrong.Err(); err != nil {
		return 0, err
	}
	now = now.UTC().Truncate(time.Microsecond)
	by := uuid.NullUUID{UUID: r.By.ID, Valid: r.By.ID != uuid.Nil}
	err = pg.InTx(ctx, pool, func(tx pg.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE guard_alert SET released_at = $2, released_by = $3, reason = $4, quiet_until = $5
			WHERE entity_id = $1 AND released_at IS NULL AND ends_at IS NULL`, r.Entity, now, by, r.Reason, now.Add(r.Quiet))
		if err != nil {
			return fmt.Errorf("guard: release: %w", err)
		}
		if ended = tag.RowsAffected(); ended == 0 {
			return ErrNothingToRelease
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: r.By, Action: audit.GuardReleased, Subject: r.Entity, Entity: r.Entity, Request: r.Request,
			After: map[string]any{"reason": r.Reason, "alerts": ended, "quietUntil": now.Add(r.Quiet)},
		})
	})
	return ended, err
}

// Usage is how much an organisation has asked, as far as it is stored.
type Usage struct {
	Asked, Answered, Misses, Numbers int64 // on this day
	Month                            int64 // answered in this month, this day included
}

// UsageOf returns how much an organisation has asked on the day and in the month
// of a moment.
func UsageOf(ctx context.Context, from pg.DB, entity uuid.UUID, now time.Time) (u Usage, err error) {
	err = from.QueryRow(ctx, `SELECT coalesce(sum(asked) FILTER (WHERE day = t.today), 0)::bigint, coalesce(sum(answered) FILTER (WHERE day = t.today), 0)::bigint,
			coalesce(sum(misses) FILTER (WHERE day = t.today), 0)::bigint, coalesce(sum(numbers) FILTER (WHERE day = t.today), 0)::bigint, coalesce(sum(answered), 0)::bigint
		FROM usage_day, (SELECT DATE '1970-01-01' + $2::int AS today) t
		WHERE entity_id = $1 AND day >= date_trunc('month', t.today) AND day <= t.today`, entity, dayOf(now)).
		Scan(&u.Asked, &u.Answered, &u.Misses, &u.Numbers, &u.Month)
	if err != nil {
		return Usage{}, fmt.Errorf("guard: read the usage: %w", err)
	}
	return u, nil
}
