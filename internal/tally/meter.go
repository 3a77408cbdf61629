package tally

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/pg"
)

const (
	// flushEvery is how often a node stores what it has counted.
	flushEvery = 5 * time.Second
	// flushTime is how long that may take.
	flushTime = 2 * time.Second
)

// Meter counts how requests ended and how long they took, in memory, and adds
// that to what the node has stored. What a node has counted in the seconds
// before it was killed is lost. Make one with [NewMeter].
type Meter struct {
	pool *pgxpool.Pool
	node string
	now  func() time.Time
	log  *slog.Logger

	mu    sync.Mutex
	fresh map[whose]*pace

	flushing sync.Mutex // held while the database is asked
}

type whose struct {
	entity uuid.UUID
	mode   string
	day    int64 // since 1970
}

// pace is what was counted of one entity on one day.
type pace struct {
	asked, refused, failed int64
	times                  Times
}

// NewMeter returns a meter that stores what it counts under the name of a node.
func NewMeter(pool *pgxpool.Pool, node string, now func() time.Time, log *slog.Logger) *Meter {
	return &Meter{pool: pool, node: node, now: now, log: log, fresh: make(map[whose]*pace)}
}

// Outcome is how a request ended.
type Outcome int

// The outcomes.
const (
	Answered Outcome = iota
	Refused          // by the caller's doing
	Failed           // by ours
)

// Note counts a request. How long it took counts for one that asked a single
// question and was answered; otherwise took is 0.
func (m *Meter) Note(entity uuid.UUID, mode string, how Outcome, took time.Duration) {
	key := whose{entity, mode, m.now().Unix() / (24 * 60 * 60)}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.fresh[key]
	if p == nil {
		p = &pace{}
		m.fresh[key] = p
	}
	p.asked++
	switch how {
	case Refused:
		p.refused++
	case Failed:
		p.failed++
	case Answered:
		if took > 0 {
			p.times[bucketOf(took)]++
		}
	}
}

// Run stores what was counted every few seconds until ctx ends. Call
// [Meter.Flush] once more when no request can come any longer.
func (m *Meter) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	away := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		bounded, cancel := context.WithTimeout(ctx, flushTime)
		err := m.Flush(bounded)
		cancel()
		if err != nil && !away && ctx.Err() == nil {
			m.log.LogAttrs(ctx, slog.LevelWarn, "how requests ended cannot be stored; it is counted on in memory", slog.String("error", err.Error()))
		}
		away = err != nil
	}
}

// Flush stores what was counted.
func (m *Meter) Flush(ctx context.Context) error {
	m.flushing.Lock()
	defer m.flushing.Unlock()
	m.mu.Lock()
	going := m.fresh
	m.fresh = make(map[whose]*pace, len(going))
	m.mu.Unlock()
	if len(going) == 0 {
		return nil
	}
	err := pg.InTx(ctx, m.pool, func(tx pg.Tx) error { return save(ctx, tx, m.node, going) })
	if err != nil {
		m.putBack(going)
	}
	return err
}

// putBack takes back what was not stored. Where nobody knows whether it was,
// some seconds of requests may come to count twice.
func (m *Meter) putBack(going map[whose]*pace) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, old := range going {
		if since := m.fresh[key]; since != nil {
			old.asked, old.refused, old.failed = old.asked+since.asked, old.refused+since.refused, old.failed+since.failed
			old.times = old.times.Plus(since.times)
		}
		m.fresh[key] = old
	}
}

// saveSQL adds to what is stored, bucket by bucket. The times of all rows come as
// one array, of which each row takes its part.
const saveSQL = `INSERT INTO usage_pace AS u (entity_id, day, mode, node, asked, refused, failed, times)
	SELECT t.entity, DATE '1970-01-01' + t.day::int, t.mode, $1, t.asked, t.refused, t.failed, ($8::bigint[])[(t.o - 1) * $9 + 1 : t.o * $9]
	FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[]) WITH ORDINALITY AS t (entity, day, mode, asked, refused, failed, o)
	ON CONFLICT (entity_id, day, mode, node) DO UPDATE SET asked = u.asked + excluded.asked, refused = u.refused + excluded.refused, failed = u.failed + excluded.failed,
		times = (SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY i) FROM unnest(u.times, excluded.times) WITH ORDINALITY AS s (a, b, i))`

func save(ctx context.Context, tx pg.Tx, node string, counts map[whose]*pace) error {
	keys := make([]whose, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	// Two processes that share a name by mistake must not wait for each other.
	slices.SortFunc(keys, func(a, b whose) int { return slices.Compare(a.entity[:], b.entity[:]) })
	var entities []uuid.UUID
	var modes []string
	var days, asked, refused, failed, times []int64
	for _, key := range keys {
		p := counts[key]
		entities, days, modes = append(entities, key.entity), append(days, key.day), append(modes, key.mode)
		asked, refused, failed, times = append(asked, p.asked), append(refused, p.refused), append(failed, p.failed), append(times, p.times[:]...)
	}
	if _, err := tx.Exec(ctx, saveSQL, node, entities, days, modes, asked, refused, failed, times, len(Times{})); err != nil {
		return fmt.Errorf("tally: store how requests ended: %w", err)
	}
	return nil
}
