// Package journal is the durable record of every answer.
//
// No answer is sent before its record is committed: [Journal.Record] returns nil
// only then. If it returns an error, the caller must refuse the request. The
// record may exist all the same, but no answer was given.
//
// Each call writes one batch: a row of journal_batch, keyed by the node, the
// epoch and the number (see [EpochWriter]) and the batch's time, and the
// entries, which are numbered within it. Because of that key, a batch whose commit
// was not confirmed can safely be retried. The service has no right to change or delete
// entries; only the owner erases the personal part of one, and drops a day that is archived.
package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrNotRecorded reports that an entry was not written, or that it is unknown
	// whether it was.
	ErrNotRecorded = fault.New(fault.Unavailable, "The service could not record its answer and therefore gives none. Send the request again shortly.")

	// ErrNotFound reports a request id for which there is no record.
	ErrNotFound = fault.New(fault.NotFound, "There is no record with this requestId.")
)

// Journal writes records. Create one with [Open].
type Journal struct {
	// Observe, if set, is called for every batch with the number of entries, the
	// duration and the result.
	Observe func(entries int, took time.Duration, err error)

	pool    *pgxpool.Pool
	node    string
	numbers *EpochWriter
}

// Open starts a new epoch of a node. Flushes is how many batches it will write at the
// same time.
func Open(ctx context.Context, pool *pgxpool.Pool, node string, flushes int) (*Journal, error) {
	numbers, err := OpenEpoch(ctx, pool, node, flushes)
	return &Journal{pool: pool, node: node, numbers: numbers}, err
}

// Close records which batches were written. It is called after the last one.
func (j *Journal) Close(ctx context.Context) error { return j.numbers.Close(ctx) }

// Get returns the record of a request. The time inside the id selects the
// partition. A record that does not match its hash is an error.
func Get(ctx context.Context, pool *pgxpool.Pool, requestID uuid.UUID) (record.Entry, error) {
	at, ok := record.TimeOf(requestID)
	if !ok {
		return record.Entry{}, ErrNotFound
	}
	// The time leads to the partition, and there through the BRIN index to a few pages.
	rows, err := pool.Query(ctx, `SELECT `+entryColumns+` FROM journal_entry WHERE at = $1 AND request_id = $2`, at, requestID)
	if err != nil {
		return record.Entry{}, fmt.Errorf("journal: get: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(pgx.CollectableRow) (keyedEntry, error) { return scanEntry(rows) })
	switch {
	case err != nil:
		return record.Entry{}, fmt.Errorf("journal: get: %w", err)
	case len(found) == 0:
		return getReturned(ctx, pool, requestID)
	case len(found) > 1:
		return record.Entry{}, fmt.Errorf("journal: get: %d records share one request id", len(found))
	}
	e := &found[0].Entry
	if h := e.Hash(); !bytes.Equal(h[:], e.StoredHash) {
		return record.Entry{}, errors.New("journal: get: the record does not match its hash; it was changed after it was written")
	}
	return e.Entry, nil
}

// getReturned returns a record that was lost and came back by its receipt.
func getReturned(ctx context.Context, pool *pgxpool.Pool, requestID uuid.UUID) (record.Entry, error) {
	r, err := GetReturned(ctx, pool, requestID)
	if err != nil {
		return record.Entry{}, err
	}
	if r == nil {
		return record.Entry{}, ErrNotFound
	}
	return r.Entry, nil
}

// MakePartitions creates the missing daily partitions, from yesterday to the
// given number of days ahead, and returns how many it created.
func MakePartitions(ctx context.Context, pool *pgxpool.Pool, days int) (int, error) {
	var created int
	err := pool.QueryRow(ctx, `SELECT journal_make_partitions($1)`, days).Scan(&created)
	return created, fault.Wrap(err, "journal: create partitions")
}

// DaysAhead returns for how many days after today there are partitions without a
// gap, or -1 if there is none even for today.
func DaysAhead(ctx context.Context, pool *pgxpool.Pool, now time.Time) (int, error) {
	all, err := partitions(ctx, pool)
	if err != nil {
		return 0, err
	}
	exists := make(map[time.Time]bool)
	for _, p := range all {
		if p.parent == entryTable && p.readable() {
			exists[p.day] = true
		}
	}
	ahead := -1
	for day := dayOf(now); exists[day]; day = day.AddDate(0, 0, 1) {
		ahead++
	}
	return ahead, nil
}
