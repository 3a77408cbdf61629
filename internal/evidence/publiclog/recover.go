package publiclog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Recovery takes a log up again whose database was restored to an earlier moment: the
// published entries that the database does not have come back from the tiles, so that the
// log goes on from there and contradicts nothing that was signed.
type Recovery struct {
	Pool   *pgxpool.Pool // with the rights of the owner
	Tiles  blob.Store
	Reason string // one of those of package logentry
	// Signed are checkpoints whose signatures were verified: what is recovered must have their
	// roots.
	Signed []string
}

// Recovered is the result of a recovery.
type Recovered struct {
	From, To int64 // the entries that came back from the tiles: from one size of the log to another
	Lost     int64 // how many of these are about something that the database no longer has
	Answers  int64 // in batches that are lost
	Moved    int64 // entries added since the restore, now behind those and the entry about the loss
}

// The errors of a recovery.
var (
	errReused   = errors.New("publiclog: an epoch of the journal was used again after the restore, so that a batch of before it and one of after it have the same number; the log can't go on")
	errNotTiles = errors.New("publiclog: the tiles do not have the root of a signed checkpoint; they are damaged, or those of another log")
	errBehind   = errors.New("publiclog: a signed checkpoint covers more entries than the tiles have; find a copy of them, such as that of a monitor")
)

// Run recovers, in one transaction. Nothing is done if the database has all that was
// published.
func (r *Recovery) Run(ctx context.Context) (done Recovered, err error) {
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		var origin string
		var published int64
		err := tx.QueryRow(ctx, `SELECT h.origin, p.published FROM log_head h, log_published p FOR UPDATE OF h`).Scan(&origin, &published)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrOff
		}
		if err != nil {
			return fmt.Errorf("publiclog: lock the head: %w", err)
		}
		shown, err := r.shown(ctx, origin, published)
		if err != nil {
			return err
		}
		done, err = r.merge(ctx, tx, origin, published, shown)
		return err
	})
	return done, err
}

