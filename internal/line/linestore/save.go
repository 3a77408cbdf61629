package linestore

import (
	"context"
	"fmt"
	"strings"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// ChangedRow is a new row, and the version of the row that it replaces; 0 when there
// was no row.
type ChangedRow struct {
	Record

	From int32
}

// SaveRows writes rows, which must be in the order of their numbers. If the stored
// version of one of them is not the one that it replaces, another transaction has
// changed it: the error is [ErrConcurrentUpdate], and the transaction must be
// rolled back.
func SaveRows(ctx context.Context, tx pg.Tx, changed []ChangedRow) error {
	var inserts, updates rowColumns
	for i := range changed {
		if changed[i].From == 0 {
			inserts.add(&changed[i])
		} else {
			updates.add(&changed[i])
		}
	}
	for _, w := range []struct {
		statement string
		rows      *rowColumns
	}{{updateRows, &updates}, {insertRows, &inserts}} {
		if len(w.rows.number) == 0 {
			continue
		}
		result, err := tx.Exec(ctx, w.statement, w.rows.arrays()...)
		if err != nil {
			return fmt.Errorf("linestore: write rows: %w", err)
		}
		if result.RowsAffected() != int64(len(w.rows.number)) {
			return ErrConcurrentUpdate
		}
	}
	return nil
}

// The statements take one array per column and write the rows in the order of
// the arrays, which is that of the numbers, so that concurrent writers do not
// deadlock.
var updateRows, insertRows = saveStatements()

func saveStatements() (update, insert string) {
	types := map[string]string{"number": "bigint", "version": "int", "baseline": "int"}
	var arrays, sets, values []string
	names := append(append([]string{}, fixedNames...), instantNames...)
	for i, name := range names {
		kind := "smallint"
		if t, ok := types[name]; ok {
			kind = t
		}
		value := "t." + name
		switch {
		case i >= len(fixedNames):
			kind, value = "int", "nullif(t."+name+", -2147483648)"
		case strings.HasSuffix(name, "_reason"):
			value = "nullif(t." + name + ", 0)"
		}
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, kind))
		values = append(values, value)
		if name != "number" {
			sets = append(sets, name+" = "+value)
		}
	}
	list := strings.Join(names, ", ")
	from := fmt.Sprintf("unnest(%s, $%d::int[]) AS t (%s, from_version)", strings.Join(arrays, ", "), len(names)+1, list)
	update = "UPDATE line_now l SET " + strings.Join(sets, ", ") + " FROM " + from + " WHERE l.number = t.number AND l.version = t.from_version"
	insert = "INSERT INTO line_now (" + list + ") SELECT " + strings.Join(values, ", ") + " FROM " + from + " ON CONFLICT (number) DO NOTHING"
	return update, insert
}

// rowColumns holds rows by column, in the order of rowNames.
type rowColumns struct {
	number                                      []int64
	version, baseline, from                     []int32
	network, state, bits, bar, holderBar, onBar []int16
	times                                       [20][]int32
}

func (t *rowColumns) add(c *ChangedRow) {
	r := stored(&c.Row)
	t.number, t.from = append(t.number, c.Number.Int()), append(t.from, c.From)
	t.version, t.baseline = append(t.version, r.Version), append(t.baseline, r.Baseline)
	t.network, t.state, t.bits = append(t.network, int16(r.Network)), append(t.state, int16(r.State)), append(t.bits, int16(r.Bits))
	t.bar, t.holderBar, t.onBar = append(t.bar, int16(r.BarReason)), append(t.holderBar, int16(r.HolderBarReason)), append(t.onBar, int16(r.NumberBarReason))
	for i, at := range r.Times() {
		t.times[i] = append(t.times[i], int32(*at))
	}
}

func (t *rowColumns) arrays() []any {
	all := []any{t.number, t.version, t.baseline, t.network, t.state, t.bits, t.bar, t.holderBar, t.onBar}
	for _, times := range t.times {
		all = append(all, times)
	}
	return append(all, t.from)
}
