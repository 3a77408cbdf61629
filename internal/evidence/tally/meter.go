package tally

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	// flushInterval is how often a node stores its counts.
	flushInterval = 5 * time.Second
	// flushTimeout bounds one flush.
	flushTimeout = 2 * time.Second
)

// Meter counts in memory how requests ended and how long they took, and adds the
// counts to those that the node has stored. The counts of the last seconds are
// lost if a node is killed. Create one with [NewMeter].
type Meter struct {
	pool *pgxpool.Pool
	node string
	now  func() time.Time
	log  *slog.Logger

	mu       sync.Mutex
	unstored map[seriesKey]*outcomes
	// unstoredKeys counts the outcomes of each key.
	unstoredKeys map[keySeries]int64

	flushing sync.Mutex // held during Flush
}

// seriesKey identifies the counts of one entity and mode on one day.
type seriesKey struct {
	entity uuid.UUID
	mode   string
	day    int64 // days since 1970
}

// outcomes are the counts of one series.
type outcomes struct {
	requests, refused, failed int64
	times                     Times
}

// NewMeter returns a meter that stores its counts under the name of a node.
func NewMeter(pool *pgxpool.Pool, node string, now func() time.Time, log *slog.Logger) *Meter {
	return &Meter{pool: pool, node: node, now: now, log: log, unstored: make(map[seriesKey]*outcomes), unstoredKeys: make(map[keySeries]int64)}
}

// Outcome is how a request ended.
type Outcome int

// The outcomes.
const (
	Answered Outcome = iota
	Refused          // because of the caller
	Failed           // because of the service
)

// Record counts a request. Took is the duration of an answered request about a single
// number; for all others it is 0 and not counted.
func (m *Meter) Record(entity uuid.UUID, mode string, how Outcome, took time.Duration) {
	key := seriesKey{entity, mode, m.now().Unix() / (24 * 60 * 60)}
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.unstored[key]
	if o == nil {
		o = &outcomes{}
		m.unstored[key] = o
	}
	o.requests++
	switch how {
	case Refused:
		o.refused++
	case Failed:
		o.failed++
	case Answered:
		if took > 0 {
			o.times[bucketOf(took)]++
		}
	}
}

// Run calls [Meter.Flush] every few seconds until ctx ends. Call it once more after
// the last request.
func (m *Meter) Run(ctx context.Context) {
	pause.Loop{Interval: flushInterval, Limit: flushTimeout, Failed: func(err error) {
		m.log.LogAttrs(ctx, slog.LevelWarn, "the outcomes of requests cannot be stored; counting continues in memory", slog.String("error", err.Error()))
	}}.Run(ctx, m.Flush)
}

// Flush stores the counts.
func (m *Meter) Flush(ctx context.Context) error {
	m.flushing.Lock()
	defer m.flushing.Unlock()
	m.mu.Lock()
	counts, keys := m.unstored, m.unstoredKeys
	m.unstored, m.unstoredKeys = make(map[seriesKey]*outcomes, len(counts)), make(map[keySeries]int64, len(keys))
	m.mu.Unlock()
	if len(counts) == 0 && len(keys) == 0 {
		return nil
	}
	err := pg.InTx(ctx, m.pool, func(tx pg.Tx) error {
		if err := save(ctx, tx, m.node, counts); err != nil {
			return err
		}
		return saveKeys(ctx, tx, m.node, keys)
	})
	if err != nil {
		m.restore(counts, keys)
	}
	return err
}

// restore adds back counts after a failed transaction. If the transaction was
// committed although its result was lost, some seconds of requests count twice.
func (m *Meter) restore(counts map[seriesKey]*outcomes, keys map[keySeries]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, n := range keys {
		m.unstoredKeys[at] += n
	}
	for key, old := range counts {
		if since := m.unstored[key]; since != nil {
			old.requests, old.refused, old.failed = old.requests+since.requests, old.refused+since.refused, old.failed+since.failed
			old.times = old.times.Plus(since.times)
		}
		m.unstored[key] = old
	}
}

// saveSQL adds counts to the stored ones, bucket by bucket. The histograms of all
// rows come as one array, of which each row takes its part.
const saveSQL = `INSERT INTO usage_pace AS u (entity_id, day, mode, node, asked, refused, failed, times)
	SELECT t.entity, DATE '1970-01-01' + t.day::int, t.mode, $1, t.asked, t.refused, t.failed, ($8::bigint[])[(t.o - 1) * $9 + 1 : t.o * $9]
	FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[]) WITH ORDINALITY AS t (entity, day, mode, asked, refused, failed, o)
	ON CONFLICT (entity_id, day, mode, node) DO UPDATE SET asked = u.asked + excluded.asked, refused = u.refused + excluded.refused, failed = u.failed + excluded.failed,
		times = (SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY i) FROM unnest(u.times, excluded.times) WITH ORDINALITY AS s (a, b, i))`

func save(ctx context.Context, tx pg.Tx, node string, counts map[seriesKey]*outcomes) error {
	if len(counts) == 0 {
		return nil
	}
	keys := make([]seriesKey, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	// The order prevents a deadlock of two processes that share a name by mistake.
	slices.SortFunc(keys, func(a, b seriesKey) int { return slices.Compare(a.entity[:], b.entity[:]) })
	var entities []uuid.UUID
	var modes []string
	var days, asked, refused, failed, times []int64
	for _, key := range keys {
		p := counts[key]
		entities, days, modes = append(entities, key.entity), append(days, key.day), append(modes, key.mode)
		asked, refused, failed, times = append(asked, p.requests), append(refused, p.refused), append(failed, p.failed), append(times, p.times[:]...)
	}
	_, err := tx.Exec(ctx, saveSQL, node, entities, days, modes, asked, refused, failed, times, len(Times{}))
	return fault.Wrap(err, "tally: store outcomes")
}
