// Package journal is the durable record of what was answered.
//
// The rule is that no answer leaves before its record is committed:
// [Journal.Record] returns nil only then. When it returns an error the caller
// must refuse; whether the record is there may be unknown, and nobody was told
// anything.
//
// Each call writes one batch: a row of journal_batch, keyed by the node, the
// epoch (one for each start of a node), a counter and the batch's time, and the
// entries, which are numbered within it. Entries are never changed and never
// deleted: the serving role has no right to.
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
	"github.com/lineproof/lineproof/internal/pg"
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

// Record calls decide in a transaction, writes the entries that it returns as
// one batch in the same transaction, and returns nil once all is committed. An
// error of decide is passed on unchanged.
func (j *Journal) Record(ctx context.Context, decide func(tx pg.Tx) ([]Entry, error)) error {
	var undecided error
	entries, start := 0, time.Now()
	err := pg.InTx(ctx, j.pool, func(tx pg.Tx) error {
		var batch []Entry
		if batch, undecided = decide(tx); undecided != nil {
			return undecided
		}
		entries = len(batch)
		return j.write(ctx, tx, batch)
	})
	if undecided != nil {
		return undecided
	}
	if j.Observe != nil {
		j.Observe(max(entries, 1), time.Since(start), err)
	}
	if err != nil {
		return ErrNotRecorded.Because(fmt.Errorf("journal: record: %w", err))
	}
	return nil
}

func (j *Journal) write(ctx context.Context, tx pg.Tx, entries []Entry) error {
	if len(entries) == 0 {
		return errors.New("journal: a batch of no entries")
	}
	batch := db.InsertBatchParams{
		Node: j.node, Epoch: j.epoch, N: j.n.Add(1), At: entries[0].At, Count: int32(len(entries)), //nolint:gosec // far below 2^31
	}
	hashes := make([][]byte, len(entries))
	for i := range entries {
		h := entries[i].Hash()
		hashes[i] = h[:]
	}
	var err error
	if batch.Root, err = Root(hashes); err != nil {
		return err
	}
	q := db.New(tx)
	if err := q.InsertBatch(ctx, batch); err != nil {
		return err
	}
	for i := range entries {
		if err := q.InsertEntry(ctx, row(entries[i], batch, int32(i), hashes[i])); err != nil {
			return err
		}
	}
	return nil
}

func row(e Entry, batch db.InsertBatchParams, idx int32, hash []byte) db.InsertEntryParams {
	return db.InsertEntryParams{
		RequestID: e.RequestID, At: e.At, Epoch: batch.Epoch, N: batch.N, Idx: idx, EntityID: e.Entity, KeyID: e.Key,
		Mode: e.Mode, Purpose: e.Purpose, Correlator: e.Correlator, Number: e.Number, PhoneNumber: e.PhoneNumber, Options: e.Options,
		Status: e.Status, MobileNetwork: e.MobileNetwork, LineVersion: e.LineVersion, PolicyVersion: e.PolicyVersion,
		PlanVersion: e.PlanVersion, Nonce: e.Nonce[:], Hash: hash, Extra: e.Extra,
	}
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
	// By hand, because sqlc does not know the catalogue's pg_inherits.
	rows, err := pool.Query(ctx, `SELECT right(c.relname, 8) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'journal_entry'::regclass`)
	if err != nil {
		return 0, fmt.Errorf("journal: list partitions: %w", err)
	}
	defer rows.Close()
	there := make(map[string]bool)
	for rows.Next() {
		var day string
		if err := rows.Scan(&day); err != nil {
			return 0, fmt.Errorf("journal: list partitions: %w", err)
		}
		there[day] = true
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("journal: list partitions: %w", err)
	}
	ahead := -1
	for day := now.UTC(); there[day.Format("20060102")]; day = day.AddDate(0, 0, 1) {
		ahead++
	}
	return ahead, nil
}