// shown returns the entries in the tiles from an index on, whether or not a checkpoint covers them.
func (r *Recovery) shown(ctx context.Context, origin string, from int64) (all [][]byte, err error) {
	for size := from; ; {
		var longest [][]byte
		for _, t := range merkle.Larger(size) {
			content, err := ReadTile(ctx, r.Tiles, origin, t)
			if errors.Is(err, blob.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			entries, err := merkle.Entries(content)
			if err != nil || len(entries) != t.Width {
				return nil, fmt.Errorf("publiclog: %s: %w", t.Path(), merkle.ErrDamaged)
			}
			longest = entries[size-t.First():]
		}
		if longest == nil {
			return all, nil
		}
		all, size = append(all, longest...), size+int64(len(longest))
	}
}

// merge puts the shown entries where they were shown, and what was added after the restore
// behind them. Both lists begin with the entry at from.
func (r *Recovery) merge(ctx context.Context, tx pg.Tx, origin string, from int64, shown [][]byte) (done Recovered, err error) {
	stored, err := entriesOf(ctx, tx, from, 1<<62)
	if err != nil {
		return done, err
	}
	same := 0
	for same < len(stored) && same < len(shown) && bytes.Equal(stored[same], shown[same]) {
		same++
	}
	done = Recovered{From: from + int64(same), To: from + int64(len(shown))}
	missing, added := shown[same:], stored[same:]
	if len(missing) == 0 {
		return done, r.checkSigned(nil, done.To)
	}
	tree, err := r.tree(ctx, tx, origin, stored[:same])
	if err != nil {
		return done, err
	}
	if err := cutAt(ctx, tx, done.From); err != nil {
		return done, err
	}
	w := &recoveryWriter{
		tx: tx, tree: tree, next: done.From, roots: map[int64]merkle.Hash{},
		lost: logentry.Restore{First: -1, Reason: r.Reason}, lostBatches: map[[2]int64]bool{},
	}
	if err := w.restore(ctx, missing); err != nil {
		return done, err
	}
	done.Lost, done.Answers = w.lostEntries, w.lost.Answers
	if err := r.checkSigned(w.roots, done.To); err != nil {
		return done, err
	}
	if err := w.nameLost(ctx); err != nil {
		return done, err
	}
	if done.Moved, err = w.move(ctx, added, missing); err != nil {
		return done, err
	}
	return done, w.finish(ctx)
}

// cutAt removes the entries from an index on, with the checkpoints that cover them.
func cutAt(ctx context.Context, tx pg.Tx, from int64) error {
	if _, err := tx.Exec(ctx, `DELETE FROM log_entry WHERE idx >= $1`, from); err != nil {
		return fmt.Errorf("publiclog: recover: %w", err)
	}
	_, err := tx.Exec(ctx, `DELETE FROM log_checkpoint WHERE size > $1`, from)
	return fault.Wrap(err, "publiclog: recover")
}

// subject returns the part of an entry that is the same when it is added again: all of it for a
// batch, and for others all but the time of the addition.
func subject(entry []byte) string {
	e, err := logentry.Decode(entry)
	if err != nil || e.Kind == logentry.Answers {
		return string(entry)
	}
	return fmt.Sprintf("%d %s", e.Kind, e.Body)
}

// tree returns the tree of the entries up to the last published checkpoint, from the tiles,
// which are compared with its root, and of some that follow.
func (r *Recovery) tree(ctx context.Context, tx pg.Tx, origin string, more [][]byte) (*merkle.Tree, error) {
	note, published, err := NewestTree(ctx, tx)
	if err != nil {
		return nil, err
	}
	tree := &merkle.Tree{}
	if note != "" {
		if tree, err = publishedTree(published, TileHashes(ctx, r.Tiles, origin, published)); err != nil {
			return nil, err
		}
	}
	for _, entry := range more {
		tree.Add(entry)
	}
	return tree, nil
}

// publishedTree returns a tree that can grow from where a published one ends.
func publishedTree(of tlog.Tree, hashes tlog.HashReader) (*merkle.Tree, error) {
	var places []int64
	for level, before := 62, int64(0); level >= 0; level-- {
		if of.N&(1<<level) != 0 {
			places = append(places, tlog.StoredHashIndex(level, before>>level))
			before += 1 << level
		}
	}
	roots, err := hashes.ReadHashes(places)
	if err != nil {
		return nil, fmt.Errorf("publiclog: read the published tree: %w", errors.Join(errNotTiles, err))
	}
	var edge []byte
	for _, root := range roots {
		edge = append(edge, root[:]...)
	}
	return merkle.Resume(uint64(of.N), edge) //nolint:gosec // never negative
}

// checkSigned compares the signed checkpoints with the roots of the sizes that came back. Those
// of smaller sizes need no look: their entries are in both the database and the tiles.
func (r *Recovery) checkSigned(roots map[int64]merkle.Hash, size int64) error {
	for _, text := range r.Signed {
		_, tree, err := checkpoint.Parse(text)
		if err != nil {
			return fmt.Errorf("publiclog: a signed checkpoint: %w", err)
		}
		root, known := roots[tree.N]
		switch {
		case tree.N > size:
			return errBehind
		case known && tlog.Hash(root) != tree.Hash:
			return errNotTiles
		}
	}
	return nil
}

// recoveryWriter writes the end of the log again.
type recoveryWriter struct {
	tx    pg.Tx
	tree  *merkle.Tree
	next  int64                 // the index of the entry that is written next
	roots map[int64]merkle.Hash // by the size of the log, of the sizes that came back

	lost        logentry.Restore  // the entry that will name what is lost
	lostEntries int64             // entries about things that the database does not have
	lostBatches map[[2]int64]bool // epoch and number of the batches among them
}

// restore writes entries that were shown before, and notes those about things that are lost. What
// is still pending because the restore went back to before its entry is no longer: a tick would
// add it twice.
func (w *recoveryWriter) restore(ctx context.Context, shown [][]byte) error {
	for _, entry := range shown {
		gone, err := w.isGone(ctx, entry)
		if err != nil {
			return err
		}
		write := w.add
		if gone {
			write = w.addLost
		}
		if err := write(ctx, entry); err != nil {
			return err
		}
		w.roots[w.next] = w.tree.Root()
		if e, err := logentry.Decode(entry); err == nil && e.Kind != logentry.Answers {
			if _, err := w.tx.Exec(ctx, `DELETE FROM log_pending WHERE kind = $1 AND body = $2`, int16(e.Kind), e.Body); err != nil {
				return fmt.Errorf("publiclog: recover: %w", err)
			}
		}
	}
	return nil
}

// move writes the entries that were added after the restore, and returns how many there are.
// One about a subject that was shown already is not written twice.
func (w *recoveryWriter) move(ctx context.Context, added, shown [][]byte) (moved int64, err error) {
	known := make(map[string]bool, len(shown))
	for _, entry := range shown {
		known[subject(entry)] = true
	}
	for _, entry := range added {
		if known[subject(entry)] {
			continue
		}
		moved++
		if err := w.add(ctx, entry); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// isGone reports whether the database does not have what an entry is about.
func (w *recoveryWriter) isGone(ctx context.Context, entry []byte) (gone bool, err error) {
	e, err := logentry.Decode(entry)
	switch {
	case err != nil:
		return false, errNotTiles
	case e.Kind == logentry.Answers:
		var b logentry.Batch
		if b, err = logentry.DecodeBatch(entry); err != nil {
			return false, errNotTiles
		}
		err = w.tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM journal_batch b WHERE b.epoch = $1 AND b.n = $2 AND b.at = $3 AND b.root = $4)
			AND NOT EXISTS (SELECT FROM journal_archive WHERE day = ($3::timestamptz AT TIME ZONE 'UTC')::date)`, b.Epoch, b.N, b.At, b.Root[:]).Scan(&gone)
	case e.Kind == logentry.Restores:
		return false, nil // it is about the log itself
	default:
		err = w.tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM log_source WHERE kind = $1 AND body = $2)`, int16(e.Kind), e.Body).Scan(&gone)
	}
	if err != nil {
		return false, fmt.Errorf("publiclog: recover: %w", err)
	}
	return gone, nil
}

// nameLost adds the entry that says what is lost, with the last batch of each epoch that the
// database still has: a promise about a later one can't be kept.
func (w *recoveryWriter) nameLost(ctx context.Context) error {
	if w.lostEntries == 0 {
		return nil
	}
	epochs := map[int64]bool{}
	for batch := range w.lostBatches {
		epochs[batch[0]] = true
	}
	for epoch := range epochs {
		last := logentry.LastBatch{Epoch: epoch}
		if err := w.tx.QueryRow(ctx, `SELECT coalesce(max(n), -1) FROM journal_batch WHERE epoch = $1`, epoch).Scan(&last.N); err != nil {
			return fmt.Errorf("publiclog: recover: %w", err)
		}
		w.lost.Epochs = append(w.lost.Epochs, last)
	}
	slices.SortFunc(w.lost.Epochs, func(a, b logentry.LastBatch) int { return cmp.Compare(a.Epoch, b.Epoch) })
	e := logentry.Entry{At: time.Now().UTC().Truncate(time.Millisecond)}
	e.Kind, e.Body = logentry.EncodeBody(&w.lost)
	return w.add(ctx, e.Encode())
}

// addLost adds an entry about something that the database does not have, and notes it.
func (w *recoveryWriter) addLost(ctx context.Context, entry []byte) error {
	w.lostEntries++
	if w.lost.First < 0 {
		w.lost.First = w.next
	}
	w.lost.After = w.next + 1
	if b, err := logentry.DecodeBatch(entry); err == nil {
		w.lost.Answers += int64(b.Count)
		w.lostBatches[[2]int64{b.Epoch, b.N}] = true
	}
	return w.insert(ctx, entry, true)
}

// add adds an entry about something that the database has. A batch with the number of one that
// is lost can't be: the epoch was used again.
func (w *recoveryWriter) add(ctx context.Context, entry []byte) error {
	if b, err := logentry.DecodeBatch(entry); err == nil && w.lostBatches[[2]int64{b.Epoch, b.N}] {
		return errReused
	}
	return w.insert(ctx, entry, false)
}

func (w *recoveryWriter) insert(ctx context.Context, entry []byte, lost bool) error {
	e, err := logentry.Decode(entry)
	if err != nil {
		return errNotTiles
	}
	var epoch, n *int64
	if b, err := logentry.DecodeBatch(entry); err == nil {
		epoch, n = &b.Epoch, &b.N
	}
	_, err = w.tx.Exec(ctx, `INSERT INTO log_entry (idx, at, kind, epoch, n, entry, lost) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		w.next, e.At, int16(e.Kind), epoch, n, entry, lost)
	if err != nil {
		return fmt.Errorf("publiclog: recover: %w", err)
	}
	w.tree.Add(entry)
	w.next++
	return nil
}

// finish moves the head to the new end. By log_head.seen a tick knows which batches the log
// already has. The restored one is too old: it does not see batches that came back from the
// tiles, and they would be added twice. So the head gets the system 0, which no cluster has:
// the next tick then compares batches with entries, as in a database that was loaded into
// another cluster.
func (w *recoveryWriter) finish(ctx context.Context) error {
	root := w.tree.Root()
	if _, err := w.tx.Exec(ctx, `INSERT INTO log_checkpoint (size, root, at) VALUES ($1, $2, clock_timestamp())`, w.next, root[:]); err != nil {
		return fmt.Errorf("publiclog: recover: %w", err)
	}
	_, err := w.tx.Exec(ctx, `UPDATE log_head SET size = $1, edge = $2, root = $3, system = 0`, w.next, w.tree.Edge(), root[:])
	return fault.Wrap(err, "publiclog: recover")
}
