package guard

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// AlertRow is an alert as staff see it.
type AlertRow struct {
	Alert

	Name       string    // of the organisation, or of the client that is the sponsor
	ReleasedAt time.Time // zero while it is active
	ReleasedBy uuid.UUID // zero while it is active, and for the operator
	Reason     string
	QuietUntil time.Time
}

// Active reports whether the alert has an effect at a time.
func (r *AlertRow) Active(at time.Time) bool {
	return r.ReleasedAt.IsZero() && (r.Until.IsZero() || r.Until.After(at))
}

// List returns alerts, newest first: active ones, or all.
func List(ctx context.Context, from pg.DB, now time.Time, all bool, limit int) ([]AlertRow, error) {
	return Find(ctx, from, now, AlertFilter{All: all, Limit: limit})
}

// AlertFilter selects alerts.
type AlertFilter struct {
	Entity  uuid.UUID // its alerts and those of its sponsor; zero for all
	Sponsor uuid.UUID // a client: the alerts about all its organisations together; zero for all
	Past    bool      // ended alerts instead of active ones
	All     bool      // active and ended ones
	Before  uuid.UUID // an alert: return older ones; zero for the newest
	Limit   int
}

// activeSQL is the condition of an alert that is active at a time.
const activeSQL = `a.released_at IS NULL AND (a.ends_at IS NULL OR a.ends_at > ?)`

// Find returns the selected alerts, newest first.
func Find(ctx context.Context, from pg.DB, now time.Time, f AlertFilter) ([]AlertRow, error) {
	var q pg.Where
	switch {
	case f.Past:
		q.Add(`NOT (`+activeSQL+`)`, now)
	case !f.All:
		q.Add(activeSQL, now)
	}
	if f.Entity != uuid.Nil {
		q.Add(`(a.entity_id = ? OR a.sponsor_id = (SELECT o.client_id FROM entity o WHERE o.id = ?))`, f.Entity, f.Entity)
	}
	if f.Sponsor != uuid.Nil {
		q.Add(`a.sponsor_id = ?`, f.Sponsor)
	}
	if f.Before != uuid.Nil {
		q.Add(`(a.since, a.id) < (SELECT b.since, b.id FROM guard_alert b WHERE b.id = ?)`, f.Before)
	}
	maxRows := q.Bind(`?`, f.Limit)
	list, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (f AlertRow, err error) {
		var level string
		var ends, released, quiet sql.NullTime
		var entity, sponsor, by uuid.NullUUID
		err = row.Scan(&f.ID, &entity, &sponsor, &f.Name, &f.Kind, &level, &f.Since, &ends, &f.Node, &f.Numbers, &f.Misses, &f.Dense, &f.Block, &f.Budget,
			&released, &by, &f.Reason, &quiet)
		f.Entity, f.Sponsor = entity.UUID, sponsor.UUID
		f.Level, f.Until, f.ReleasedAt, f.ReleasedBy, f.QuietUntil = levelOf(level), ends.Time, released.Time, by.UUID, quiet.Time
		return f, err
	}, `SELECT a.id, a.entity_id, a.sponsor_id, coalesce(e.name, c.name), a.kind, a.level, a.since, a.ends_at, a.node, a.numbers, a.misses, a.dense, a.block, a.budget,
			a.released_at, a.released_by, coalesce(a.reason, ''), a.quiet_until
		FROM guard_alert a LEFT JOIN entity e ON e.id = a.entity_id LEFT JOIN client c ON c.id = a.sponsor_id
		WHERE `+q.String()+` ORDER BY a.since DESC, a.id DESC LIMIT `+maxRows, q.Args...)
	return list, fault.Wrap(err, "guard: list alerts")
}

// Usage is the stored usage of an organisation.
type Usage struct {
	Requests, Answered, Misses, Numbers int64 // on this day
	Month                               int64 // answered in this month, including this day
	Year                                int64 // different numbers in this year, up to an hour ago
	Files                               int64 // different numbers of files on this day

	held int64 // how much of its budgets the organisation does not have yet
}

// Allowed returns how much of a budget of different numbers the organisation has now:
// all of it, or less while it is new. Budgets that staff set for it are always whole.
func (u *Usage) Allowed(budget int64) int64 { return warmed(budget, u.held) }

// UsageOf returns the usage of an organisation on the day and in the month of a
// time.
func UsageOf(ctx context.Context, from pg.DB, entity uuid.UUID, now time.Time) (u Usage, err error) {
	err = from.QueryRow(ctx, `SELECT coalesce(sum(asked) FILTER (WHERE day = t.today), 0)::bigint, coalesce(sum(answered) FILTER (WHERE day = t.today), 0)::bigint,
			coalesce(sum(misses) FILTER (WHERE day = t.today), 0)::bigint, coalesce(sum(numbers) FILTER (WHERE day = t.today), 0)::bigint, coalesce(sum(answered), 0)::bigint,
			coalesce((SELECT y.counted FROM guard_year y WHERE y.subject_id = $1 AND y.year = $3), 0),
			coalesce((SELECT f.file_spent FROM guard_entered f WHERE f.subject_id = $1 AND f.year = $3 AND f.file_day = $2), 0)
		FROM usage_day, (SELECT DATE '1970-01-01' + $2::int AS today) t
		WHERE entity_id = $1 AND day >= date_trunc('month', t.today) AND day <= t.today`, entity, dayOf(now), yearOf(dayOf(now))).
		Scan(&u.Requests, &u.Answered, &u.Misses, &u.Numbers, &u.Month, &u.Year, &u.Files)
	if err != nil {
		return Usage{}, fmt.Errorf("guard: read the usage: %w", err)
	}
	w, err := new(warmUp).read(ctx, from, now)
	u.held = w.held(entity, now)
	return u, err
}
