package supply

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
)

// tally counts what a transaction took in, for the accounts of the operators.
type tally struct {
	rules

	days  map[dayKey]*dayCount
	lines map[numbering.Network]int64 // running tenures won and lost
}

type dayKey struct {
	network numbering.Network
	kind    line.Kind // 0 counts what was refused
}

type dayCount struct{ accepted, refused, late, early, seconds, worst int64 }

func newTally(r rules) tally {
	return tally{rules: r, days: make(map[dayKey]*dayCount), lines: make(map[numbering.Network]int64)}
}

func (t *tally) of(n numbering.Network, k line.Kind) *dayCount {
	c := t.days[dayKey{n, k}]
	if c == nil {
		c = &dayCount{}
		t.days[dayKey{n, k}] = c
	}
	return c
}

// count notes an event that was kept, and how late it was told. Only operators
// have an account.
func (t *tally) count(e *line.Event, before line.Row) {
	if e.By != line.Operator {
		return
	}
	c := t.of(e.Network, e.Kind)
	c.accepted++
	if e.Kind == line.Void || e.Code == line.ReasonInferred {
		return // told when it was found out
	}
	waited := max(int64(t.now.Sub(e.Effective.Time())/time.Second), 0)
	c.seconds += waited
	c.worst = max(c.worst, waited)
	if e.Kind == line.End && waited > int64(t.policy.ChurnReport()/time.Second) {
		c.late++
	}
	if e.Kind == line.Assign && before.State == line.StateEnded && e.Effective < before.StateSince.Add(t.policy.Quarantine()) {
		c.early++
	}
}

func (t *tally) refused(n numbering.Network, rows int64) {
	if n != 0 && rows > 0 {
		t.of(n, 0).refused += rows
	}
}

// move notes that a number has won, lost or changed the network of its tenure.
func (t *tally) move(from, to *line.Row) {
	if running(from) {
		t.lines[from.Network]--
	}
	if running(to) {
		t.lines[to.Network]++
	}
}

func running(r *line.Row) bool { return r.State != line.StateNone && r.State != line.StateEnded }

// save writes the accounts.
func (t *tally) save(ctx context.Context, tx pg.Tx) error {
	// Always in the same order, so that two that meet do not lock each other out.
	keys := slices.SortedFunc(maps.Keys(t.days), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.network, b.network), cmp.Compare(a.kind, b.kind))
	})
	for _, k := range keys {
		c := t.days[k]
		_, err := tx.Exec(ctx, `INSERT INTO supply_day (network, day, kind, accepted, refused, late, early, seconds, worst)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (network, day, kind) DO UPDATE SET
			accepted = supply_day.accepted + excluded.accepted, refused = supply_day.refused + excluded.refused,
			late = supply_day.late + excluded.late, early = supply_day.early + excluded.early,
			seconds = supply_day.seconds + excluded.seconds, worst = greatest(supply_day.worst, excluded.worst)`,
			k.network, day(t.now), int16(k.kind), c.accepted, c.refused, c.late, c.early, c.seconds, c.worst)
		if err != nil {
			return fmt.Errorf("supply: account for the day: %w", err)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(t.lines)) {
		delta := t.lines[n]
		if delta == 0 {
			continue
		}
		_, err := tx.Exec(ctx, `INSERT INTO supply_coverage (network, lines, updated_at) VALUES ($1, $2, $3)
			ON CONFLICT (network) DO UPDATE SET lines = supply_coverage.lines + excluded.lines, updated_at = excluded.updated_at`, n, delta, t.now)
		if err != nil {
			return fmt.Errorf("supply: count lines: %w", err)
		}
	}
	return nil
}

// cover moves the reach of an operator's supply. A zero time leaves its part
// as it is.
func cover(ctx context.Context, tx pg.Tx, n numbering.Network, complete, through, now time.Time) error {
	var completeSince, suppliedThrough *time.Time
	known := now
	if !complete.IsZero() {
		completeSince, known = &complete, complete
	}
	if !through.IsZero() {
		suppliedThrough = &through
	}
	_, err := tx.Exec(ctx, `INSERT INTO supply_coverage (network, known_since, complete_since, supplied_through, updated_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (network) DO UPDATE SET
		known_since = least(supply_coverage.known_since, excluded.known_since),
		complete_since = coalesce(supply_coverage.complete_since, excluded.complete_since),
		supplied_through = greatest(supply_coverage.supplied_through, excluded.supplied_through),
		updated_at = excluded.updated_at`, n, known, completeSince, suppliedThrough, now)
	if err != nil {
		return fmt.Errorf("supply: move the coverage: %w", err)
	}
	return nil
}
