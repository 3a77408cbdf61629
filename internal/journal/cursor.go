package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/pg"
)

// entryColumns are read in this order by scanEntry.
const entryColumns = `epoch, n, idx, ` + entryFields

func (r *dayReader) declare(ctx context.Context) error {
	entryOrder, batchOrder := "", ""
	if r.sorted {
		entryOrder, batchOrder = " ORDER BY epoch, n, idx", " ORDER BY epoch, n"
	}
	for _, cursor := range []string{
		"entries NO SCROLL CURSOR FOR SELECT " + entryColumns + " FROM journal_entry" + whereDay(r.day) + entryOrder,
		"batches NO SCROLL CURSOR FOR SELECT epoch, n, node, at, count, root, xact::text FROM journal_batch" + whereDay(r.day) + batchOrder,
	} {
		if _, err := r.tx.Exec(ctx, "DECLARE "+cursor); err != nil {
			return fmt.Errorf("journal: read a day: %w", err)
		}
	}
	return nil
}

// whereDay limits a query to one day.
func whereDay(day time.Time) string {
	return fmt.Sprintf(" WHERE at >= '%s 00:00:00+00' AND at < '%s 00:00:00+00'", day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly))
}

// keyedEntry is an entry and the key of its batch.
type keyedEntry struct {
	archivefile.BatchKey
	archivefile.Entry
}

func scanEntry(rows pgx.Rows) (e keyedEntry, err error) {
	var coverage, nonce []byte
	err = rows.Scan(&e.Epoch, &e.N, &e.Idx, &e.RequestID, &e.At, &e.Type, &e.Entity, &e.Key, &e.Mode, &e.Purpose, &e.PurposeText, &e.Status, &e.Reason,
		&e.MobileNetwork, &e.LineVersion, &e.PolicyVersion, &e.PlanVersion, &e.Rules, &coverage, &e.Number, &e.PhoneNumber, &e.Correlator, &e.ExternalID,
		&e.OnBehalfOf, &e.Options, &e.Extra, &nonce, &e.StoredHash)
	e.At = e.At.UTC()
	copy(e.Coverage[:], coverage)
	e.SetStoredNonce(nonce)
	return e, err
}

func scanBatch(rows pgx.Rows) (*archivefile.Batch, error) {
	b := &archivefile.Batch{Found: true}
	err := rows.Scan(&b.Epoch, &b.N, &b.Node, &b.At, &b.Count, &b.Root, &b.Xact)
	b.At = b.At.UTC()
	return b, err
}

// fetch reads the next rows of a cursor.
func fetch[T any](ctx context.Context, tx pg.Tx, cursor string, limit int, scan func(pgx.Rows) (T, error)) ([]T, error) {
	rows, err := tx.Query(ctx, fmt.Sprintf("FETCH %d FROM %s", limit, cursor))
	if err != nil {
		return nil, fmt.Errorf("journal: read a day: %w", err)
	}
	defer rows.Close()
	list := make([]T, 0, limit)
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("journal: read a day: %w", err)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("journal: read a day: %w", err)
	}
	return list, nil
}
