package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/pg"
)

const (
	entriesPerFetch = 1000
	batchesPerFetch = 200
	// maxOpenEntries is how many entries may be in incomplete batches before the
	// day is read again, sorted.
	maxOpenEntries = 100_000
)

// errUnordered reports a day whose rows are on disk in quite another order than
// they were written in. It has to be sorted, which needs disk space for a copy.
var errUnordered = errors.New("journal: the rows of the day are not in the order of their batches")

// readDay calls to.each for every batch of a day as soon as it is complete, and
// with entries that have no batch in a storedBatch that was not found. It needs
// little memory, however large the day is: rows are read in the order on disk,
// which is about the order in which they were written, and so the entries of a
// batch are close together. If they are not, the day is read again, sorted.
//
// Nodes may write at the same time. A batch and its entries were committed
// together, and everything is read from one snapshot, which has both or neither.
func readDay(ctx context.Context, pool *pgxpool.Pool, day time.Time, to dayHandler) error {
	if to.maxOpen == 0 {
		to.maxOpen = maxOpenEntries
	}
	read := func(sorted bool) error {
		return pg.InSnapshot(ctx, pool, func(tx pg.Tx) error {
			if err := prepare(ctx, tx); err != nil {
				return err
			}
			if err := to.begin(tx); err != nil {
				return err
			}
			return (&dayReader{dayHandler: to, tx: tx, day: day, sorted: sorted, open: make(map[archivefile.BatchKey]*archivefile.Batch)}).run(ctx)
		})
	}
	err := read(false)
	if errors.Is(err, errUnordered) {
		err = read(true)
	}
	return err
}

// dayHandler receives the batches of a day.
type dayHandler struct {
	begin   func(tx pg.Tx) error // before the first batch; called again if the day is read again, sorted
	each    func(*archivefile.Batch) error
	watch   func(entries int) // after each fetch
	maxOpen int               // 0 means maxOpenEntries
}

// prepare sets a transaction up for a long read: read-only, without timeouts, and
// with rows from the first page to the last.
func prepare(ctx context.Context, tx pg.Tx) error {
	for _, set := range []string{
		"TRANSACTION READ ONLY", "LOCAL idle_in_transaction_session_timeout = 0", "LOCAL statement_timeout = 0",
		"LOCAL synchronize_seqscans = off", "LOCAL max_parallel_workers_per_gather = 0", "LOCAL cursor_tuple_fraction = 1",
	} {
		if _, err := tx.Exec(ctx, "SET "+set); err != nil {
			return fmt.Errorf("journal: prepare to read: %w", err)
		}
	}
	return nil
}

// dayReader reads a day. It reads entries and batches through two cursors and
// joins them in memory.
type dayReader struct {
	dayHandler

	tx     pg.Tx
	day    time.Time
	sorted bool

	open            map[archivefile.BatchKey]*archivefile.Batch // the incomplete batches
	openEntries     int                                         // the entries in them
	entriesRead     int64
	entriesExpected int64                // the sum of the counts of the batches read so far
	lastBatch       archivefile.BatchKey // the last batch read
	lastEntryBatch  archivefile.BatchKey // the batch of the last entry read
	batchesDone     bool
}

func (r *dayReader) run(ctx context.Context) error {
	if err := r.declare(ctx); err != nil {
		return err
	}
	for done := false; !done; {
		entries, err := fetch(ctx, r.tx, "entries", entriesPerFetch, scanEntry)
		if err != nil {
			return err
		}
		done = len(entries) < entriesPerFetch
		if err := r.addEntries(entries); err != nil {
			return err
		}
		for !r.batchesDone && (done || r.needsBatches()) {
			if err := r.readBatches(ctx); err != nil {
				return err
			}
		}
		if err := r.finishOpen(done); err != nil {
			return err
		}
		r.watch(len(entries))
	}
	return nil
}

// addEntries adds entries to their batches.
func (r *dayReader) addEntries(entries []keyedEntry) error {
	for i := range entries {
		b := r.openBatch(entries[i].BatchKey)
		b.Entries = append(b.Entries, entries[i].Entry)
		r.openEntries++
		r.entriesRead++
		r.lastEntryBatch = b.BatchKey
		if err := r.finishIfComplete(b); err != nil {
			return err
		}
	}
	switch {
	case r.openEntries <= r.maxOpen:
		return nil
	case !r.sorted:
		return errUnordered
	case r.openEntries > r.maxOpen+2*entriesPerFetch: // the last fetch, and one batch
		return errors.New("journal: read a day: too many incomplete batches, although the day is sorted")
	}
	return nil
}

// readBatches reads the next rows of batches.
func (r *dayReader) readBatches(ctx context.Context) error {
	rows, err := fetch(ctx, r.tx, "batches", batchesPerFetch, scanBatch)
	if err != nil {
		return err
	}
	r.batchesDone = len(rows) < batchesPerFetch
	for _, row := range rows {
		r.entriesExpected += int64(row.Count)
		r.lastBatch = row.BatchKey
		b := r.openBatch(row.BatchKey)
		if b.Found { // a second row with this key
			if err := r.each(row); err != nil {
				return err
			}
			continue
		}
		row.Entries = b.Entries
		r.open[row.BatchKey] = row
		if err := r.finishIfComplete(row); err != nil {
			return err
		}
	}
	return nil
}

// needsBatches reports whether the batches are behind the entries read so far.
func (r *dayReader) needsBatches() bool {
	if r.sorted {
		return r.lastBatch.Compare(r.lastEntryBatch) < 0
	}
	return r.entriesExpected < r.entriesRead
}

func (r *dayReader) openBatch(key archivefile.BatchKey) *archivefile.Batch {
	b := r.open[key]
	if b == nil {
		b = &archivefile.Batch{BatchKey: key}
		r.open[key] = b
	}
	return b
}

// finishIfComplete passes a batch on if it has all its entries.
func (r *dayReader) finishIfComplete(b *archivefile.Batch) error {
	if !b.Found || len(b.Entries) < b.Count {
		return nil
	}
	return r.finish(b)
}

func (r *dayReader) finish(b *archivefile.Batch) error {
	delete(r.open, b.BatchKey)
	r.openEntries -= len(b.Entries)
	slices.SortStableFunc(b.Entries, func(a, b archivefile.Entry) int { return cmp.Compare(a.Idx, b.Idx) })
	return r.each(b)
}

// finishOpen passes on the incomplete batches for which no more rows can follow:
// all of them at the end, and in a sorted day those that both cursors have passed.
func (r *dayReader) finishOpen(done bool) error {
	if !done && !r.sorted {
		return nil
	}
	var finished []*archivefile.Batch
	for key, b := range r.open {
		if done || key.Compare(r.lastEntryBatch) < 0 && (r.batchesDone || key.Compare(r.lastBatch) < 0) {
			finished = append(finished, b)
		}
	}
	slices.SortFunc(finished, func(a, b *archivefile.Batch) int { return a.Compare(b.BatchKey) })
	for _, b := range finished {
		if err := r.finish(b); err != nil {
			return err
		}
	}
	return nil
}
