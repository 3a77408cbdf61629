package publiclog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/logentry"
	"github.com/lineproof/lineproof/internal/merkle"
	"github.com/lineproof/lineproof/internal/pg"
)

// lateness is how much older than the last tick a batch may be. The database refuses a
// batch whose time is more than a minute from its clock.
const lateness = time.Hour

// Tick adds the batches that were committed since the last tick. It adds none if another
// node is at it.
func (l *Log) Tick(ctx context.Context) (added Added, err error) {
	err = pg.InTx(ctx, l.Pool, func(tx pg.Tx) error {
		h, err := lockHead(ctx, tx)
		if h == nil || err != nil {
			return err
		}
		batches, seen, err := h.newBatches(ctx, tx)
		if err != nil || len(batches) == 0 {
			return err
		}
		added = Added{len(batches), slices.MinFunc(batches, func(a, b logentry.Batch) int { return a.At.Compare(b.At) }).At}
		return h.append(ctx, tx, batches, seen)
	})
	if err != nil {
		return Added{}, err
	}
	return added, nil
}

// head is the locked row of log_head.
type head struct {
	tree   *merkle.Tree
	began  time.Time
	since  time.Time
	seen   string // a snapshot
	moved  bool   // the database is another cluster than that of seen
	system int64  // the identifier of the cluster
}

// lockHead locks the head until the transaction ends, or returns nil if another
// transaction has locked it.
func lockHead(ctx context.Context, tx pg.Tx) (*head, error) {
	var h head
	var size, before int64
	var edge []byte
	err := tx.QueryRow(ctx, `SELECT size, edge, began, since, seen::text, system, (SELECT system_identifier FROM pg_control_system())
		FROM log_head FOR UPDATE SKIP LOCKED`).Scan(&size, &edge, &h.began, &h.since, &h.seen, &before, &h.system)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, fmt.Errorf("publiclog: lock the head: %w", err)
	}
	h.moved = before != h.system
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

// newBatches returns the batches to add, in the order of their transactions, and the
// snapshot in which they were read.
func (h *head) newBatches(ctx context.Context, tx pg.Tx) (batches []logentry.Batch, seen string, err error) {
	which, from := unseenBatches, h.since.Add(-lateness)
	if h.moved {
		which, from = missingBatches, h.began.Add(-lateness)
	}
	rows, err := tx.Query(ctx, `SELECT epoch, n, at, count, root, pg_current_snapshot()::text FROM journal_batch b WHERE `+which+` ORDER BY xact, epoch, n`, from, h.seen)
	if err != nil {
		return nil, "", fmt.Errorf("publiclog: read the batches: %w", err)
	}
	var b logentry.Batch
	var root []byte
	_, err = pgx.ForEachRow(rows, []any{&b.Epoch, &b.N, &b.At, &b.Count, &root, &seen}, func() error {
		b.Root = merkle.Hash(root)
		batches = append(batches, b)
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("publiclog: read the batches: %w", err)
	}
	return batches, seen, nil
}

// append adds entries about the batches.
func (h *head) append(ctx context.Context, tx pg.Tx, batches []logentry.Batch, seen string) error {
	first := int64(h.tree.Size()) //nolint:gosec // far below 2^63
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"log_entry"}, []string{"idx", "at", "kind", "epoch", "n", "entry"}, pgx.CopyFromSlice(len(batches), func(i int) ([]any, error) {
		b := &batches[i]
		entry := b.Encode()
		h.tree.Add(entry)
		return []any{first + int64(i), b.At, int16(logentry.Answers), b.Epoch, b.N, entry}, nil
	}))
	if err != nil {
		return fmt.Errorf("publiclog: add entries: %w", err)
	}
	root := h.tree.Root()
	size := int64(h.tree.Size()) //nolint:gosec // far below 2^63
	if _, err := tx.Exec(ctx, `INSERT INTO log_checkpoint (size, root, at) VALUES ($1, $2, clock_timestamp())`, size, root[:]); err != nil {
		return fmt.Errorf("publiclog: add a checkpoint: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE log_head SET size = $1, edge = $2, root = $3, seen = $4::pg_snapshot, since = clock_timestamp(), system = $5`,
		size, h.tree.Edge(), root[:], seen, h.system)
	if err != nil {
		return fmt.Errorf("publiclog: move the head: %w", err)
	}
	return nil
}
