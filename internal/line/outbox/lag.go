package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Lag returns, for each reader, how old the oldest change is that it has not read; 0 if it
// has read all. What waited for a seal is read late on purpose, and does not count.
func Lag(ctx context.Context, from pg.DB, now time.Time) (map[string]time.Duration, error) {
	rows, err := from.Query(ctx, `SELECT m.reader, (SELECT c.reported_at FROM line_change c WHERE c.n > m.n AND c.kind <> $1 ORDER BY c.n LIMIT 1) FROM outbox_mark m`, int16(Unsealed))
	if err != nil {
		return nil, fmt.Errorf("outbox: read the lag: %w", err)
	}
	lag := make(map[string]time.Duration)
	var reader string
	var oldest *time.Time
	_, err = pgx.ForEachRow(rows, []any{&reader, &oldest}, func() error {
		lag[reader] = 0
		if oldest != nil {
			lag[reader] = max(0, now.Sub(*oldest))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: read the lag: %w", err)
	}
	return lag, nil
}
