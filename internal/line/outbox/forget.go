package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Forget deletes what the outbox keeps about a number after it was passed on, what
// waits because the number is sealed, and its timer. The pool must have the rights of the owner.
func Forget(ctx context.Context, pool *pgxpool.Pool, number int64) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("outbox: acquire a connection: %w", err)
	}
	defer conn.Release()
	for table, statement := range map[string]string{
		"line_timer": `DELETE FROM line_timer WHERE number = $1`, "sealed_change": `DELETE FROM sealed_change WHERE number = $1`,
		"line_change": `DELETE FROM line_change WHERE number = $1 AND n <= (SELECT min(n) FROM outbox_mark)`,
	} {
		done, err := conn.Exec(ctx, statement, number)
		if err != nil {
			return fmt.Errorf("outbox: forget a number: %w", err)
		}
		if done.RowsAffected() == 0 {
			continue
		}
		if _, err := pg.RewriteTable(ctx, conn.Conn(), table); err != nil { // its file still has the number
			return err
		}
	}
	return nil
}
