// Package linestore keeps the lines in the database: rows, events, open events and
// coverage, exactly as package line defines them. It decides nothing.
//
// The hot path is [Resolver.LookupAll], which reads all that a status depends on in
// one round trip. National files pass through [InsertBaselines] and [AppendEvents].
package linestore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// ErrConcurrentUpdate reports that another transaction changed a row between
// reading and writing. The transaction must be retried.
var ErrConcurrentUpdate = errors.New("linestore: a row was changed by another transaction")

// Rows returns the rows of numbers; a number without a row is not in the map.
func Rows(ctx context.Context, from pg.DB, numbers []phone.Number) (map[phone.Number]line.Row, error) {
	return readRows(ctx, from, numbers, "")
}

// LockedRows is [Rows] for a transaction that will change the rows. It locks them
// in the order of the numbers, like every other writer, to avoid deadlocks. A
// number without a row has nothing to lock; so a transaction that may insert rows
// first takes one advisory lock for all new rows, before it locks any row.
func LockedRows(ctx context.Context, tx pg.DB, numbers []phone.Number) (map[phone.Number]line.Row, error) {
	known, err := readRows(ctx, tx, numbers, "")
	if err != nil {
		return nil, err
	}
	if len(known) < len(numbers) {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof new lines', 0))`); err != nil {
			return nil, fmt.Errorf("linestore: lock new rows: %w", err)
		}
	}
	return readRows(ctx, tx, numbers, " ORDER BY number FOR UPDATE")
}

func readRows(ctx context.Context, from pg.DB, numbers []phone.Number, suffix string) (map[phone.Number]line.Row, error) {
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
	}
	rows, err := from.Query(ctx, `SELECT `+columns+` FROM line_now WHERE number = ANY($1)`+suffix, keys)
	if err != nil {
		return nil, fmt.Errorf("linestore: read rows: %w", err)
	}
	defer rows.Close()
	found := make(map[phone.Number]line.Row, len(numbers))
	for rows.Next() {
		n, r, err := readRow(rows.RawValues())
		if err != nil {
			return nil, fmt.Errorf("linestore: read rows: %w", err)
		}
		found[n] = r
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("linestore: read rows: %w", err)
	}
	return found, nil
}

// AnyBetween reports whether any number from low to high has a row.
func AnyBetween(ctx context.Context, from pg.DB, low, high phone.Number) (found bool, err error) {
	err = from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM line_now WHERE number BETWEEN $1 AND $2)`, low.Int(), high.Int()).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("linestore: look for rows: %w", err)
	}
	return found, nil
}

// RowsAfter returns up to limit rows whose numbers follow a number, in order.
func RowsAfter(ctx context.Context, from pg.DB, after phone.Number, limit int) ([]Record, error) {
	rows, err := from.Query(ctx, `SELECT `+columns+` FROM line_now WHERE number > $1 ORDER BY number LIMIT $2`, after.Int(), limit)
	if err != nil {
		return nil, fmt.Errorf("linestore: read rows: %w", err)
	}
	defer rows.Close()
	records := make([]Record, 0, limit)
	for rows.Next() {
		n, r, err := readRow(rows.RawValues())
		if err != nil {
			return nil, fmt.Errorf("linestore: read rows: %w", err)
		}
		records = append(records, Record{Number: n, Row: r})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("linestore: read rows: %w", err)
	}
	return records, nil
}

// ReserveSeqs returns n seqs for new events, in the order of reporting.
func ReserveSeqs(ctx context.Context, tx pg.Tx, n int) ([]int64, error) {
	seqs, err := pg.Collect(ctx, tx, pgx.RowTo[int64], `SELECT nextval('line_event_seq') FROM generate_series(1, $1)`, n)
	if err != nil {
		return nil, fmt.Errorf("linestore: reserve seqs: %w", err)
	}
	return seqs, nil
}
