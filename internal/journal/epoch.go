package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
)

// leap is how far the counter of epochs moves at the least.
const leap = 1_000_000

// SkipEpochs moves the counter from which each start of a node draws its epoch,
// beyond every number that was ever drawn, and notes why. It must be called
// after the database was set back to an earlier moment: its counter was set back
// with it, and would hand out numbers again that batches carry which are lost
// here, but may be known elsewhere, and that a node may still hold.
//
// How far starts had come is not known here. So the counter moves to the present
// time in seconds since 1970: to stay below that, nodes have to start less often
// than once a second, from the first day on. It returns the last epoch before
// and the first one after. The pool must have the rights of the owner.
func SkipEpochs(ctx context.Context, pool *pgxpool.Pool, reason string, now time.Time) (last, next int64, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return 0, 0, fmt.Errorf("journal: make an id: %w", err)
	}
	err = pg.InTx(ctx, pool, func(tx pg.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT last_value FROM journal_epoch`).Scan(&last); err != nil {
			return fmt.Errorf("journal: read the counter of epochs: %w", err)
		}
		next = now.Unix()
		if next <= last {
			next = last + leap
		}
		if _, err := tx.Exec(ctx, `SELECT setval('journal_epoch', $1, false)`, next); err != nil {
			return fmt.Errorf("journal: move the counter of epochs: %w", err)
		}
		_, err := tx.Exec(ctx, `INSERT INTO journal_epoch_skip (id, at, last_epoch, next_epoch, reason) VALUES ($1, $2, $3, $4, $5)`, id, now, last, next, reason)
		if err != nil {
			return fmt.Errorf("journal: note the new epochs: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: audit.Actor{Kind: audit.Operator}, Action: audit.EpochsSkipped, Subject: id,
			Before: map[string]any{"epoch": last}, After: map[string]any{"epoch": next, "reason": reason},
		})
	})
	return last, next, err
}
