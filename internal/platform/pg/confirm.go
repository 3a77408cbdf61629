package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Confirm returns nil when everything that could be read before the call is durable. A commit
// that waits for a standby can be read before it is confirmed, when the wait was cancelled or
// the server has crashed, and is lost if the standby then takes over. A later commit that is
// confirmed confirms it, too. Where no commit waits for a standby, nothing is written: what
// can be read is durable already.
func Confirm(ctx context.Context, pool *pgxpool.Pool) error {
	var waits bool
	err := pool.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names') <> ''`).Scan(&waits)
	if err != nil {
		return fmt.Errorf("pg: confirm: %w", err)
	}
	if !waits {
		return nil
	}
	return InTx(ctx, pool, func(tx Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_logical_emit_message(true, 'lineproof', '')`); err != nil { // the smallest thing that is written
			return fmt.Errorf("pg: confirm: %w", err)
		}
		return nil
	})
}
