// Package rowmac walks the rows that decide access: it finds those that the service did not
// write, signs those of an older pepper anew, and accepts those that the operator vouches
// for. Package pg signs rows when they change and checks them when they are read.
//
// What it guarantees: only Accept signs a row whose HMAC is wrong or missing, or that is an
// older one than was last signed, and that is in the audit trail.
package rowmac

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// RowsAccepted is the audit action of signing rows that the service did not write.
const RowsAccepted audit.Action = "rows.accepted"

// Table is the finding of Check about a table.
type Table struct {
	Name     string
	Rows     int64
	Outdated int64       // signed under an older pepper
	Broken   []uuid.UUID // the HMAC is wrong or missing
	Old      []uuid.UUID // not what was last signed of the row, or the record of that is not genuine
}

// Check reads every row that decides access.
func Check(ctx context.Context, from pg.DB, peppers *secret.Peppers) ([]Table, error) {
	tables := make([]Table, 0, len(pg.SignedTables))
	for _, name := range pg.SignedTables {
		t := Table{Name: name}
		err := eachRow(ctx, from, name, func(r pg.RecordedRow) {
			t.Rows++
			switch state, record := peppers.CheckRow(name, r.Sum, r.MAC), r.Newest.Of(r.Row, peppers); {
			case state == secret.RowBroken:
				t.Broken = append(t.Broken, r.ID)
			case record == secret.RowBroken:
				t.Old = append(t.Old, r.ID)
			case state == secret.RowOutdated || record == secret.RowOutdated:
				t.Outdated++
			}
		})
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func eachRow(ctx context.Context, from pg.DB, table string, fn func(pg.RecordedRow)) error {
	r := pg.RecordedRow{Row: pg.Row{Table: table}}
	err := pg.ForEach(ctx, from, []any{&r.ID, &r.Sum, &r.MAC, &r.Newest.N, &r.Newest.Sum, &r.Newest.MAC}, func() error {
		fn(r)
		r.Sum, r.MAC, r.Newest = nil, nil, pg.RowRecord{}
		return nil
	}, fmt.Sprintf(`SELECT t.%[1]s, t.row_sum, t.row_mac, coalesce(s.n, 0), s.sum, s.mac FROM %[2]s t LEFT JOIN (
			SELECT DISTINCT ON (id) id, n, sum, mac FROM row_signed WHERE table_name = $1 ORDER BY id, n DESC
		) s ON s.id = t.%[1]s`, pg.RowID(table), pgx.Identifier{table}.Sanitize()), table)
	return fault.Wrap(err, "rowmac: read %s", table)
}

// signBatch is how many rows one transaction signs.
const signBatch = 500

// Renew signs the rows of an older pepper under the newest, so that the older one can be
// retired. It returns how many. Two calls at the same time do the same.
func Renew(ctx context.Context, pool *pgxpool.Pool, peppers *secret.Peppers) (int64, error) {
	var renewed int64
	for _, table := range pg.SignedTables {
		var old []pg.RecordedRow
		err := eachRow(ctx, pool, table, func(r pg.RecordedRow) {
			row, record := peppers.CheckRow(table, r.Sum, r.MAC), r.Newest.Of(r.Row, peppers)
			if row != secret.RowBroken && record != secret.RowBroken && (row == secret.RowOutdated || record == secret.RowOutdated) {
				old = append(old, r)
			}
		})
		if err != nil {
			return renewed, err
		}
		for batch := range slices.Chunk(old, signBatch) {
			err := pg.InTx(ctx, pool, func(tx pg.Tx) error { return pg.SetRowMACs(ctx, tx, peppers, batch) })
			if err != nil {
				return renewed, err
			}
			renewed += int64(len(batch))
		}
	}
	return renewed, nil
}

// ErrNoRows reports that nothing is to be accepted.
var ErrNoRows = fault.New(fault.NotFound, "There is no such row that the service does not stand for. Run: lineproof rows check")

// Accept signs rows of a table that Check found, because their HMAC is wrong or missing or
// they are old: those with the ids or, for none, all of the table. The operator must have compared them with the audit trail.
func Accept(ctx context.Context, pool *pgxpool.Pool, peppers *secret.Peppers, table string, ids []uuid.UUID, reason string, by audit.Actor, now time.Time) (int, error) {
	var wrong fault.Form
	wrong.Check(slices.Contains(pg.SignedTables, table), "table", fault.NotAllowed, "Give a table that lineproof rows check lists.")
	wrong.Check(reason != "", "reason", fault.Required, "Say why these rows are right.")
	if err := wrong.Err(); err != nil {
		return 0, err
	}
	var broken []pg.RecordedRow
	err := eachRow(ctx, pool, table, func(r pg.RecordedRow) {
		genuine := peppers.CheckRow(table, r.Sum, r.MAC) != secret.RowBroken && r.Newest.Of(r.Row, peppers) != secret.RowBroken
		if (len(ids) == 0 || slices.Contains(ids, r.ID)) && !genuine {
			broken = append(broken, r)
		}
	})
	if err != nil {
		return 0, err
	}
	if len(broken) == 0 {
		return 0, ErrNoRows
	}
	for batch := range slices.Chunk(broken, signBatch) {
		err := pg.InTx(ctx, pool, func(tx pg.Tx) error {
			if err := pg.SetRowMACs(ctx, tx, peppers, batch); err != nil {
				return err
			}
			for _, r := range batch {
				err := audit.Write(ctx, tx, audit.Entry{
					At: now, Actor: by, Action: RowsAccepted, Subject: r.ID, After: map[string]any{"table": table, "reason": reason},
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return len(broken), nil
}
