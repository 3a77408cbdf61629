package tally

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// keySeries identifies the counts of one key and outcome on one day.
type keySeries struct {
	seriesKey

	key     uuid.UUID
	outcome string
}

// RecordKey counts what a key got: the status of an answer or the code of an error, n
// times.
func (m *Meter) RecordKey(entity, key uuid.UUID, mode, outcome string, n int64) {
	at := keySeries{seriesKey{entity, mode, m.now().Unix() / (24 * 60 * 60)}, key, outcome}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unstoredKeys[at] += n
}

func saveKeys(ctx context.Context, tx pg.Tx, node string, counts map[keySeries]int64) error {
	if len(counts) == 0 {
		return nil
	}
	list := make([]keySeries, 0, len(counts))
	for at := range counts {
		list = append(list, at)
	}
	// The order prevents a deadlock of two processes that share a name by mistake.
	slices.SortFunc(list, func(a, b keySeries) int {
		return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.day, b.day), strings.Compare(a.outcome, b.outcome))
	})
	var entities, keys []uuid.UUID
	var modes, outcomes []string
	var days, times []int64
	for _, at := range list {
		entities, keys, modes, outcomes = append(entities, at.entity), append(keys, at.key), append(modes, at.mode), append(outcomes, at.outcome)
		days, times = append(days, at.day), append(times, counts[at])
	}
	_, err := tx.Exec(ctx, `INSERT INTO usage_key AS u (entity_id, day, key_id, mode, node, outcome, n)
		SELECT t.entity, DATE '1970-01-01' + t.day::int, t.key, t.mode, $1, t.outcome, t.n
		FROM unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::bigint[]) AS t (entity, day, key, mode, outcome, n)
		ON CONFLICT (entity_id, day, key_id, mode, node, outcome) DO UPDATE SET n = u.n + excluded.n`, node, entities, days, keys, modes, outcomes, times)
	return fault.Wrap(err, "tally: store what keys got")
}

// KeyUsage is how often a key got an outcome on a day.
type KeyUsage struct {
	Day     time.Time // its midnight, UTC
	Key     uuid.UUID
	Outcome string // the status of an answer, or the code of an error
	N       int64
}

// UsageByKey returns the outcomes that the keys of an entity got on every day from the day of from to
// the day of to, inclusive, by day, key and outcome.
func (t *Tally) UsageByKey(ctx context.Context, entity uuid.UUID, mode string, from, to time.Time) (list []KeyUsage, err error) {
	var u KeyUsage
	err = forEachRow(ctx, t.Pool, []any{&u.Day, &u.Key, &u.Outcome, &u.N}, func() {
		u.Day = u.Day.UTC()
		list = append(list, u)
	}, `SELECT day::timestamptz, key_id, outcome, sum(n)::bigint FROM usage_key
		WHERE entity_id = $1 AND day >= $2::timestamptz::date AND day <= $3::timestamptz::date AND mode = $4
		GROUP BY day, key_id, outcome ORDER BY day, key_id, outcome`, entity, dayOf(from), dayOf(to), mode)
	return list, err
}
