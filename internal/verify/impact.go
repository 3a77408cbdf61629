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

// Correction selects the events whose effect on past answers is looked for: one
// event, or all that were reported in a period.
type Correction struct {
	Seq      int64
	From, To time.Time // reported from, and before
}

// Difference is a past answer that would have been different if everything that
// is known now had been known then.
type Difference struct {
	RequestID  uuid.UUID
	At         time.Time
	Entity     uuid.UUID // that received the answer
	Key        uuid.UUID
	Answered   string // status and network, as answered
	Recomputed string // status and network, by what is known now
}

// ErrNoEvent reports an event that does not exist.
var ErrNoEvent = fault.New(fault.NotFound, "There is no such event. The history of a number shows the events and their numbers.")

// Impact returns the past answers that a correction or a late event would have
// changed. For each answer about the numbers concerned it folds the events that
// were known when it was given, and the events that are known now, and compares.
// Both use the policy and the plan of that answer; the coverage of the supply is
// left out of the comparison.
func Impact(ctx context.Context, pool *pgxpool.Pool, lines *line.Resolver, c Correction) ([]Difference, error) {
	affected, err := affectedPeriods(ctx, pool, c)
	if err == nil && len(affected) == 0 && c.Seq != 0 {
		err = ErrNoEvent
	}
	if err != nil || len(affected) == 0 {
		return nil, err
	}
	keys, numbers := make([]int64, 0, len(affected)), make([]phone.Number, 0, len(affected))
	var whole period // from the earliest to the latest of all
	for n, p := range affected {
		keys, numbers = append(keys, n.Int()), append(numbers, n)
		if whole.from.IsZero() || p.from.Before(whole.from) {
			whole.from = p.from
		}
		if p.to.After(whole.to) {
			whole.to = p.to
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
	answers, err := answersAbout(ctx, pool, keys, whole)
	if err != nil {
		return nil, err
	}
	var all []Difference
	for _, a := range answers {
		p, ok := affected[a.number]
		if !ok || a.At.Before(p.from) || !a.At.Before(p.to) {
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

// period is the time in which answers about a number may have been wrong: from
// when an event took effect until it was reported.
type period struct{ from, to time.Time }

// affectedPeriods returns the period of each number that the selected events are
// about.
func affectedPeriods(ctx context.Context, pool *pgxpool.Pool, c Correction) (map[phone.Number]period, error) {
	rows, err := pool.Query(ctx, `SELECT number, effective, told_at FROM line_event
		WHERE CASE WHEN $1::bigint > 0 THEN seq = $1 ELSE told_at >= $2 AND told_at < $3 END`, c.Seq, c.From, c.To)
	if err != nil {
		return nil, fmt.Errorf("verify: read the events of the correction: %w", err)
	}
	defer rows.Close()
	all := make(map[phone.Number]period)
	for rows.Next() {
		var key int64
		var effective line.Instant
		var reported time.Time
		if err := rows.Scan(&key, &effective, &reported); err != nil {
			return nil, fmt.Errorf("verify: read the events of the correction: %w", err)
		}
		n, _ := phone.FromInt(key)
		p, ok := all[n]
		if !ok || effective.Time().Before(p.from) {
			p.from = effective.Time()
		}
		if reported.After(p.to) {
			p.to = reported
		}
		all[n] = p
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("verify: read the events of the correction: %w", err)
	}
	return all, nil
}

// pastAnswer is an answer from the journal, with the versions of the policy and
// the plan that it was computed by.
type pastAnswer struct {
	Difference

	number       phone.Number
	policy, plan int32
}

// answersAbout returns the answers about numbers in a period. It scans the whole
// journal of the period: the journal is ordered by time and has no index by
// number, and this query is rare.
func answersAbout(ctx context.Context, pool *pgxpool.Pool, numbers []int64, in period) ([]pastAnswer, error) {
	rows, err := pool.Query(ctx, `SELECT request_id, at, entity_id, key_id, status || ' ' || mobile_network, number, policy_version, plan_version
		FROM journal_entry WHERE at >= $1 AND at < $2 AND number = ANY($3) AND mode = 'live' ORDER BY at`, in.from, in.to, numbers)
	if err != nil {
		return nil, fmt.Errorf("verify: read past answers: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a pastAnswer, err error) {
		var key int64
		err = row.Scan(&a.RequestID, &a.At, &a.Entity, &a.Key, &a.Answered, &key, &a.policy, &a.plan)
		a.At = a.At.UTC()
		a.number, _ = phone.FromInt(key)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("verify: read past answers: %w", err)
	}
	return all, nil
}

// differs computes the answer from the events that were known when it was given
// and from those that are known now, and reports whether the two differ. It sets
// WouldSay.
func (a *pastAnswer) differs(ctx context.Context, pool *pgxpool.Pool, lines *line.Resolver, h *line.History) (bool, error) {
	l, err := pastRules(ctx, pool, lines, a.number, a.At, a.policy, a.plan)
	if err != nil {
		return false, err
	}
	l.Coverage = sameForAll(line.Coverage{KnownSince: a.At, CompleteSince: a.At, Through: a.At})
	computeFrom := func(events []line.Event) string {
		l.Row, _ = line.Fold(h.Base, events, line.InstantOf(a.At))
		return statusAndNetwork(&l, a.At)
	}
	var knownThen []line.Event
	for _, e := range h.Events {
		if !e.ReportedAt.After(a.At) {
			knownThen = append(knownThen, e)
		}
	}
	then, now := computeFrom(knownThen), computeFrom(h.Events)
	a.Recomputed = now
	return then != now, nil
}
