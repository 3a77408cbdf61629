package supply

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/numbering"
)

// Imports lists the last imports, newest first; network 0 means of all.
func (d *Desk) Imports(ctx context.Context, n numbering.Network, limit int) ([]Import, error) {
	return d.imports(ctx, `SELECT `+importColumns+` FROM supply_import WHERE $1 = 0 OR network = $1 ORDER BY id DESC LIMIT $2`, int32(n), limit)
}

func (d *Desk) imports(ctx context.Context, sql string, args ...any) ([]Import, error) {
	rows, err := d.Pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("supply: list imports: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Import, error) { return scanImport(row) })
	if err != nil {
		return nil, fmt.Errorf("supply: list imports: %w", err)
	}
	return list, nil
}

// ImportFilter says which imports are meant. Its zero value means all.
type ImportFilter struct {
	Network numbering.Network
	Open    bool      // only those that are not over
	After   uuid.UUID // an import: only what is older
	Limit   int
}

// ImportPage lists imports, newest first. Next is where the next page begins,
// and zero on the last.
func (d *Desk) ImportPage(ctx context.Context, f ImportFilter) (list []Import, next uuid.UUID, err error) {
	list, err = d.imports(ctx, `SELECT `+importColumns+` FROM supply_import
		WHERE ($1 = 0 OR network = $1) AND (NOT $2 OR state IN ('checking', 'held', 'applying'))
		AND ($3::uuid IS NULL OR id < coalesce((SELECT id FROM supply_import WHERE uid = $3), 2147483647)) ORDER BY id DESC LIMIT $4`,
		int32(f.Network), f.Open, idOrNull(f.After), f.Limit+1)
	if err != nil {
		return nil, uuid.Nil, err
	}
	if len(list) > f.Limit {
		list = list[:f.Limit]
		next = list[f.Limit-1].ID
	}
	return list, next, nil
}

// CountHeld returns how many imports wait for staff.
func (d *Desk) CountHeld(ctx context.Context) (held int, err error) {
	if err := d.Pool.QueryRow(ctx, `SELECT count(*) FROM supply_import WHERE state = 'held'`).Scan(&held); err != nil {
		return 0, fmt.Errorf("supply: count held imports: %w", err)
	}
	return held, nil
}

// RefusedRow is a row of a file that was refused.
type RefusedRow struct {
	Line           int64
	Column, Reason string
}

// FirstRefused returns the first rows that were refused.
func (d *Desk) FirstRefused(ctx context.Context, im Import, limit int) ([]RefusedRow, error) {
	rows, err := d.Pool.Query(ctx, `SELECT place, field, reason FROM supply_refused WHERE import = $1 ORDER BY place, field LIMIT $2`, im.id, limit)
	if err != nil {
		return nil, fmt.Errorf("supply: read refused rows: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[RefusedRow])
	if err != nil {
		return nil, fmt.Errorf("supply: read refused rows: %w", err)
	}
	return list, nil
}

// RefusedRows writes the rows that were refused as CSV: line, column, reason.
func (d *Desk) RefusedRows(ctx context.Context, im Import, w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"line", "column", "reason"}) // out keeps its error
	rows, err := d.Pool.Query(ctx, `SELECT place, field, reason FROM supply_refused WHERE import = $1 ORDER BY place, field`, im.id)
	if err != nil {
		return fmt.Errorf("supply: read refused rows: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var place int64
		var field, reason string
		if err := rows.Scan(&place, &field, &reason); err != nil {
			return fmt.Errorf("supply: read refused rows: %w", err)
		}
		_ = out.Write([]string{strconv.FormatInt(place, 10), field, reason})
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("supply: read refused rows: %w", err)
	}
	out.Flush()
	return out.Error()
}

// DayTold is what an operator told on one day of UTC.
type DayTold struct {
	Day      time.Time
	Accepted int64
	Late     int64 // of those that were accepted
	Refused  int64
}

// Days returns what a network told from one day to another, both included. A day
// on which it told nothing is among them.
func (d *Desk) Days(ctx context.Context, n numbering.Network, from, to time.Time) ([]DayTold, error) {
	rows, err := d.Pool.Query(ctx, `SELECT day, sum(accepted)::bigint, sum(late)::bigint, sum(refused)::bigint FROM supply_day
		WHERE network = $1 AND day BETWEEN $2 AND $3 GROUP BY day`, n, day(from), day(to))
	if err != nil {
		return nil, fmt.Errorf("supply: read the days: %w", err)
	}
	told, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DayTold])
	if err != nil {
		return nil, fmt.Errorf("supply: read the days: %w", err)
	}
	return everyDay(from, to, told, func(t *DayTold) *time.Time { return &t.Day }), nil
}
