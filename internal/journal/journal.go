// Package journal is the durable record of what was answered.
//
// The rule is that no answer leaves before its record is committed:
// [Journal.Record] returns nil only then. When it returns an error the caller
// must refuse; whether the record is there may be unknown, and nobody was told
// anything.
//
// Each call writes one batch: a row of journal_batch, keyed by the node, the
// epoch (one for each start of a node), a counter and the batch's time, and the
// entries, which are numbered within it. That key makes a batch of unknown
// outcome safe to try again. Entries are never changed and never deleted: the
// serving role has no right to.
package journal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal/internal/db"
)

var (
	// ErrNotRecorded reports that the journal did not take an entry, or that it
	// is not known whether it did.
	ErrNotRecorded = fault.New(fault.Unavailable, "The service could not record its answer and therefore gives none. Ask again shortly.")

	// ErrNotFound reports a request id for which there is no record.
	ErrNotFound = fault.New(fault.NotFound, "There is no record with this requestId.")
)

// Journal writes records. Make one with [Open].
type Journal struct {
	// Observe, if set, is told of every batch: how many entries, how long it
	// took, and what became of it.
	Observe func(entries int, took time.Duration, err error)

	pool  *pgxpool.Pool
	node  string
	epoch int64
	n     atomic.Int64
}

// Open begins a new epoch of node. Epochs come from the database, so that two
// processes which were given the same name still write different keys.
func Open(ctx context.Context, pool *pgxpool.Pool, node string) (*Journal, error) {
	epoch, err := db.New(pool).NextEpoch(ctx)
	if err != nil {
		return nil, fmt.Errorf("journal: begin an epoch: %w", err)
	}
	return &Journal{pool: pool, node: node, epoch: epoch}, nil
}

// Get returns the record of a request. The time inside the id leads to its
// partition. A record whose hash does not fit is an error, not an answer.
func Get(ctx context.Context, pool *pgxpool.Pool, requestID uuid.UUID) (Entry, error) {
	at, err := TimeOf(requestID)
	if err != nil {
		return Entry{}, err
	}
	rows, err := db.New(pool).Entries(ctx, db.EntriesParams{At: at, RequestID: requestID})
	if err != nil {
		return Entry{}, fmt.Errorf("journal: get: %w", err)
	}
	switch len(rows) {
	case 0:
		return Entry{}, ErrNotFound
	case 1:
	default:
		return Entry{}, fmt.Errorf("journal: get: %d records share one request id", len(rows))
	}
	r := rows[0]
	e := Entry{
		RequestID: r.RequestID, At: r.At.UTC(), Entity: r.EntityID, Key: r.KeyID, Mode: r.Mode, Purpose: r.Purpose,
		Correlator: r.Correlator, Number: r.Number, PhoneNumber: r.PhoneNumber, Options: r.Options, Status: r.Status,
		MobileNetwork: r.MobileNetwork, Extra: r.Extra, LineVersion: r.LineVersion, PolicyVersion: r.PolicyVersion, PlanVersion: r.PlanVersion,
	}
	copy(e.Nonce[:], r.Nonce)
	if h := e.Hash(); string(h[:]) != string(r.Hash) {
		return Entry{}, errors.New("journal: get: the record does not fit its hash; it was changed after it was written")
	}
	return e, nil
}

// MakePartitions makes the daily partitions that are missing, from yesterday to
// so many days ahead, and returns how many it made.
func MakePartitions(ctx context.Context, pool *pgxpool.Pool, days int) (int, error) {
	made, err := db.New(pool).MakePartitions(ctx, int32(days)) //nolint:gosec // the function refuses more than 366
	if err != nil {
		return 0, fmt.Errorf("journal: make partitions: %w", err)
	}
	return int(made), nil
}

// DaysAhead returns for how many whole days after today there is a partition
// without a gap, or -1 when there is none even for today.
func DaysAhead(ctx context.Context, pool *pgxpool.Pool, now time.Time) (int, error) {
	all, err := partitions(ctx, pool, false)
	if err != nil {
		return 0, err
	}
	there := make(map[time.Time]bool)
	for _, p := range all {
		if p.parent == entryTable && p.inside() {
			there[p.day] = true
		}
	}
	ahead := -1
	for day := dayOf(now); there[day]; day = day.AddDate(0, 0, 1) {
		ahead++
	}
	return ahead, nil
}
