package publiclog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// lateness is how much older than the last tick a batch may be. The database refuses a
// batch whose time is more than a minute from its clock.
const lateness = time.Hour

// Tick adds the batches that were committed since the last tick, and what else the log must
// have. It adds nothing if another node is at it.
func (l *Log) Tick(ctx context.Context) (added Added, err error) {
	err = pg.InTx(ctx, l.Pool, func(tx pg.Tx) error {
		h, err := lockHead(ctx, tx)
		if h == nil || err != nil {
			return err
		}
		entries, seen, err := h.newBatches(ctx, tx)
		if err != nil {
			return err
		}
		if err := l.noteMonths(ctx, tx); err != nil {
			return err
		}
		// After the batches: what decided an answer that is added now was committed before it.
		if entries, err = takePending(ctx, tx, entries); err != nil || len(entries) == 0 {
			return err
		}
		added = Added{len(entries), slices.MinFunc(entries, func(a, b newEntry) int { return a.at.Compare(b.at) }).at}
		return h.append(ctx, tx, entries, seen)
	})
	if err != nil {
		return Added{}, err
	}
	return added, nil
}

// newEntry is an entry that is to be added.
type newEntry struct {
	xact     int64 // the transaction of what it is about; entries are in this order
	at       time.Time
	kind     logentry.Kind
	epoch, n *int64 // the key of a batch
	entry    []byte
}

// takePending takes the entries of other kinds and merges them with those about batches.
func takePending(ctx context.Context, tx pg.Tx, entries []newEntry) ([]newEntry, error) {
	batches := len(entries)
	var kind int16
	var e logentry.Entry
	var xact int64
	err := pg.ForEach(ctx, tx, []any{&kind, &e.Body, &xact, &e.At}, func() error {
		e.Kind = logentry.Kind(kind) //nolint:gosec // the table has a check
		entries = append(entries, newEntry{xact: xact, at: e.At, kind: e.Kind, entry: e.Encode()})
		return nil
	}, `WITH taken AS (DELETE FROM log_pending RETURNING id, kind, body, xact)
		SELECT kind, body, xact::text::bigint, date_trunc('milliseconds', clock_timestamp()) FROM taken ORDER BY xact, id`)
	if err != nil {
		return nil, fmt.Errorf("publiclog: take pending entries: %w", err)
	}
	if len(entries) > batches {
		slices.SortStableFunc(entries, func(a, b newEntry) int { return cmp.Compare(a.xact, b.xact) })
	}
	return entries, nil
}

// noteMonths adds the erasures of months that are over, which nothing else triggers. It
// looks once an hour.
func (l *Log) noteMonths(ctx context.Context, tx pg.Tx) error {
	hour := time.Now().Unix() / int64(time.Hour/time.Second)
	if l.monthsNoted.Load() == hour {
		return nil
	}
	if _, err := tx.Exec(ctx, `SELECT log_note_months()`); err != nil {
		return fmt.Errorf("publiclog: add the erasures of a month: %w", err)
	}
	l.monthsNoted.Store(hour)
	return nil
}

// head is the locked row of log_head.
type head struct {
	tree   *merkle.Tree
	began  time.Time
	since  time.Time
	seen   string // a snapshot
	system int64  // the identifier of the cluster to which it belongs
	here   int64  // that of this cluster, which is another one after the database was loaded into it
}

// lockHead locks the head until the transaction ends, or returns nil if another
// transaction has locked it.
func lockHead(ctx context.Context, tx pg.Tx) (*head, error) {
	var h head
	var size int64
	var edge []byte
	err := tx.QueryRow(ctx, `SELECT size, edge, began, since, seen::text, system, (SELECT system_identifier FROM pg_control_system())
		FROM log_head FOR UPDATE SKIP LOCKED`).Scan(&size, &edge, &h.began, &h.since, &h.seen, &h.system, &h.here)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, fmt.Errorf("publiclog: lock the head: %w", err)
	}
	if h.tree, err = merkle.Resume(uint64(size), edge); err != nil { //nolint:gosec // never negative
		return nil, fmt.Errorf("publiclog: the head is damaged: %w", err)
	}
	return &h, nil
}

const (
	// The time is there for the partitions, and the lower bound of xact for the index: what is
	// below it, the snapshot sees.
	unseenBatches = `at >= $1 AND xact >= pg_snapshot_xmin($2::pg_snapshot) AND NOT pg_visible_in_snapshot(xact, $2::pg_snapshot)`
	// A database that was dumped and loaded into another cluster counts transactions anew, so
	// that the snapshot says nothing about it.
	missingBatches = `at >= $1 AND $2::pg_snapshot IS NOT NULL
		AND NOT EXISTS (SELECT FROM log_entry l WHERE l.epoch = b.epoch AND l.n = b.n AND l.at = b.at)`
)

// newBatches returns the entries about new batches, in the order of their transactions, and
// the snapshot in which they were read, which is empty if there are none.
func (h *head) newBatches(ctx context.Context, tx pg.Tx) (entries []newEntry, seen string, err error) {
	which, from := unseenBatches, h.since.Add(-lateness)
	if h.system != h.here {
		which, from = missingBatches, h.began.Add(-lateness)
	}
	var b logentry.Batch
	var root []byte
	var xact int64
	err = pg.ForEach(ctx, tx, []any{&b.Epoch, &b.N, &b.At, &b.Count, &root, &xact, &seen}, func() error {
		b.Root = merkle.Hash(root)
		epoch, n := b.Epoch, b.N
		entries = append(entries, newEntry{xact, b.At, logentry.Answers, &epoch, &n, b.Encode()})
		return nil
	}, `SELECT epoch, n, at, count, root, xact::text::bigint, pg_current_snapshot()::text FROM journal_batch b WHERE `+which+` ORDER BY xact, epoch, n`, from, h.seen)
	if err != nil {
		return nil, "", fmt.Errorf("publiclog: read the batches: %w", err)
	}
	return entries, seen, nil
}

// append adds entries. Without a snapshot, batches are read from the last one again.
func (h *head) append(ctx context.Context, tx pg.Tx, entries []newEntry, seen string) error {
	first := int64(h.tree.Size()) //nolint:gosec // far below 2^63
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"log_entry"}, []string{"idx", "at", "kind", "epoch", "n", "entry"}, pgx.CopyFromSlice(len(entries), func(i int) ([]any, error) {
		e := &entries[i]
		h.tree.Add(e.entry)
		return []any{first + int64(i), e.at, int16(e.kind), e.epoch, e.n, e.entry}, nil
	}))
	if err != nil {
		return fmt.Errorf("publiclog: add entries: %w", err)
	}
	root := h.tree.Root()
	size := int64(h.tree.Size()) //nolint:gosec // far below 2^63
	if _, err := tx.Exec(ctx, `INSERT INTO log_checkpoint (size, root, at) VALUES ($1, $2, clock_timestamp())`, size, root[:]); err != nil {
		return fmt.Errorf("publiclog: add a checkpoint: %w", err)
	}
	system := h.here
	if seen == "" {
		seen, system = h.seen, h.system
	}
	_, err = tx.Exec(ctx, `UPDATE log_head SET size = $1, edge = $2, root = $3, seen = $4::pg_snapshot, since = clock_timestamp(), system = $5`,
		size, h.tree.Edge(), root[:], seen, system)
	return fault.Wrap(err, "publiclog: move the head")
}
