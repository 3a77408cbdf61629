package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/pg"
)

// flush is a batch as it was found: its row, and its entries in the order of
// their places.
type flush struct {
	place

	found   bool // there is a row; else only entries name it
	node    string
	at      time.Time
	count   int
	root    []byte
	xact    string
	entries []kept
}

// place names a batch: an epoch belongs to one start of one node.
type place struct{ epoch, n int64 }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.epoch, q.epoch), cmp.Compare(p.n, q.n))
}

// kept is an entry as it was found, with what proves it.
type kept struct {
	Entry

	idx  int
	hash []byte
}

const (
	entriesAtOnce = 1000
	batchesAtOnce = 200
	// mostHeld is how many entries may wait for their batch, or their batch for
	// others, before a day counts as scattered.
	mostHeld = 100_000
)

// errScattered reports a day whose rows lie on disk in quite another order than
// they were written in. It has to be sorted, which takes room for a copy of it.
var errScattered = errors.New("journal: the rows of the day are scattered")

// readDay hands every batch of a day to each, as soon as all of it was read, and
// what belongs to no batch in batches without a row. It needs little memory,
// however large the day is: rows are read as they lie on disk, which is about
// the order in which they were written, and so a batch's entries come together.
// A day that is scattered is read again, sorted.
//
// Others may write meanwhile. A batch and its entries were committed together,
// and all is read from one snapshot, which has both or neither.
func readDay(ctx context.Context, pool *pgxpool.Pool, day time.Time, to reading) error {
	if to.held == 0 {
		to.held = mostHeld
	}
	read := func(sorted bool) error {
		return pg.InSnapshot(ctx, pool, func(tx pg.Tx) error {
			if err := prepare(ctx, tx); err != nil {
				return err
			}
			if err := to.begin(tx); err != nil {
				return err
			}
			return (&walk{reading: to, tx: tx, day: day, sorted: sorted, open: make(map[place]*flush)}).run(ctx)
		})
	}
	err := read(false)
	if errors.Is(err, errScattered) {
		err = read(true)
	}
	return err
}

// reading is what is done with a day.
type reading struct {
	begin func(tx pg.Tx) error // before the first batch; a second time for a day that is scattered
	each  func(*flush) error
	watch func(entries int)
	held  int // the most entries that may wait; 0 means mostHeld
}

// prepare makes a transaction fit for a long reading: it only reads, nobody is
// impatient with it, and rows come from the first page to the last.
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

// walk reads a day.
type walk struct {
	reading

	tx     pg.Tx
	day    time.Time
	sorted bool

	open     map[place]*flush // of which something is still to come
	waiting  int              // their entries
	read     int64            // entries so far
	promised int64            // entries that the batches read so far have
	lastRow  place            // the last batch that was read
	lastNo   place            // the batch of the last entry that was read
	rowsDone bool
}

func (w *walk) run(ctx context.Context) error {
	if err := w.declare(ctx); err != nil {
		return err
	}
	for done := false; !done; {
		entries, err := fetch(ctx, w.tx, "entries", entriesAtOnce, scanKept)
		if err != nil {
			return err
		}
		done = len(entries) < entriesAtOnce
		if err := w.take(entries); err != nil {
			return err
		}
		for !w.rowsDone && (done || w.behind()) {
			if err := w.takeRows(ctx); err != nil {
				return err
			}
		}
		if err := w.release(done); err != nil {
			return err
		}
		w.watch(len(entries))
	}
	return nil
}

// take adds entries to their batches.
func (w *walk) take(entries []placed) error {
	for i := range entries {
		f := w.flush(entries[i].place)
		f.entries = append(f.entries, entries[i].kept)
		w.waiting++
		w.read++
		w.lastNo = f.place
		if err := w.settle(f); err != nil {
			return err
		}
	}
	switch {
	case w.waiting <= w.held:
		return nil
	case !w.sorted:
		return errScattered
	case w.waiting > w.held+2*entriesAtOnce: // what was read last, and one batch
		return errors.New("journal: read a day: more entries wait than can, for the day is sorted")
	}
	return nil
}

// takeRows reads on in the rows of the batches.
func (w *walk) takeRows(ctx context.Context) error {
	rows, err := fetch(ctx, w.tx, "batches", batchesAtOnce, scanFlush)
	if err != nil {
		return err
	}
	w.rowsDone = len(rows) < batchesAtOnce
	for _, r := range rows {
		w.promised += int64(r.count)
		w.lastRow = r.place
		f := w.flush(r.place)
		if f.found { // a second row with this key
			if err := w.each(r); err != nil {
				return err
			}
			continue
		}
		r.entries = f.entries
		w.open[r.place] = r
		if err := w.settle(r); err != nil {
			return err
		}
	}
	return nil
}

// behind reports whether batches must be read for the entries that have been.
func (w *walk) behind() bool {
	if w.sorted {
		return w.lastRow.compare(w.lastNo) < 0
	}
	return w.promised < w.read
}

func (w *walk) flush(p place) *flush {
	f := w.open[p]
	if f == nil {
		f = &flush{place: p}
		w.open[p] = f
	}
	return f
}

// settle hands a batch on that has all its entries.
func (w *walk) settle(f *flush) error {
	if !f.found || len(f.entries) < f.count {
		return nil
	}
	return w.close(f)
}

func (w *walk) close(f *flush) error {
	delete(w.open, f.place)
	w.waiting -= len(f.entries)
	slices.SortStableFunc(f.entries, func(a, b kept) int { return cmp.Compare(a.idx, b.idx) })
	return w.each(f)
}

// release hands on what nothing more can come for: in the end everything, and of
// a sorted day whatever both readings are past.
func (w *walk) release(done bool) error {
	if !done && !w.sorted {
		return nil
	}
	var over []*flush
	for p, f := range w.open {
		if done || p.compare(w.lastNo) < 0 && (w.rowsDone || p.compare(w.lastRow) < 0) {
			over = append(over, f)
		}
	}
	slices.SortFunc(over, func(a, b *flush) int { return a.compare(b.place) })
	for _, f := range over {
		if err := w.close(f); err != nil {
			return err
		}
	}
	return nil
}
