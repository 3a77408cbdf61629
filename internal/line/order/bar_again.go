package order

import (
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// barAgain is how long after the end of a bar that nobody confirmed a new one of the same
// number takes two people: one person could otherwise bar a number for good.
const barAgain = 30 * 24 * time.Hour

// earlierBars is what earlier bars by one person of a number mean for a new one.
type earlierBars struct {
	ended bool      // one has lapsed or was rejected
	until time.Time // when one that still acts ends; zero for none
}

// barsBefore returns the earlier bars of a number, for a new bar. The caller holds the line,
// so that of two orders at the same time the second one finds the first.
func barsBefore(ctx context.Context, tx pg.Tx, n phone.Number, action string, now time.Time) (b earlierBars, err error) {
	if orderKinds[action].rule != KindBar {
		return b, nil
	}
	var until *time.Time
	err = tx.QueryRow(ctx, `SELECT coalesce(bool_or(state = 'WITHDRAWN' OR lapses_at <= $2), false), min(lapses_at) FROM line_order
		WHERE number = $1 AND action = 'BAR' AND state IN ('UNCONFIRMED', 'WITHDRAWN') AND lapses_at > $3`, n.Int(), now, now.Add(-barAgain)).Scan(&b.ended, &until)
	if err != nil {
		return b, fmt.Errorf("order: find earlier bars: %w", err)
	}
	if until != nil {
		b.until = until.UTC()
	}
	return b, nil
}

// lapse returns when a new bar ends unless it is confirmed: not after an earlier one that
// still acts, or one person could make it longer.
func (b earlierBars) lapse(now time.Time) time.Time {
	if at := now.Add(Lapse); b.until.IsZero() || at.Before(b.until) {
		return at
	}
	return b.until
}
