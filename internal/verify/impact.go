package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
)

// Correction is what a look for changed answers begins with: one event, or all
// that were told in a stretch of time.
type Correction struct {
	Seq      int64
	From, To time.Time // told from, and before
}

// Difference is a past answer that would have been another one, had everything
// been known then that is known now.
type Difference struct {
	RequestID uuid.UUID
	At        time.Time
	Entity    uuid.UUID // who asked
	Key       uuid.UUID
	Said      string // status and network, as said
	WouldSay  string
}

// ErrNoEvent reports an event that was never told.
var ErrNoEvent = fault.New(fault.NotFound, "There is no such event. The history of a number shows the events and their numbers.")

// Impact returns the past answers that a correction or a late event would have
// changed. For each answer about the numbers concerned it folds what was known
// when it was given, and what is known now, by the policy and the plan of that
// answer; the reach of the supply is left out of the comparison.
func Impact(ctx context.Context, pool *pgxpool.Pool, lines *line.Almanac, c Correction) ([]Difference, error) {
	touched, err := touched(ctx, pool, c)
	if err == nil && len(touched) == 0 && c.Seq != 0 {
		err = ErrNoEvent
	}
	if err != nil || len(touched) == 0 {
		return nil, err
	}
	keys, numbers := make([]int64, 0, len(touched)), make([]phone.Number, 0, len(touched))
	from, to := time.Time{}, time.Time{}
	for n, span := range touched {
		keys, numbers = append(keys, n.Int()), append(numbers, n)
		if from.IsZero() || span.from.Before(from) {
			from = span.from
		}
		if span.to.After(to) {
			to = span.to
		}
	}
	rows, err := line.Rows(ctx, pool, numbers)
	if err != nil {
		return nil, err
	}
	histories, err := line.Histories(ctx, pool, numbers, rows)
	if err != nil {
		return nil, err
	}
	answers, err := answersAbout(ctx, pool, keys, from, to)
	if err != nil {
		return nil, err
	}
	var all []Difference
	for _, a := range answers {
		span, ok := touched[a.number]
		if !ok || a.At.Before(span.from) || !a.At.Before(span.to) {
			continue
		}
		differs, err := a.differs(ctx, pool, lines, histories[a.number])
		if err != nil {
			return nil, err
		}
		if differs {
			all = append(all, a.Difference)
		}
	}
	return all, nil
}

// span is the time in which answers about a number may have been wrong: from
// the effect of what was told until it was told.
type span struct{ from, to time.Time }

func touched(ctx context.Context, pool *pgxpool.Pool, c Correction) (map[phone.Number]span, error) {
	rows, err := pool.Query(ctx, `SELECT number, effective, told_at FROM line_event
		WHERE CASE WHEN $1::bigint > 0 THEN seq = $1 ELSE told_at >= $2 AND told_at < $3 END`, c.Seq, c.From, c.To)
	if err != nil {
		return nil, fmt.Errorf("verify: find what was corrected: %w", err)
	}
	defer rows.Close()
	all := make(map[phone.Number]span)
	for rows.Next() {
		var key int64
		var effective line.Instant
		var told time.Time
		if err := rows.Scan(&key, &effective, &told); err != nil {
			return nil, fmt.Errorf("verify: find what was corrected: %w", err)
		}
		n, _ := phone.FromInt(key)
		s, ok := all[n]
		if !ok || effective.Time().Before(s.from) {
			s.from = effective.Time()
		}
		if told.After(s.to) {
			s.to = told
		}
		all[n] = s
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("verify: find what was corrected: %w", err)
	}
	return all, nil
}

// pastAnswer is an answer of the journal, with the rules that gave it.
type pastAnswer struct {
	Difference

	number       phone.Number
	policy, plan int32
}

// answersAbout reads the journal of those days from end to end: it is ordered by
// time, and this question is rare.
func answersAbout(ctx context.Context, pool *pgxpool.Pool, numbers []int64, from, to time.Time) ([]pastAnswer, error) {
	rows, err := pool.Query(ctx, `SELECT request_id, at, entity_id, key_id, status || ' ' || mobile_network, number, policy_version, plan_version
		FROM journal_entry WHERE at >= $1 AND at < $2 AND number = ANY($3) AND mode = 'live' ORDER BY at`, from, to, numbers)
	if err != nil {
		return nil, fmt.Errorf("verify: read past answers: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a pastAnswer, err error) {
		var key int64
		err = row.Scan(&a.RequestID, &a.At, &a.Entity, &a.Key, &a.Said, &key, &a.policy, &a.plan)
		a.At = a.At.UTC()
		a.number, _ = phone.FromInt(key)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("verify: read past answers: %w", err)
	}
	return all, nil
}

// differs computes the answer by what was known then and by what is known now.
func (a *pastAnswer) differs(ctx context.Context, pool *pgxpool.Pool, lines *line.Almanac, h *line.History) (bool, error) {
	look, err := lookThen(ctx, pool, lines, a.number, a.At, a.policy, a.plan)
	if err != nil {
		return false, err
	}
	look.Coverage = coverage(line.Coverage{KnownSince: a.At, CompleteSince: a.At, Through: a.At})
	by := func(events []line.Event) string {
		look.Row, _ = line.Fold(h.Base, events, line.InstantOf(a.At))
		return say(&look, a.At)
	}
	var then []line.Event
	for _, e := range h.Events {
		if !e.Told.After(a.At) {
			then = append(then, e)
		}
	}
	said, now := by(then), by(h.Events)
	a.WouldSay = now
	return said != now, nil
}
