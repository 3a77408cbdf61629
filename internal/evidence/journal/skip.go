package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// minEpochSkip is the least distance by which the epoch counter moves.
const minEpochSkip = 1_000_000

// SkipEpochs moves the counter from which a node takes its epoch at each start
// beyond every epoch ever used, and records the reason. It must be called after
// the database was restored to an earlier time: the counter was restored with it
// and would give out epochs again. Batches with those epochs are lost here but may
// be known elsewhere, and a node may still be using one.
//
// The highest epoch ever used is not known here. So the counter moves to the
// current time in seconds since 1970, which is higher unless nodes have started
// more often than once a second since 1970. It returns the last epoch before and
// the first one after. The pool must have the rights of the owner.
func SkipEpochs(ctx context.Context, pool *pgxpool.Pool, reason string, now time.Time) (last, next int64, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return 0, 0, fmt.Errorf("journal: create an id: %w", err)
	}
	err = pg.InTx(ctx, pool, func(tx pg.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT last_value FROM journal_epoch`).Scan(&last); err != nil {
			return fmt.Errorf("journal: read the epoch counter: %w", err)
		}
		next = now.Unix()
		if next <= last {
			next = last + minEpochSkip
		}
		if _, err := tx.Exec(ctx, `SELECT setval('journal_epoch', $1, false)`, next); err != nil {
			return fmt.Errorf("journal: move the epoch counter: %w", err)
		}
		_, err := tx.Exec(ctx, `INSERT INTO journal_epoch_skip (id, at, last_epoch, next_epoch, reason) VALUES ($1, $2, $3, $4, $5)`, id, now, last, next, reason)
		if err != nil {
			return fmt.Errorf("journal: record the skipped epochs: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: audit.Actor{Kind: audit.Operator}, Action: audit.EpochsSkipped, Subject: id,
			Before: map[string]any{"epoch": last}, After: map[string]any{"epoch": next, "reason": reason},
		})
	})
	return last, next, err
}
