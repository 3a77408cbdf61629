package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/pg"
)

// entryColumns are read in this order by scanKept.
const entryColumns = `epoch, n, idx, request_id, at, entity_id, key_id, mode, purpose, correlator, number, phone_number, options, status,
	mobile_network, extra, line_version, policy_version, plan_version, nonce, hash`

func (w *walk) declare(ctx context.Context) error {
	byEntry, byRow := "", ""
	if w.sorted {
		byEntry, byRow = " ORDER BY epoch, n, idx", " ORDER BY epoch, n"
	}
	for _, cursor := range []string{
		"entries NO SCROLL CURSOR FOR SELECT " + entryColumns + " FROM journal_entry" + onDay(w.day) + byEntry,
		"batches NO SCROLL CURSOR FOR SELECT epoch, n, node, at, count, root, xact::text FROM journal_batch" + onDay(w.day) + byRow,
	} {
		if _, err := w.tx.Exec(ctx, "DECLARE "+cursor); err != nil {
			return fmt.Errorf("journal: read a day: %w", err)
		}
	}
	return nil
}

// onDay limits a query to one day.
func onDay(day time.Time) string {
	return fmt.Sprintf(" WHERE at >= '%s 00:00:00+00' AND at < '%s 00:00:00+00'", day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly))
}

// placed is an entry and the batch that it names.
type placed struct {
	place
	kept
}

func scanKept(rows pgx.Rows) (e placed, err error) {
	var nonce []byte
	err = rows.Scan(&e.epoch, &e.n, &e.idx, &e.RequestID, &e.At, &e.Entity, &e.Key, &e.Mode, &e.Purpose, &e.Correlator, &e.Number, &e.PhoneNumber,
		&e.Options, &e.Status, &e.MobileNetwork, &e.Extra, &e.LineVersion, &e.PolicyVersion, &e.PlanVersion, &nonce, &e.hash)
	e.At = e.At.UTC()
	copy(e.Nonce[:], nonce)
	return e, err
}

func scanFlush(rows pgx.Rows) (*flush, error) {
	f := &flush{found: true}
	err := rows.Scan(&f.epoch, &f.n, &f.node, &f.at, &f.count, &f.root, &f.xact)
	f.at = f.at.UTC()
	return f, err
}

// fetch reads on from a cursor.
func fetch[T any](ctx context.Context, tx pg.Tx, cursor string, most int, scan func(pgx.Rows) (T, error)) ([]T, error) {
	rows, err := tx.Query(ctx, fmt.Sprintf("FETCH %d FROM %s", most, cursor))
	if err != nil {
		return nil, fmt.Errorf("journal: read a day: %w", err)
	}
	defer rows.Close()
	list := make([]T, 0, most)
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("journal: read a day: %w", err)
		}
		list = append(list, one)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("journal: read a day: %w", err)
	}
	return list, nil
}
