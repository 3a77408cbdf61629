package line

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/pg"
)

// ChangedRow is a new row, and the version of the row that it replaces; 0 when there
// was no row.
type ChangedRow struct {
	Record

	From int32
}

// The statements take one array per column and write the rows in the order of
// the arrays, which is that of the numbers, so that concurrent writers do not
// deadlock.
const (
	unnested = `unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::smallint[], $6::smallint[], $7::int[], $8::int[], $9::int[],
		$10::int[], $11::int[], $12::int[], $13::int[], $14::int[], $15::int[], $16::int[], $17::int[], $18::int[], $19::smallint[],
		$20::smallint[], $21::smallint[]) AS t (number, from_version, version, baseline, network, state, state_since, tenure_start, sim_at,
		newest, until, ended_after, port_at, bar_at, order_at, black_at, flag_at, flag_by, flag_level, bar_reason, order_reason)`

	never = `, -2147483648)`

	updateRows = `UPDATE line_now l SET version = t.version, baseline = t.baseline, network = t.network, state = t.state,
		state_since = nullif(t.state_since` + never + `, tenure_start = nullif(t.tenure_start` + never + `, sim_at = nullif(t.sim_at` + never + `,
		newest = nullif(t.newest` + never + `, until = nullif(t.until` + never + `, ended_after = nullif(t.ended_after` + never + `,
		port_at = nullif(t.port_at` + never + `, bar_at = nullif(t.bar_at` + never + `, order_at = nullif(t.order_at` + never + `,
		black_at = nullif(t.black_at` + never + `, flag_at = nullif(t.flag_at` + never + `, flag_by = nullif(t.flag_by, 0),
		flag_level = nullif(t.flag_level, 0), bar_reason = nullif(t.bar_reason, 0), order_reason = nullif(t.order_reason, 0)
		FROM ` + unnested + ` WHERE l.number = t.number AND l.version = t.from_version`

	insertRows = `INSERT INTO line_now (number, version, baseline, network, state, state_since, tenure_start, sim_at, newest, until, ended_after,
		port_at, bar_at, order_at, black_at, flag_at, flag_by, flag_level, bar_reason, order_reason)
		SELECT number, version, baseline, network, state, nullif(state_since` + never + `, nullif(tenure_start` + never + `, nullif(sim_at` + never + `,
		nullif(newest` + never + `, nullif(until` + never + `, nullif(ended_after` + never + `, nullif(port_at` + never + `, nullif(bar_at` + never + `,
		nullif(order_at` + never + `, nullif(black_at` + never + `, nullif(flag_at` + never + `, nullif(flag_by, 0), nullif(flag_level, 0),
		nullif(bar_reason, 0), nullif(order_reason, 0) FROM ` + unnested + ` ON CONFLICT (number) DO NOTHING`
)

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
	for statement, t := range map[string]*rowColumns{updateRows: &updates, insertRows: &inserts} {
		if len(t.number) == 0 {
			continue
		}
		result, err := tx.Exec(ctx, statement, t.arrays()...)
		if err != nil {
			return fmt.Errorf("line: write rows: %w", err)
		}
		if result.RowsAffected() != int64(len(t.number)) {
			return ErrConcurrentUpdate
		}
	}
	return nil
}

// rowColumns holds rows by column.
type rowColumns struct {
	number                                                                  []int64
	from, version, baseline, since, tenure, sim, newest, until, after, port []int32
	bar, order, black, flag, flagBy                                         []int32
	network, state, level, barReason, orderReason                           []int16
}

func (t *rowColumns) add(c *ChangedRow) {
	r := &c.Row
	newest := r.Newest
	if newest == r.newestColumn() {
		newest = Never // newestColumn restores it
	}
	t.number = append(t.number, c.Number.Int())
	t.from = append(t.from, c.From)
	t.version = append(t.version, r.Version)
	t.baseline = append(t.baseline, r.Baseline)
	t.network = append(t.network, int16(r.Network))
	t.state = append(t.state, int16(r.State))
	t.since = append(t.since, int32(r.StateSince))
	t.tenure = append(t.tenure, int32(r.Tenure))
	t.sim = append(t.sim, int32(r.SIM))
	t.newest = append(t.newest, int32(newest))
	t.until = append(t.until, int32(r.Until))
	t.after = append(t.after, int32(r.EndedAfter))
	t.port = append(t.port, int32(r.PortAt))
	t.bar = append(t.bar, int32(r.BarAt))
	t.order = append(t.order, int32(r.OrderAt))
	t.black = append(t.black, int32(r.BlackAt))
	t.flag = append(t.flag, int32(r.FlagAt))
	t.flagBy = append(t.flagBy, r.FlagBy)
	t.level = append(t.level, int16(r.FlagLevel))
	t.barReason = append(t.barReason, int16(r.BarReason))
	t.orderReason = append(t.orderReason, int16(r.OrderReason))
}

func (t *rowColumns) arrays() []any {
	return []any{
		t.number, t.from, t.version, t.baseline, t.network, t.state, t.since, t.tenure, t.sim, t.newest, t.until, t.after, t.port,
		t.bar, t.order, t.black, t.flag, t.flagBy, t.level, t.barReason, t.orderReason,
	}
}
