package guard

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Each node judges the requests of all nodes. With every Sync it stores the numbers
// that are new in its windows as one report, and reads the reports of the others; a
// node that starts reads those of the last day, its own included. A scan over eight
// nodes is so found after as many numbers as one over a single node, and the few of
// the seconds between two reports.

// maxUnshared is how many numbers of an organisation wait to be reported while the
// database is unavailable. Beyond it, other nodes do not learn of them.
const maxUnshared = 1_000_000

// share notes that other nodes should be told of a number. The caller holds the lock.
func (o *subject) share(n phone.Number) {
	if len(o.unshared) < maxUnshared {
		o.unshared = append(o.unshared, keyOf(n))
	}
}

// takeSeen returns what is to be reported of an organisation.
func (o *subject) takeSeen() seen {
	s := seen{Entity: o.id, Numbers: make([]uint64, 0, len(o.unshared))}
	if sponsor := o.sponsor.Load(); sponsor != nil {
		s.Sponsor = sponsor.id
	}
	for _, key := range o.unshared {
		value := key << 1
		if word := o.window.numbers.find(key); word != nil {
			value |= *word & missBit
		}
		s.Numbers = append(s.Numbers, value)
	}
	o.unshared = nil
	slices.Sort(s.Numbers)
	s.Numbers = slices.Compact(s.Numbers)
	return s
}

// restoreSeen undoes takeSeen.
func (o *subject) restoreSeen(s seen) {
	for _, value := range s.Numbers {
		if len(o.unshared) < maxUnshared {
			o.unshared = append(o.unshared, value>>1)
		}
	}
}

// seenFor is how long reports are kept: a window is a day, in whole hours.
const seenFor = 25 * time.Hour

// saveSeen stores the report of this node, and once an hour deletes old ones.
func (g *Guard) saveSeen(ctx context.Context, tx pg.Tx, r *report, now time.Time) error {
	if hour := hourOf(now); hour > g.deletedAt {
		if _, err := tx.Exec(ctx, `DELETE FROM guard_seen WHERE at < $1`, now.Add(-seenFor)); err != nil {
			return fmt.Errorf("guard: delete old reports: %w", err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM guard_year WHERE year < $1`, yearOf(dayOf(now))); err != nil {
			return fmt.Errorf("guard: delete earlier years: %w", err)
		}
		if err := deleteEnteredBefore(ctx, tx, yearOf(dayOf(now))); err != nil {
			return err
		}
	}
	if len(r.seen) == 0 {
		return nil
	}
	// A node stores one report after the other, so that the others see them in this order.
	r.n = max(g.heard[g.Node]+1, now.UnixNano())
	_, err := tx.Exec(ctx, `INSERT INTO guard_seen (node, n, at, seen) VALUES ($1, $2, $3, $4)`, g.Node, r.n, now, encodeReport(r.seen))
	return fault.Wrap(err, "guard: store a report")
}

// reported notes that a report is stored.
func (g *Guard) reported(r *report, now time.Time) {
	g.deletedAt = hourOf(now)
	if r.n > 0 {
		g.heard[g.Node] = r.n
	}
}

// reportsAtOnce is how many reports are read with one query. A node that starts
// reads those of a day.
const reportsAtOnce = 500

// hear reads the reports that this node does not know yet, and puts their numbers
// into its windows.
func (g *Guard) hear(ctx context.Context, now time.Time) error {
	for {
		var nodes []string
		var last []int64
		for node, n := range g.heard {
			nodes, last = append(nodes, node), append(last, n)
		}
		var node string
		var n, rows int64
		var at time.Time
		var text []byte
		err := forEachRow(ctx, g.Pool, []any{&node, &n, &at, &text}, func() {
			rows++
			g.heard[node] = n
			if err := decodeReport(text, func(s seen) { g.merge(s, at, now) }); err != nil {
				g.Log.LogAttrs(ctx, slog.LevelWarn, "the guard cannot read a report of another node; it continues without it", slog.String("node", node), slog.String("error", err.Error()))
			}
		}, `SELECT s.node, s.n, s.at, s.seen FROM guard_seen s LEFT JOIN unnest($1::text[], $2::bigint[]) AS k (node, n) ON k.node = s.node
			WHERE s.at > $3 AND s.n > coalesce(k.n, 0) ORDER BY s.node, s.n LIMIT $4`, nodes, last, now.Add(-seenFor), reportsAtOnce)
		if err != nil || rows < reportsAtOnce {
			return err
		}
	}
}

// merge puts the numbers of a report into the windows of an organisation and of its
// sponsor. Their usage is counted by the node that reported them.
func (g *Guard) merge(s seen, at, now time.Time) {
	hour := hourOf(now)
	ago := max(hour-hourOf(at), 0)
	o := g.sponsored(s.Entity, s.Sponsor)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.startDay(now)
	thisYear := at.UTC().Year() == o.year.year
	for _, value := range s.Numbers {
		n, ok := phone.FromInt(int64(value >> 1))
		if !ok {
			continue
		}
		if thisYear {
			o.cover(g, n, at)
			if value&missBit != 0 {
				o.coverMiss(g, n, at)
			}
		}
		if ago >= 24 || g.Mode == Off {
			continue
		}
		word, known := o.window.lookup(n, hour)
		if word == nil || known > ago {
			o.see(g, n, word, hour-ago)
		}
		if value&missBit != 0 {
			o.setMiss(g, n, true)
		}
	}
}
