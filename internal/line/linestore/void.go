package linestore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// ImpliedBy returns up to limit numbers after one that have events which a snapshot
// made, in order.
func ImpliedBy(ctx context.Context, from pg.DB, snapshot int32, after int64, limit int) ([]phone.Number, error) {
	numbers, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (n phone.Number, err error) {
		var key int64
		err = row.Scan(&key)
		n, _ = phone.FromInt(key)
		return n, err
	}, `SELECT DISTINCT number FROM line_event
		WHERE import = $1 AND import <> 0 AND event_id IS NULL AND number > $2 ORDER BY number LIMIT $3`, snapshot, after, limit)
	if err != nil {
		return nil, fmt.Errorf("linestore: find the events of a snapshot: %w", err)
	}
	return numbers, nil
}

// Deleted is what one call of [DeleteBaselines] did.
type Deleted struct {
	Last    int64 // the last number that was looked at; 0 if there was none
	Rows    int64 // deleted
	Running int64 // of these, rows with a running tenure
}

// DeleteBaselines looks at the next rows after a number, as many as limit, and deletes
// those that a snapshot created, which is being voided, and that no event has touched.
func DeleteBaselines(ctx context.Context, tx pg.Tx, snapshot int32, after int64, limit int) (d Deleted, err error) {
	err = tx.QueryRow(ctx, `SELECT coalesce(max(number), 0) FROM (SELECT number FROM line_now WHERE number > $1 ORDER BY number LIMIT $2) AS next`,
		after, limit).Scan(&d.Last)
	if err != nil {
		return d, fmt.Errorf("linestore: find the rows of a snapshot: %w", err)
	}
	// A report that has read such a row and is about to change it will not find it, and
	// is then applied anew to a number without a row.
	err = tx.QueryRow(ctx, `SELECT deleted, running FROM line_delete_baselines($1, $2, $3)`, snapshot, after, d.Last).Scan(&d.Rows, &d.Running)
	if err != nil {
		return d, fmt.Errorf("linestore: delete the rows of a snapshot: %w", err)
	}
	return d, nil
}

// WithdrawCoverage takes from the coverage of topics what a snapshot added to it,
// which was applied at a time, and records the change. Each part that is the
// snapshot's CompleteSince or Through becomes what it was before the snapshot. A part
// that a later report has moved stays.
func WithdrawCoverage(ctx context.Context, tx pg.Tx, now, applied time.Time, snapshot ...Extension) error {
	for _, e := range snapshot {
		// If the snapshot was the first report, the supply is known since the first later
		// one that went further.
		_, err := tx.Exec(ctx, `WITH before AS (
			SELECT known_since, complete_since, supplied_through FROM supply_coverage_history
			WHERE network = $1 AND topic = $2 AND at < $5 ORDER BY at DESC LIMIT 1),
			changed AS (UPDATE supply_coverage SET
				known_since = CASE WHEN known_since IS DISTINCT FROM $3 THEN known_since ELSE coalesce((SELECT known_since FROM before),
					(SELECT min(h.at) FROM supply_coverage_history h WHERE h.network = $1 AND h.topic = $2 AND h.at > $5 AND h.supplied_through > $4)) END,
				complete_since = CASE WHEN complete_since IS DISTINCT FROM $3 THEN complete_since ELSE (SELECT complete_since FROM before) END,
				supplied_through = CASE WHEN supplied_through IS DISTINCT FROM $4 THEN supplied_through ELSE (SELECT supplied_through FROM before) END,
				held_through = CASE WHEN held_through IS DISTINCT FROM $4 THEN held_through ELSE (SELECT supplied_through FROM before) END,
				updated_at = $6
			WHERE network = $1 AND topic = $2
			RETURNING *)`+recordChanged,
			e.Network, e.Topic, e.CompleteSince, e.Through, applied, now)
		if err != nil {
			return fmt.Errorf("linestore: withdraw the coverage: %w", err)
		}
	}
	return nil
}
