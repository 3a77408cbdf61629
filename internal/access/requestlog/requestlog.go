// Package requestlog keeps the requests with an API key that got no answer, so that the
// people of an organisation can find out why.
//
// What it guarantees:
//
//   - It never delays or breaks a response: a refused request is put into a queue in
//     memory, which is written once a second.
//   - It is bounded. Above a rate of one organisation, and while the queue is full, a
//     request is not stored but counted; the next stored one says how many are missing.
//   - It has no phone number. Of a valid number it keeps an HMAC together with the
//     organisation, by which the organisation finds its own requests and nobody can
//     compare those of two organisations.
//   - Requests are kept for 30 days.
//
// What is in the queue is lost if a node is killed.
package requestlog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Retention is how long a refused request is kept.
const Retention = 30 * 24 * time.Hour

const (
	flushInterval = time.Second
	flushTimeout  = 2 * time.Second
	maxQueue      = 4_096 // requests that wait to be written, on this node
	maxEntities   = 4_096 // organisations whose rate is counted at once

	// The rate of one organisation on one node: about 170,000 a day after the first
	// burst, which shows any mistake of an application completely.
	perSecond = 2
	burst     = 300
)

// Refused is a request that got no answer.
type Refused struct {
	At          time.Time
	ID          uuid.UUID // the X-Request-Id of the response
	Entity, Key uuid.UUID
	Mode, Route string
	Status      int    // of HTTP
	Code        string // of the error
	Violations  []string
	Number      string // in E.164; "" if there is no valid one. It is not stored
	Correlator  string
	Skipped     int64 // how many of the organisation were not stored before this one
}

// maxViolations is how many violations of a request are kept. The response has all.
const maxViolations = 10

// Violations returns what was wrong with a request, each as field and code. Loggable
// returns the name of a field as it may be stored: a caller can send any name.
func Violations(f *fault.Error, loggable func(string) string) (list []string) {
	for _, v := range f.Violations[:min(len(f.Violations), maxViolations)] {
		list = append(list, loggable(v.Field)+": "+v.Code)
	}
	return list
}

// Number returns a number as [Refused] has it.
func Number(n phone.Number) string {
	if n.IsZero() {
		return ""
	}
	return n.E164()
}

// Log writes refused requests. Create one with [New].
type Log struct {
	pool    *pgxpool.Pool
	peppers *secret.Peppers
	now     func() time.Time
	log     *slog.Logger
	dropped func(int) // is called with the number of requests that were not stored

	mu    sync.Mutex
	queue []Refused
	rates map[uuid.UUID]*rate

	flushing sync.Mutex // held during Flush
}

// rate has how many requests of an organisation are stored yet, and how many were left out.
type rate struct {
	left    float64
	at      time.Time
	skipped int64
}

// New returns a log. Dropped may be nil.
func New(pool *pgxpool.Pool, peppers *secret.Peppers, now func() time.Time, log *slog.Logger, dropped func(int)) *Log {
	if dropped == nil {
		dropped = func(int) {}
	}
	return &Log{pool: pool, peppers: peppers, now: now, log: log, dropped: dropped, rates: make(map[uuid.UUID]*rate)}
}

// Add queues a refused request, or only counts it. It takes well below a microsecond.
func (l *Log) Add(r Refused) {
	now := l.now()
	r.At = now.UTC().Truncate(time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.rateOf(r.Entity, now)
	if of == nil || of.left < 1 || len(l.queue) >= maxQueue {
		if of != nil {
			of.skipped++
		}
		l.dropped(1)
		return
	}
	of.left--
	r.Skipped, of.skipped = of.skipped, 0
	l.queue = append(l.queue, r)
}

// rateOf returns the rate of an organisation at a time; nil if too many are counted.
func (l *Log) rateOf(entity uuid.UUID, now time.Time) *rate {
	of := l.rates[entity]
	if of == nil {
		if len(l.rates) >= maxEntities {
			l.forgetFull(now)
		}
		if len(l.rates) >= maxEntities {
			return nil
		}
		of = &rate{left: burst, at: now}
		l.rates[entity] = of
	}
	of.left, of.at = min(burst, of.left+perSecond*max(now.Sub(of.at), 0).Seconds()), now
	return of
}

// forgetFull forgets organisations that have their whole burst again.
func (l *Log) forgetFull(now time.Time) {
	for id, of := range l.rates {
		if of.skipped == 0 && of.left+perSecond*now.Sub(of.at).Seconds() >= burst {
			delete(l.rates, id)
		}
	}
}

// Run calls [Log.Flush] every second until ctx ends. Call it once more after the last
// request.
func (l *Log) Run(ctx context.Context) {
	pause.Loop{Interval: flushInterval, Limit: flushTimeout, Failed: func(err error) {
		l.log.LogAttrs(ctx, slog.LevelWarn, "refused requests cannot be stored; they wait in memory, up to a number", slog.String("error", err.Error()))
	}}.Run(ctx, l.Flush)
}

// Flush writes the queue. What cannot be written waits for the next call, as far as the
// queue has room.
func (l *Log) Flush(ctx context.Context) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	list := l.queue
	l.queue = nil
	l.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	err := l.write(ctx, list)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == noPartition {
		if _, err = MakePartitions(ctx, l.pool); err == nil {
			err = l.write(ctx, list)
		}
	}
	if err == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	room := max(maxQueue-len(l.queue), 0)
	if lost := len(list) - room; lost > 0 {
		l.dropped(lost)
		list = list[lost:]
	}
	l.queue = append(list, l.queue...)
	return err
}

// noPartition is the error of PostgreSQL for a row that belongs to no partition.
const noPartition = "23514"

func (l *Log) write(ctx context.Context, list []Refused) error {
	var batch pgx.Batch
	for i := range list {
		r := &list[i]
		var mac []byte
		if r.Number != "" {
			mac = l.peppers.Sign(secret.ForRefusedNumbers, r.Entity.String(), r.Number) // the rows of two organisations have nothing in common
		}
		violations := r.Violations
		if violations == nil {
			violations = []string{}
		}
		batch.Queue(insertRefused, r.At, r.ID, r.Entity, r.Key, r.Mode, r.Route, r.Status, r.Code, violations, mac, r.Correlator, r.Skipped)
	}
	return fault.Wrap(l.pool.SendBatch(ctx, &batch).Close(), "requestlog: store")
}

// insertRefused stores a row unless it is there: when a commit was not confirmed, the rows are
// written again.
const insertRefused = `INSERT INTO refused_request (at, id, entity_id, key_id, mode, route, status, code, violations, number_mac, correlator, skipped)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`

// MakePartitions creates the partitions of the coming days and drops those that are too
// old. It returns how many it created or dropped.
func MakePartitions(ctx context.Context, pool *pgxpool.Pool) (changed int, err error) {
	err = pool.QueryRow(ctx, `SELECT refused_request_make_partitions()`).Scan(&changed)
	return changed, fault.Wrap(err, "requestlog: make partitions")
}
