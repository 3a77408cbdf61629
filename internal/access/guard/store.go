package guard

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// saveUsage adds counts to the stored usage of the node.
func saveUsage(ctx context.Context, tx pg.Tx, node string, counts []dayUsage) error {
	if len(counts) == 0 {
		return nil
	}
	var entities []uuid.UUID
	var days, asked, answered, misses, numbers []int64
	for _, c := range counts {
		if c.isSponsor {
			continue
		}
		entities, days = append(entities, c.subject), append(days, c.day)
		asked, answered, misses, numbers = append(asked, c.requests), append(answered, c.answered), append(misses, c.misses), append(numbers, c.numbers)
	}
	_, err := tx.Exec(ctx, `INSERT INTO usage_day AS u (day, entity_id, node, asked, answered, misses, numbers)
		SELECT DATE '1970-01-01' + t.day::int, t.entity, $1, t.asked, t.answered, t.misses, t.numbers
		FROM unnest($2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) AS t (day, entity, asked, answered, misses, numbers)
		ON CONFLICT (day, entity_id, node) DO UPDATE SET asked = u.asked + excluded.asked, answered = u.answered + excluded.answered,
			misses = u.misses + excluded.misses, numbers = u.numbers + excluded.numbers`,
		node, days, entities, asked, answered, misses, numbers)
	return fault.Wrap(err, "guard: store the usage")
}

// saveAlert stores an alert, unless another node has stored the same, or staff have
// just exempted the organisation or the sponsor.
func saveAlert(ctx context.Context, tx pg.Tx, a *Alert) (isNew bool, err error) {
	var ends *time.Time
	if !a.Until.IsZero() {
		ends = &a.Until
	}
	tag, err := tx.Exec(ctx, `INSERT INTO guard_alert (id, entity_id, sponsor_id, kind, level, since, ends_at, node, numbers, misses, dense, block, budget)
		SELECT $1, $2, $13, $3::text, $4, $5::timestamptz, $6::timestamptz, $7, $8, $9, $10, $11, $12
		WHERE $6::timestamptz IS NOT NULL OR NOT EXISTS (SELECT FROM guard_alert q WHERE coalesce(q.entity_id, q.sponsor_id) = $14 AND q.quiet_until > $5::timestamptz)
		ON CONFLICT DO NOTHING`,
		a.ID, pg.ID(a.Entity), string(a.Kind), a.Level.String(), a.Since, ends, a.Node, a.Numbers, a.Misses, a.Dense, a.Block, a.Budget, pg.ID(a.Sponsor), a.subject())
	if err != nil {
		return false, fmt.Errorf("guard: store an alert: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// readState reads what all nodes have stored: usage of today, active alerts and
// exemptions and, if months is set, the usage of the earlier days of this month.
func readState(ctx context.Context, tx pg.Tx, now time.Time, months bool) (s state, err error) {
	s.day, s.today = dayOf(now), make(map[uuid.UUID]usage)
	s.raised, s.quiet, s.sponsors = make(map[uuid.UUID][len(kinds)]Level), make(map[uuid.UUID]time.Time), make(map[uuid.UUID]bool)
	var id uuid.UUID
	var u usage
	err = forEachRow(ctx, tx, []any{&id, &u.requests, &u.answered, &u.misses, &u.numbers}, func() { s.today[id] = u },
		`SELECT entity_id, sum(asked)::bigint, sum(answered)::bigint, sum(misses)::bigint, sum(numbers)::bigint
		FROM usage_day WHERE day = DATE '1970-01-01' + $1::int GROUP BY entity_id`, s.day)
	if err != nil {
		return state{}, err
	}
	// A sponsor has used what its organisations have.
	err = forEachRow(ctx, tx, []any{&id, &u.numbers}, func() { s.today[id] = usage{numbers: u.numbers} },
		`SELECT e.client_id, sum(u.numbers)::bigint FROM usage_day u JOIN entity e ON e.id = u.entity_id
		WHERE u.day = DATE '1970-01-01' + $1::int AND e.client_id IS NOT NULL GROUP BY e.client_id`, s.day)
	if err != nil {
		return state{}, err
	}
	var kind, level string
	var isSponsor bool
	err = forEachRow(ctx, tx, []any{&id, &isSponsor, &kind, &level}, func() {
		all := s.raised[id]
		s.sponsors[id] = isSponsor
		i := kindIndex(Kind(kind))
		all[i] = max(all[i], levelOf(level))
		s.raised[id] = all
	}, `SELECT coalesce(entity_id, sponsor_id), sponsor_id IS NOT NULL, kind, level FROM guard_alert WHERE released_at IS NULL AND (ends_at IS NULL OR ends_at > $1)`, now)
	if err != nil {
		return state{}, err
	}
	var until time.Time
	err = forEachRow(ctx, tx, []any{&id, &until}, func() { s.quiet[id] = until },
		`SELECT coalesce(entity_id, sponsor_id), max(quiet_until) FROM guard_alert WHERE quiet_until > $1 GROUP BY 1`, now)
	if err == nil {
		err = readYears(ctx, tx, now, months, &s)
	}
	if err != nil || !months {
		return s, err
	}
	s.month = make(map[uuid.UUID]int64)
	var answered int64
	err = forEachRow(ctx, tx, []any{&id, &answered}, func() { s.month[id] = answered },
		`SELECT entity_id, sum(answered)::bigint FROM usage_day
		WHERE day >= date_trunc('month', DATE '1970-01-01' + $1::int) AND day < DATE '1970-01-01' + $1::int GROUP BY entity_id`, s.day)
	return s, err
}

// forEachRow calls fn for every row of a query after scanning it into the variables.
func forEachRow(ctx context.Context, from pg.DB, into []any, fn func(), sql string, args ...any) error {
	err := pg.ForEach(ctx, from, into, func() error {
		fn()
		return nil
	}, sql, args...)
	return fault.Wrap(err, "guard: read the stored state")
}
