// This part of the package numbers the batches of the journal and finds numbers that are missing.
//
// A process writes its batches under an epoch of its own and numbers them from 1. A number
// whose batch was certainly not written goes to the next batch. When it stays unknown
// whether a batch was written, the process leaves the epoch and starts another. So an epoch
// never has more unused numbers than batches were in flight at once, and every other number
// without a batch means that a batch was removed.
//
// The end of an epoch records its last number and the unused ones. The process writes it
// when it starts its next epoch or stops. If the process was killed, or left an outcome
// unknown, another one writes it, by what is there: for that, no process uses an epoch for longer than [EpochLifetime]. Package
// journalgap does this, and compares.

package journal

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// EpochLifetime is how long a process uses an epoch. A batch is committed within a minute of its
// time, or refused, so that soon after that nothing is added to the epoch.
const EpochLifetime = time.Hour

// EpochWriter gives the batches of one process their numbers. Create one with [OpenEpoch].
type EpochWriter struct {
	pool    *pgxpool.Pool
	node    string
	flushes int // how many batches can be in flight at once

	mu      sync.Mutex
	current *epoch   // nil if the next batch starts one
	left    []*epoch // whose end is not recorded yet
}

// epoch is one epoch of this process.
type epoch struct {
	id       int64
	begun    time.Time
	last     int64   // the highest number that was given to a batch
	free     []int64 // numbers below it that no batch has
	unknown  []int64 // numbers of which it is unknown whether a batch has them
	inFlight int
}

// OpenEpoch starts an epoch. Epochs come from the database, so that two processes with the same
// node name still write different keys. Flushes is how many batches the process writes at
// the same time.
func OpenEpoch(ctx context.Context, pool *pgxpool.Pool, node string, flushes int) (*EpochWriter, error) {
	w := &EpochWriter{pool: pool, node: node, flushes: flushes}
	return w, w.start(ctx)
}

// start records the ends of the epochs that were left, and starts another. The caller
// holds the lock, if others know the writer.
func (w *EpochWriter) start(ctx context.Context) error {
	e := &epoch{begun: time.Now().Round(0)} // without the monotonic clock, which stands still while a machine sleeps
	ended := w.ended()
	err := pg.InTx(ctx, w.pool, func(tx pg.Tx) error {
		if err := recordEnds(ctx, tx, ended); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `INSERT INTO journal_epoch_start (epoch, node, flushes) VALUES (nextval('journal_epoch'), $1, $2) RETURNING epoch`, w.node, w.flushes).Scan(&e.id)
		return fault.Wrap(err, "journal: start an epoch")
	})
	if err != nil {
		return err
	}
	w.forget(ended)
	w.current = e
	return nil
}

// ended returns the epochs that were left and have no batch in flight any more.
func (w *EpochWriter) ended() []*epoch {
	return slices.DeleteFunc(slices.Clone(w.left), func(e *epoch) bool { return e.inFlight > 0 })
}

func (w *EpochWriter) forget(ended []*epoch) {
	w.left = slices.DeleteFunc(w.left, func(e *epoch) bool { return slices.Contains(ended, e) })
}

// recordEnds writes the ends of epochs. One may be there already, if the commit of an
// earlier call was not confirmed.
func recordEnds(ctx context.Context, tx pg.Tx, ended []*epoch) error {
	for _, e := range ended {
		if err := insertEnd(ctx, tx, e.id, true, e.last, e.free, e.unknown); err != nil {
			return err
		}
	}
	return nil
}

// RecordFoundEnd writes the end of an epoch by what another process found: the last number,
// and those up to it that have no batch.
func RecordFoundEnd(ctx context.Context, in pg.DB, id, last int64, unused []int64) error {
	return insertEnd(ctx, in, id, false, last, unused, nil)
}

func insertEnd(ctx context.Context, in pg.DB, id int64, byWriter bool, last int64, unused, unknown []int64) error {
	_, err := in.Exec(ctx, `INSERT INTO journal_epoch_end (epoch, by_writer, last, unused, unknown)
		VALUES ($1, $2, $3, coalesce($4::bigint[], '{}'), coalesce($5::bigint[], '{}')) ON CONFLICT DO NOTHING`, id, byWriter, last, unused, unknown)
	return fault.Wrap(err, "journal: record the end of an epoch")
}

// leave ends the use of the current epoch. The caller holds the lock.
func (w *EpochWriter) leave() {
	if w.current != nil {
		w.left, w.current = append(w.left, w.current), nil
	}
}

// Close records the end of every epoch of the process. No batch may be in flight.
func (w *EpochWriter) Close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave()
	ended := w.ended()
	if len(ended) == 0 {
		return nil
	}
	if err := pg.InTx(ctx, w.pool, func(tx pg.Tx) error { return recordEnds(ctx, tx, ended) }); err != nil {
		return err
	}
	w.forget(ended)
	return nil
}

// BatchNumber is the number of a batch. The caller says what became of the batch, once.
type BatchNumber struct {
	Epoch, N int64

	w *EpochWriter
	e *epoch
}

// Take returns the number of the next batch.
func (w *EpochWriter) Take(ctx context.Context) (*BatchNumber, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil {
		if age := time.Now().Round(0).Sub(w.current.begun); age < 0 || age > EpochLifetime {
			w.leave()
		}
	}
	if w.current == nil {
		if err := w.start(ctx); err != nil {
			return nil, err
		}
	}
	e := w.current
	n := &BatchNumber{Epoch: e.id, w: w, e: e}
	if last := len(e.free) - 1; last >= 0 {
		n.N, e.free = e.free[last], e.free[:last]
	} else {
		e.last++
		n.N = e.last
	}
	e.inFlight++
	return n, nil
}

// Written says that the batch is stored.
func (n *BatchNumber) Written() {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.e.inFlight--
}

// NotWritten says that the batch is certainly not stored. The next batch gets the number.
func (n *BatchNumber) NotWritten() {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.e.inFlight--
	n.e.free = append(n.e.free, n.N)
}

// Unknown says that the batch may be stored. No other batch gets the number, and the next
// one starts another epoch.
func (n *BatchNumber) Unknown() {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.e.inFlight--
	n.e.unknown = append(n.e.unknown, n.N)
	if n.w.current == n.e {
		n.w.leave()
	}
}
