package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrStandbyBehind reports a standby that has not everything of the primary.
var ErrStandbyBehind = fault.New(fault.Unavailable,
	"The database of LINEPROOF_READ_DATABASE_URL is too far behind the primary. Run the command again later, or without that setting.")

// standbyPause is the wait between two looks at a standby.
const standbyPause = 100 * time.Millisecond

// WaitForStandby waits until a standby has replayed everything that the primary has
// written so far, at most for a time. A server that is no standby, such as the primary
// itself, does not get anything by waiting.
func WaitForStandby(ctx context.Context, primary, standby DB, atMost time.Duration) error {
	var written string
	if err := primary.QueryRow(ctx, `SELECT pg_current_wal_insert_lsn()::text`).Scan(&written); err != nil {
		return fmt.Errorf("pg: read the position in the log: %w", err)
	}
	for deadline := time.Now().Add(atMost); ; {
		var replayed bool
		err := standby.QueryRow(ctx, `SELECT NOT pg_is_in_recovery() OR coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false)`, written).Scan(&replayed)
		switch {
		case err != nil:
			return fmt.Errorf("pg: read the position of the standby: %w", err)
		case replayed:
			return nil
		case time.Now().After(deadline):
			return ErrStandbyBehind
		}
		if pause.For(ctx, standbyPause); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// ServerName says which server a database is on, for a report: whether it is the primary
// or a standby, its address, and for a standby until when it has replayed.
func ServerName(ctx context.Context, from DB) (string, error) {
	var standby bool
	var address string
	var replayed *time.Time
	err := from.QueryRow(ctx, `SELECT pg_is_in_recovery(), coalesce(host(inet_server_addr()), 'local socket') || ' port ' || current_setting('port'),
		CASE WHEN pg_is_in_recovery() THEN pg_last_xact_replay_timestamp() END`).Scan(&standby, &address, &replayed)
	switch {
	case err != nil:
		return "", fmt.Errorf("pg: name the server: %w", err)
	case !standby:
		return "primary, " + address, nil
	case replayed == nil:
		return "standby, " + address, nil
	}
	return "standby, " + address + ", replayed until " + replayed.UTC().Format(time.RFC3339), nil
}
