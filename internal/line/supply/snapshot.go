package supply

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// applySnapshotRows applies rows of a snapshot. A number without a stored row
// gets one; for the others, only what differs from the stored row becomes an
// event. The stored rows are locked only on a retry: a conflict is rare, and
// save finds it.
func (r *importRun) applySnapshotRows(ctx context.Context, tx pg.Tx, rows []*linefile.Row, retry bool, counts *Counts) (refused []linefile.Refusal, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	rules := r.rules
	rules.now = r.service.now()
	low, high := numberSpan(rows)
	some, err := linestore.AnyBetween(ctx, tx, low, high)
	if err != nil {
		return nil, err
	}
	cs := &changeSet{rules: rules, counts: newDailyCounts(rules)}
	if some {
		if cs, err = r.service.load(ctx, tx, rules, numbersOf(rows), retry); err != nil {
			return nil, err
		}
	}
	cs.seqs = &seqAllocator{tx: tx}
	added := make([]linestore.Record, 0, len(rows))
	for _, from := range rows {
		c := cs.byNumber[from.Number]
		if c == nil || c.Stored.Version == 0 {
			base, refusal := r.authoriseRow(from, line.NoRow())
			switch refusal.Reason {
			case "":
				before, after := line.NoRow(), line.FromBaseline(&base)
				cs.counts.countMove(&before, &after)
				added = append(added, linestore.Record{Number: from.Number, Row: after})
				counts.Added++
				continue
			case portUnknown:
				if c == nil {
					c = cs.addNumber(from.Number)
				}
			default:
				refused = append(refused, from.Refuse(refusal.Field, refusal.Reason))
				continue
			}
		}
		refusal, err := r.applyRow(ctx, cs, c, from, counts)
		if err != nil {
			return nil, err
		}
		if refusal.Reason != "" {
			refused = append(refused, from.Refuse(refusal.Field, refusal.Reason))
		}
	}
	byNumber := func(a, b linestore.Record) int { return compareNumbers(a.Number, b.Number) }
	if !slices.IsSortedFunc(added, byNumber) {
		slices.SortFunc(added, byNumber)
	}
	if len(added) > 0 {
		if err := linestore.InsertBaselines(ctx, tx, added); err != nil {
			return nil, err
		}
	}
	var timers []outbox.Timer
	for i := range added {
		if t, ok := outbox.TimerOf(added[i].Number, &added[i].Row, cs.now); ok {
			timers = append(timers, t)
		}
	}
	if err := outbox.Schedule(ctx, tx, timers...); err != nil {
		return nil, err
	}
	if err := cs.save(ctx, tx); err != nil {
		return nil, err
	}
	cs.counts.countRefused(r.im.Network, int64(len(refused)))
	return refused, cs.counts.save(ctx, tx)
}

// applyRow applies a row about a number that may be known, and counts what it did.
// It returns why the row is refused, if it is.
func (r *importRun) applyRow(ctx context.Context, cs *changeSet, c *linechange.Change, from *linefile.Row, counts *Counts) (linefile.Refusal, error) {
	asOf := line.InstantOf(r.im.AsOf)
	before := c.RowAt(asOf)
	base, refusal := r.authoriseRow(from, before)
	if refusal.Reason == portUnknown {
		held, _ := r.rules.plan.RangeOf(from.Number, r.im.AsOf)
		if c.IsLastDonor(&line.Event{Effective: asOf, Network: r.im.Network}, held.Network) {
			refusal.Reason = portedOut
		}
	}
	switch refusal.Reason {
	case "":
	case portUnknown:
		d := r.comparison(ctx, cs, c, &base, false)
		v, err := d.WaitForPort()
		if v != linechange.NoEffect || err != nil {
			counts.addVerdict(v)
			return linefile.Refusal{}, err
		}
		counts.PortedOut++
		refusal.Reason = portedOut
		return refusal, nil
	case portedOut:
		counts.PortedOut++
		return refusal, nil
	default:
		return refusal, nil
	}
	d := r.comparison(ctx, cs, c, &base, from.Snap.Until != line.Never)
	v, err := d.Run()
	if err != nil {
		return linefile.Refusal{}, err
	}
	if v == linechange.Blocked {
		return linefile.Refusal{Place: from.Place, Field: "tenureStart", Reason: "BLACKLISTED"}, nil
	}
	counts.addVerdict(v)
	r.countEvents(cs, d, before)
	return linefile.Refusal{}, nil
}

// comparison compares a row of the snapshot with a line.
func (r *importRun) comparison(ctx context.Context, cs *changeSet, c *linechange.Change, base *line.Baseline, dated bool) *linechange.Comparison {
	return &linechange.Comparison{
		Rules: cs.comparisonRules(ctx), Change: c, File: base, Dated: dated, Supplier: r.im.supplier,
		AsOf: line.InstantOf(r.im.AsOf), Last: instantOrNever(r.lastSnapshot),
	}
}

func (cs *changeSet) comparisonRules(ctx context.Context) linechange.Rules {
	return linechange.Rules{Policy: cs.policy, Plan: cs.plan, Now: cs.now, Next: func() (int64, error) { return cs.seqs.next(ctx) }}
}

// addVerdict counts a row by what became of it.
func (c *Counts) addVerdict(v linechange.Verdict) {
	switch v {
	case linechange.Unchanged:
		c.Unchanged++
	case linechange.Changed:
		c.Changed++
	case linechange.Kept:
		c.Waiting++
	case linechange.NoEffect, linechange.Blocked:
		c.NoEffect++
	}
}

// countEvents counts the events of a row. Those of a network's first snapshot are not
// late, and are not counted, as its baselines are not.
func (r *importRun) countEvents(cs *changeSet, d *linechange.Comparison, before line.Row) {
	if d.Last == line.Never {
		return
	}
	for i := range d.Events {
		switch e := &d.Events[i]; e.Kind {
		case line.Restate:
		case line.Assign:
			cs.counts.countEvent(e, d.Former)
		default:
			cs.counts.countEvent(e, before)
		}
	}
}

func instantOrNever(t time.Time) line.Instant {
	if t.IsZero() {
		return line.Never
	}
	return line.InstantOf(t)
}

func (r *importRun) zone() *time.Location { return r.rules.policy.Zone() }

// seqAllocator returns sequence numbers of events, which it reserves in blocks.
// Without a transaction nothing will be written, and the numbers need only be
// greater than all stored ones.
type seqAllocator struct {
	tx    pg.Tx
	free  []int64
	trial int64
}

func (s *seqAllocator) next(ctx context.Context) (seq int64, err error) {
	const block = 1000
	if s.tx == nil {
		s.trial++
		return 1<<62 + s.trial, nil
	}
	if len(s.free) == 0 {
		if s.free, err = linestore.ReserveSeqs(ctx, s.tx, block); err != nil {
			return 0, err
		}
	}
	seq, s.free = s.free[0], s.free[1:]
	return seq, nil
}

func compareNumbers(a, b phone.Number) int { return cmp.Compare(a.Int(), b.Int()) }

// numberSpan returns the lowest and the highest number of rows.
func numberSpan(rows []*linefile.Row) (low, high phone.Number) {
	low, high = rows[0].Number, rows[0].Number
	for _, r := range rows {
		if r.Number.Int() < low.Int() {
			low = r.Number
		}
		if r.Number.Int() > high.Int() {
			high = r.Number
		}
	}
	return low, high
}

func numbersOf(rows []*linefile.Row) []phone.Number {
	numbers := make([]phone.Number, len(rows))
	for i, r := range rows {
		numbers[i] = r.Number
	}
	return numbers
}
