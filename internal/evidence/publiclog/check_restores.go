package publiclog

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

const (
	// A restore loses the end of the journal. So it can't lose a batch and keep one of more
	// than two minutes later: a batch is committed within a minute of its time, or refused.
	keptAfterLost = `SELECT l.n, l.epoch FROM log_entry r JOIN log_entry l ON l.lost AND l.kind = 1 AND l.idx < r.idx
		WHERE r.kind = 7 AND r.idx < $1 AND substring(r.entry FROM 32 FOR 8) <= int8send(l.idx) AND substring(r.entry FROM 40 FOR 8) > int8send(l.idx)
			AND EXISTS (SELECT FROM log_entry k WHERE k.kind = 1 AND NOT k.lost AND k.idx > l.idx AND k.idx < r.idx AND k.at > l.at + 2 * $2::interval)
		ORDER BY l.idx LIMIT $3`
	// What is marked as lost is not compared with the journal.
	lostAndOther = `SELECT l.n, l.epoch FROM log_entry l JOIN journal_batch b ON b.epoch = l.epoch AND b.n = l.n AND b.at = l.at
		WHERE l.kind = 1 AND l.lost AND l.idx < $1 AND l.entry <> ` + entryOf + ` ORDER BY l.idx LIMIT $2`
	// How many answers an entry about a restore says are lost, and how many are marked so: in
	// its range, of which a later restore may have lost more, and in all. The numbers in it are
	// the first index, the one after the last, and the answers.
	lostCounted = `SELECT ('x' || encode(substring(r.entry FROM 48 FOR 8), 'hex'))::bit(64)::bigint,
			coalesce(sum(l.count) FILTER (WHERE substring(r.entry FROM 32 FOR 8) <= int8send(l.idx) AND substring(r.entry FROM 40 FOR 8) > int8send(l.idx)), 0)::bigint, coalesce(sum(l.count), 0)::bigint
		FROM log_entry r LEFT JOIN (SELECT idx, ('x' || encode(substring(entry FROM 48 FOR 4), 'hex'))::bit(32)::int AS count FROM log_entry WHERE kind = 1 AND lost AND idx < $1) l ON true
		WHERE r.kind = 7 AND r.idx < $1 GROUP BY r.idx, r.entry ORDER BY r.idx`
)

// checkRestores looks for deletions that are made out to be what a restore has lost.
func (r *Report) checkRestores(ctx context.Context, from pg.DB) error {
	err := r.findBatches(ctx, from, "batch %d of epoch %d is marked as lost in a restore, which has kept much later ones", keptAfterLost, r.Size, MergeDelay, maxFindings)
	if err != nil {
		return err
	}
	if err := r.findBatches(ctx, from, "batch %d of epoch %d is marked as lost in a restore, and the journal has another one", lostAndOther, r.Size, maxFindings); err != nil {
		return err
	}
	var said, lost, all, total int64
	err = pg.ForEach(ctx, from, []any{&said, &lost, &all}, func() error {
		total += said
		if said > lost {
			r.find("an entry about a restore says that %d answers are lost, and %d are marked as lost", said, lost)
		}
		return nil
	}, lostCounted, r.Size)
	if err != nil {
		return fmt.Errorf("publiclog: compare with the restores: %w", err)
	}
	if total < all {
		r.find("%d answers are marked as lost in restores, and the entries about them say %d", all, total)
	}
	return nil
}
