package supply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// eachMissing calls visit with the numbers that have a running tenure with the
// network but do not occur in the snapshot, up to chunkSize at a time. It
// searches the network's ranges in order, starting after the import's cursor,
// and then all numbers for those that were ported to the network.
func (r *importRun) eachMissing(ctx context.Context, visit func(ctx context.Context, missing []phone.Number, cursor int64, ported bool) error) error {
	cursor := max(r.im.cursor, 0)
	for _, i := range append(intervals(r.rules.plan, r.im.Network), interval{0, 1<<62 - 1}) {
		ported := i.low == 0 // the last round
		if ported && cursor >= 0 {
			cursor = -1
		}
		if !ported && cursor > i.high {
			continue
		}
		for from := max(cursor, i.low-1); ; {
			numbers, err := r.runningNumbers(ctx, from, i.high, ported)
			if err != nil {
				return err
			}
			if len(numbers) == 0 {
				break
			}
			from = numbers[len(numbers)-1].Int()
			numbers = slices.DeleteFunc(numbers, func(n phone.Number) bool { return r.seen.has(n) || r.unreadable.has(n) })
			if len(numbers) == 0 {
				continue // the next visit saves the cursor
			}
			if err := visit(ctx, numbers, from, ported); err != nil {
				return err
			}
			if err := r.reportProgress(ctx, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// runningNumbers returns the next numbers, after one and up to another, that have a
// running tenure with the network.
func (r *importRun) runningNumbers(ctx context.Context, after, high int64, ported bool) ([]phone.Number, error) {
	statement := `SELECT number FROM line_now WHERE number > $1 AND number <= $2 AND network = $3 AND state BETWEEN 1 AND 4 ORDER BY number LIMIT $4`
	if ported {
		statement = `SELECT number FROM line_now WHERE number > $1 AND number <= $2 AND network = $3 AND state BETWEEN 1 AND 4
			AND port_at IS NOT NULL ORDER BY number LIMIT $4`
	}
	rows, err := r.service.Pool.Query(ctx, statement, after, high, r.im.Network, r.chunkSize())
	if err != nil {
		return nil, fmt.Errorf("supply: find missing numbers: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("supply: find missing numbers: %w", err)
	}
	numbers := make([]phone.Number, len(keys))
	for i, k := range keys {
		numbers[i], _ = phone.FromInt(k)
	}
	return numbers, nil
}

// countMissing counts the tenures that the snapshot would end. It is the visit of a
// dry run.
func (r *importRun) countMissing(ctx context.Context, missing []phone.Number, _ int64, _ bool) error {
	cs, err := r.service.load(ctx, r.service.Pool, r.rules, missing, false)
	if err != nil {
		return err
	}
	for _, c := range cs.ordered {
		ended, err := r.endTenure(ctx, cs, c, &seqAllocator{})
		if err != nil {
			return err
		}
		if ended {
			r.im.Counts.Ended++
			r.seen.add(c.number) // so that the round of ported numbers does not count it again
		}
	}
	return nil
}

// endMissing ends the tenures of numbers that the snapshot does not have, and saves
// the import's progress, in one transaction.
func (r *importRun) endMissing(ctx context.Context, missing []phone.Number, cursor int64, ported bool) error {
	if ported {
		cursor = r.im.cursor // not needed: an ended tenure is not found again
	}
	var counts Counts
	err := r.service.inLongTx(ctx, func(tx pg.Tx) error {
		counts = Counts{}
		rules := r.rules
		rules.now = r.service.now()
		cs, err := r.service.load(ctx, tx, rules, missing, true)
		if err != nil {
			return err
		}
		seqs := &seqAllocator{tx: tx}
		for _, c := range cs.ordered {
			ended, err := r.endTenure(ctx, cs, c, seqs)
			if err != nil {
				return err
			}
			if ended {
				counts.Ended++
			}
		}
		if err := cs.save(ctx, tx); err != nil {
			return err
		}
		if err := cs.counts.save(ctx, tx); err != nil {
			return err
		}
		return r.saveProgress(ctx, tx, phaseMissing, r.im.place, cursor, r.im.digest, 0, counts)
	})
	if err != nil {
		return err
	}
	r.im.cursor = cursor
	r.im.Counts.add(counts)
	return nil
}

// endTenure ends the tenure of a number that the snapshot does not have: at some
// time after the previous snapshot, and not later than this one. It adds no event
// and returns false if stored events contradict that.
func (r *importRun) endTenure(ctx context.Context, cs *changeSet, c *change, seqs *seqAllocator) (ended bool, err error) {
	asOf := line.InstantOf(r.im.AsOf)
	then := c.rowAt(asOf)
	if !isRunning(&then) || then.Network != r.im.Network || c.reportedAfter(asOf) {
		return false, nil // the tenure began, or was ported in, or was reported on after the snapshot
	}
	e := line.Event{
		Kind: line.End, Effective: asOf, EndedAfter: line.InstantOf(r.lastSnapshot), Authority: line.Operator, Network: r.im.Network, Code: line.ReasonInferred,
		Until: line.Never, Supplier: r.im.supplier, Import: r.im.id, ReportedAt: cs.now,
	}
	if r.lastSnapshot.IsZero() {
		e.EndedAfter = max(then.StateSince, then.SIM, then.PortAt) // the last time at which it was running
	}
	if e.Seq, err = seqs.next(ctx); err != nil {
		return false, err
	}
	c.addEvent(e)
	if now := c.rowAt(asOf); isRunning(&now) {
		c.removeLast() // the tenure began in the very second of the snapshot
		return false, nil
	}
	cs.counts.countEvent(&e, then)
	return true, nil
}

// reportedAfter reports whether an operator's event about the tenure took effect
// after an instant. Such an event prevails over an older snapshot.
func (c *change) reportedAfter(after line.Instant) bool {
	if c.row.Newest <= after {
		return false
	}
	h := c.history()
	_, outcomes := line.Fold(h.Base, h.Events, line.Forever)
	next := line.Forever // when the next tenure begins
	for i, e := range h.Events {
		if e.Kind == line.Assign && e.Effective > after && outcomes[i] == line.Applied {
			next = min(next, e.Effective)
		}
	}
	for i, e := range h.Events {
		aboutTenure := e.Authority == line.Operator && e.Kind != line.Assign && e.Kind != line.Void && outcomes[i] == line.Applied
		if aboutTenure && e.Effective > after && (e.Effective < next || e.Kind == line.End && e.Effective == next) {
			return true
		}
	}
	return false
}

// interval is a range of numbers, both ends included.
type interval struct{ low, high int64 }

// intervals returns the ranges of the network as intervals, in order.
func intervals(plan *numbering.Plan, n numbering.Network) []interval {
	var all []interval
	for _, r := range plan.Ranges() {
		if r.Network != n {
			continue
		}
		low, _ := strconv.ParseInt(r.Prefix, 10, 64) // a prefix has only digits
		high := low + 1
		for range plan.Digits - len(r.Prefix) {
			low, high = low*10, high*10
		}
		all = append(all, interval{low, high - 1})
	}
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.low, b.low) })
	return all
}
