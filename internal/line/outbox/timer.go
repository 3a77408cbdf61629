package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Timer is an announced churn: the number is quarantined when the date is reached, and
// nobody reports that. It is the only thing the clock does to a line that raises the risk;
// windows end at the date that their event told.
type Timer struct {
	Number phone.Number
	Due    line.Instant
}

// TimerOf returns the timer of a line whose announced churn has not been reached yet.
func TimerOf(n phone.Number, row *line.Row, now time.Time) (Timer, bool) {
	return Timer{n, row.Until}, row.State == line.StateNoticed && row.Until != line.Never && row.Until > line.InstantOf(now)
}

// Schedule has timers told when they fall due, in the transaction that stores the rows of
// their lines. A line has one timer: a new date replaces the old one.
func Schedule(ctx context.Context, tx pg.Tx, timers ...Timer) error {
	if len(timers) == 0 {
		return nil
	}
	numbers, dues := make([]int64, len(timers)), make([]int32, len(timers))
	for i, t := range timers {
		numbers[i], dues[i] = t.Number.Int(), int32(t.Due)
	}
	_, err := tx.Exec(ctx, `INSERT INTO line_timer (number, due) SELECT n, d FROM unnest($1::bigint[], $2::integer[]) AS t (n, d)
		ON CONFLICT (number) DO UPDATE SET due = excluded.due, told = false WHERE line_timer.due <> excluded.due`, numbers, dues)
	if err != nil {
		return fmt.Errorf("outbox: schedule timers: %w", err)
	}
	return nil
}

// TakeDue returns up to limit timers that have fallen due, the oldest first, and marks them
// as told in this transaction. Those of sealed numbers wait.
func TakeDue(ctx context.Context, tx pg.Tx, now time.Time, limit int) (due []Timer, err error) {
	due, err = pg.Collect(ctx, tx, func(row pgx.CollectableRow) (t Timer, err error) {
		var number int64
		err = row.Scan(&number, &t.Due)
		t.Number, _ = phone.FromInt(number)
		return t, err
	}, `UPDATE line_timer SET told = true WHERE number IN (
			SELECT number FROM line_timer t WHERE NOT told AND due <= $1 AND NOT EXISTS (SELECT FROM line_seal s WHERE s.active AND s.number = t.number) ORDER BY due LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING number, due`, int32(line.InstantOf(now)), limit)
	if err != nil {
		return nil, fmt.Errorf("outbox: take timers: %w", err)
	}
	return due, nil
}

// FellDue describes what happened to a line when its announced churn date was reached. It
// returns false if that date no longer holds. The version of the row does not decide it:
// an event that changes no answer raises the version too.
func (r *Rules) FellDue(t Timer, row *line.Row) (Change, bool) {
	if row.State != line.StateNoticed || row.Until != t.Due {
		return Change{}, false
	}
	just := Rules{Policy: r.Policy, Plan: r.Plan, Now: t.Due.Time().Add(-time.Second)}
	before, after := just.view(t.Number, row), r.view(t.Number, row)
	return Change{
		Number: t.Number, FromVersion: row.Version, Version: row.Version, ReportedAt: r.Now, Kind: Quarantined, Effective: t.Due, Before: before.Status, After: after.Status,
		FromNetwork: before.Network, Network: after.Network, Until: untilOf(&after),
	}, true
}
