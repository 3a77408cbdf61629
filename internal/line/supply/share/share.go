// Package share limits how many of a network's lines a supplier can end, move or
// assign to new holders by events before the regulator has looked at it. Files have
// the same limit; package supply checks it before it applies one.
//
// What it guarantees:
//
//   - Within [Window] a supplier changes at most the greater of the policy's percentage
//     of a network's current tenures and [MinLines]. Events beyond that are held and
//     not counted.
//   - Concurrent reports of one supplier cannot pass the limit together.
//   - Staff can announce a mass change beforehand: what it covers is not held, and does
//     not use up the share.
package share

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

const (
	// Window is the period of the limit. Since the limit of an hour is the same, this one
	// includes it. Numbers are counted by the hour of their report, and an hour leaves
	// the window when all of it has.
	Window = 7 * 24 * time.Hour
	// MinLines is what a small network may change in any case.
	MinLines = 1000
)

// Affected returns the network whose line an event has ended, moved or given to a new
// holder, and false if it has done none of that. A notice of churn ends a line at its
// date, without a further event. Before and after are the row without and with the
// event.
func Affected(before, after *line.Row, e *line.Event) (numbering.Network, bool) {
	was := before.AsOf(line.InstantOf(e.ReportedAt)) // a churn date may have come
	switch {
	case was.State.Ongoing():
		noticed := after.State == line.StateNoticed && was.State != line.StateNoticed
		return was.Network, noticed || !after.State.Ongoing() || after.Network != was.Network || after.Tenure != was.Tenure
	case was.State == line.StateEnded && after.State.Ongoing() && after.Tenure != was.Tenure:
		if e.Authority == line.Operator {
			return e.Network, true
		}
		return was.Network, true
	}
	return 0, false
}

// Counter counts, in one transaction, the lines that events change.
type Counter struct {
	tx      pg.Tx
	percent int64
	now     time.Time
	windows map[key]*window
}

// key is whose events are counted, and the network that has the lines.
type key struct {
	supplier int32
	network  numbering.Network
}

// window is what has been counted within the last [Window].
type window struct {
	limit, counted int64
	hours          map[time.Time]int64 // what this transaction adds, by hour
	announced      uuid.UUID           // a mass change that staff announced; zero for none
	free, used     int64               // how many lines it still covers, and how many of them this transaction has used
}

// NewCounter returns a counter for a transaction at a time.
func NewCounter(tx pg.Tx, p *policy.Policy, now time.Time) *Counter {
	return &Counter{tx: tx, percent: int64(p.HoldPercent), now: now, windows: make(map[key]*window)}
}

// Verdict is what an event is counted as.
type Verdict int

// The verdicts.
const (
	Counted   Verdict = iota // within the share
	Announced                // part of an announced change
	Beyond                   // it must be held
)

// Count counts a number that an event of a supplier changes. Last is when this
// supplier last changed the same number of the same network; zero for never. A number
// that is still in the window then does not count twice.
func (c *Counter) Count(ctx context.Context, supplier int32, n numbering.Network, last time.Time) (Verdict, error) {
	w, err := c.window(ctx, key{supplier, n})
	if err != nil {
		return 0, err
	}
	hour := c.now.Truncate(time.Hour)
	if was := last.Truncate(time.Hour); !last.IsZero() && was.After(c.start()) {
		w.hours[was]--
		w.hours[hour]++
		return Counted, nil
	}
	switch {
	case w.used < w.free:
		w.used++
		return Announced, nil
	case w.counted >= w.limit:
		return Beyond, nil
	}
	w.counted++
	w.hours[hour]++
	return Counted, nil
}

// start returns the hour after which the window begins.
func (c *Counter) start() time.Time { return c.now.Add(-Window - time.Hour) }

const readCounted = `SELECT coalesce(sum(numbers), 0)::bigint FROM supply_share WHERE supplier = $1 AND network = $2 AND hour > $3`

func (c *Counter) window(ctx context.Context, k key) (*window, error) {
	if w := c.windows[k]; w != nil {
		return w, nil
	}
	w := &window{hours: make(map[time.Time]int64)}
	var lines int64
	var announced uuid.NullUUID
	err := c.tx.QueryRow(ctx, `SELECT coalesce((SELECT lines FROM network_lines WHERE network = $2), 0), (`+readCounted+`), a.id, coalesce(a.free, 0)
		FROM (VALUES (1)) AS one LEFT JOIN LATERAL (SELECT id, lines - used AS free FROM supply_announced
			WHERE network = $2 AND starts_at <= $4 AND ends_at > $4 AND used < lines ORDER BY ends_at, id LIMIT 1) a ON true`,
		k.supplier, k.network, c.start(), c.now).Scan(&lines, &w.counted, &announced, &w.free)
	if err != nil {
		return nil, fmt.Errorf("share: count changed lines: %w", err)
	}
	w.limit, w.announced = max(lines*c.percent/100, MinLines), announced.UUID
	c.windows[k] = w
	return w, nil
}

// Save stores what was counted. It fails with [linestore.ErrConcurrentUpdate] if
// another transaction has used up the share or the announced change in the meantime:
// the caller tries again, and finds out which events are beyond it.
func (c *Counter) Save(ctx context.Context) error {
	// Always in the same order, so that two transactions cannot deadlock.
	keys := slices.SortedFunc(maps.Keys(c.windows), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.supplier, b.supplier), cmp.Compare(a.network, b.network))
	})
	for _, k := range keys {
		if err := c.save(ctx, k, c.windows[k]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Counter) save(ctx context.Context, k key, w *window) error {
	if w.used > 0 {
		done, err := c.tx.Exec(ctx, `UPDATE supply_announced SET used = used + $2 WHERE id = $1 AND used + $2 <= lines`, w.announced, w.used)
		if err != nil {
			return fmt.Errorf("share: use an announced change: %w", err)
		}
		if done.RowsAffected() == 0 {
			return linestore.ErrConcurrentUpdate
		}
	}
	for _, hour := range slices.SortedFunc(maps.Keys(w.hours), time.Time.Compare) {
		_, err := c.tx.Exec(ctx, `INSERT INTO supply_share AS s (supplier, network, hour, numbers) VALUES ($1, $2, $3, $4)
			ON CONFLICT (supplier, network, hour) DO UPDATE SET numbers = s.numbers + excluded.numbers`, k.supplier, k.network, hour, w.hours[hour])
		if err != nil {
			return fmt.Errorf("share: store changed lines: %w", err)
		}
	}
	if len(w.hours) == 0 {
		return nil
	}
	// The row of this hour is locked until the commit, so that no other report of this
	// supplier is counted between this look and the commit.
	var counted int64
	if err := c.tx.QueryRow(ctx, readCounted, k.supplier, k.network, c.start()).Scan(&counted); err != nil {
		return fmt.Errorf("share: count changed lines: %w", err)
	}
	if counted > w.counted && counted > w.limit {
		return linestore.ErrConcurrentUpdate
	}
	return nil
}
