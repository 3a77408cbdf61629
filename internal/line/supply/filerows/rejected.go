// Package filerows keeps the rows of operators' files that people look at: those that were
// rejected, and examples of what a file would change that waits for staff.
//
// What it guarantees:
//
//   - A rejected row is stored once, however often its file is read.
//   - Numbers and values of a file are kept for 30 days. Line, column and reason stay.
//   - It is bounded: 100,000 rejected rows of a file, and a few examples of each kind.
package filerows

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/csvfile"
)

// MaxRejected is how many rejected rows of an import are stored. All of them are counted.
const MaxRejected = 100_000

// Retention is how long numbers and values of a file are kept.
const Retention = 30 * 24 * time.Hour

// SaveRejected stores which rows of an import were rejected, and why. A row that is
// rejected in both readings of the file, or again after a restart, is stored once.
func SaveRejected(ctx context.Context, to pg.DB, of int32, rows []linefile.Refusal) error {
	if len(rows) == 0 {
		return nil
	}
	places, fields, reasons := make([]int64, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	numbers, values := make([]string, len(rows)), make([]string, len(rows))
	for i := range rows {
		f := &rows[i]
		places[i], fields[i], reasons[i], numbers[i], values[i] = f.Place, f.Field, f.Reason, f.Number, f.Value
	}
	_, err := to.Exec(ctx, `WITH sent AS (SELECT * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[]) AS s (place, field, reason, number, value)),
		stored AS (INSERT INTO supply_refused (import, place, field, reason) SELECT $1, place, field, reason FROM sent ON CONFLICT DO NOTHING)
		INSERT INTO supply_refused_value (import, place, field, number, value) SELECT $1, place, field, number, value FROM sent WHERE number <> '' OR value <> '' ON CONFLICT DO NOTHING`,
		of, places, fields, reasons, numbers, values)
	if err != nil {
		return fmt.Errorf("filerows: store rejected rows: %w", err)
	}
	return nil
}

// Rejected is a rejected row. Number and Value are empty after the retention time, or if
// the line had none that could be read.
type Rejected struct {
	Line                          int64
	Column, Reason, Number, Value string
}

// Filter selects rejected rows of an import.
type Filter struct {
	Import int32
	Reason string // "" for all
	After  Place  // zero for the first
	Limit  int
}

// Place is the place of a rejected row in the list.
type Place struct {
	Line   int64
	Column string
}

const selectRejected = `SELECT r.place, r.field, r.reason, coalesce(v.number, ''), coalesce(v.value, '')
	FROM supply_refused r LEFT JOIN supply_refused_value v USING (import, place, field) WHERE `

// FindRejected returns rejected rows, in the order of the file.
func FindRejected(ctx context.Context, from pg.DB, f Filter) ([]Rejected, error) {
	var q pg.Where
	q.Add(`r.import = ?`, f.Import)
	if f.Reason != "" {
		q.Add(`r.reason = ?`, f.Reason)
	}
	if f.After != (Place{}) {
		q.Add(`(r.place, r.field) > (?, ?)`, f.After.Line, f.After.Column)
	}
	most := q.Bind(`?`, f.Limit)
	list, err := pg.Collect(ctx, from, pgx.RowToStructByPos[Rejected], selectRejected+q.String()+` ORDER BY r.import, r.place, r.field LIMIT `+most, q.Args...)
	if err != nil {
		return nil, fmt.Errorf("filerows: read rejected rows: %w", err)
	}
	return list, nil
}

// Total is how many rows were rejected for a reason.
type Total struct {
	Reason string
	N      int64
}

// Totals returns how many stored rows of an import were rejected for each reason, the most
// frequent first.
func Totals(ctx context.Context, from pg.DB, of int32) ([]Total, error) {
	list, err := pg.Collect(ctx, from, pgx.RowToStructByPos[Total], `SELECT reason, count(*) FROM supply_refused WHERE import = $1 GROUP BY 1 ORDER BY 2 DESC, 1`, of)
	if err != nil {
		return nil, fmt.Errorf("filerows: count rejected rows: %w", err)
	}
	return list, nil
}

// WriteCSV writes the rejected rows of an import: line, column and reason, and on request
// also number and value, which only those may see who sent the file.
func WriteCSV(ctx context.Context, from pg.DB, of int32, w io.Writer, values bool) error {
	out, header := csvfile.NewProgramWriter(w), []string{"line", "column", "reason"}
	if values {
		header = append(header, "number", "value")
	}
	_ = out.Write(header) // Error returns what failed
	rows, err := from.Query(ctx, selectRejected+`r.import = $1 ORDER BY r.import, r.place, r.field`, of)
	if err != nil {
		return fmt.Errorf("filerows: read rejected rows: %w", err)
	}
	var r Rejected
	_, err = pgx.ForEachRow(rows, []any{&r.Line, &r.Column, &r.Reason, &r.Number, &r.Value}, func() error {
		cells := []string{strconv.FormatInt(r.Line, 10), r.Column, r.Reason}
		if values {
			cells = append(cells, r.Number, r.Value)
		}
		return out.Write(cells)
	})
	if err != nil {
		return fmt.Errorf("filerows: read rejected rows: %w", err)
	}
	out.Flush()
	return out.Error()
}

// old are the statements that delete, in batches, what is kept for long enough.
var old = []string{
	`DELETE FROM supply_refused_value WHERE (import, place, field) IN (SELECT import, place, field FROM supply_refused_value WHERE stored_at < $1 LIMIT 10000)`,
	`DELETE FROM supply_example WHERE (import, kind, place) IN (SELECT import, kind, place FROM supply_example WHERE stored_at < $1 LIMIT 10000)`,
}

// DeleteOld deletes numbers and values of files that are kept for long enough.
func DeleteOld(ctx context.Context, in pg.DB, now time.Time) (deleted int64, err error) {
	for _, statement := range old {
		n, err := pg.InBatches(func() (int64, error) {
			done, err := in.Exec(ctx, statement, now.Add(-Retention))
			if err != nil {
				return 0, fmt.Errorf("filerows: delete old values: %w", err)
			}
			return done.RowsAffected(), nil
		})
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}
