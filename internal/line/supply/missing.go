package supply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// eachMissing calls visit with the numbers that have a running tenure with the
// network but do not occur in the snapshot, up to chunkSize at a time, and with the
// cursor to save. It searches the network's ranges in order, and then all numbers for
// those that were ported to the network. The cursor is the last number of the first
// search, or that of the second with a minus sign.
func (r *importRun) eachMissing(ctx context.Context, visit func(ctx context.Context, missing []phone.Number, cursor int64) error) error {
	start := r.im.cursor
	if start >= 0 {
		for _, i := range intervals(r.rules.plan, r.im.Network) {
			if start > i.high {
				continue
			}
			if err := r.searchMissing(ctx, max(start, i.low-1), i.high, false, visit); err != nil {
				return err
			}
		}
		start = 0
	}
	return r.searchMissing(ctx, -start, 1<<62-1, true, visit)
}

// searchMissing is eachMissing for the numbers after one and up to another.
func (r *importRun) searchMissing(
	ctx context.Context, after, high int64, ported bool, visit func(ctx context.Context, missing []phone.Number, cursor int64) error,
) error {
	for more := true; more; {
		err := r.src.turns.Do(ctx, 0, func() (err error) {
			after, more, err = r.searchNext(ctx, after, high, ported, visit)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// searchNext is one step of searchMissing. It returns the last number that it has
// searched, and whether there may be more.
func (r *importRun) searchNext(
	ctx context.Context, after, high int64, ported bool, visit func(ctx context.Context, missing []phone.Number, cursor int64) error,
) (last int64, more bool, err error) {
	numbers, err := r.runningNumbers(ctx, after, high, ported)
	if err != nil || len(numbers) == 0 {
		return after, false, err
	}
	last = numbers[len(numbers)-1].Int()
	numbers = slices.DeleteFunc(numbers, func(n phone.Number) bool { return r.seen.Has(n) || r.unreadable.Has(n) })
	if len(numbers) == 0 {
		return last, true, nil // the next visit saves the cursor
	}
	cursor := last
	if ported {
		cursor = -last
	}
	if err := visit(ctx, numbers, cursor); err != nil {
		return last, false, err
	}
	return last, true, r.reportProgress(ctx, false)
}

// runningNumbers returns the next numbers, after one and up to another, that have a
// running tenure with the network.
func (r *importRun) runningNumbers(ctx context.Context, after, high int64, ported bool) ([]phone.Number, error) {
	statement := `SELECT number FROM line_now WHERE number > $1 AND number <= $2 AND network = $3 AND state BETWEEN 1 AND 4 ORDER BY number LIMIT $4`
	if ported {
		statement = `SELECT number FROM line_now WHERE number > $1 AND number <= $2 AND network = $3 AND state BETWEEN 1 AND 4
			AND port_at IS NOT NULL ORDER BY number LIMIT $4`
	}
	keys, err := pg.Collect(ctx, r.service.Pool, pgx.RowTo[int64], statement, after, high, r.im.Network, r.chunkSize())
	if err != nil {
		return nil, fmt.Errorf("supply: find missing numbers: %w", err)
	}
	numbers := make([]phone.Number, len(keys))
	for i, k := range keys {
		numbers[i], _ = phone.FromInt(k)
	}
	return numbers, nil
}

// countMissing counts what the snapshot would do about missing numbers. It is the
// visit of a dry run.
func (r *importRun) countMissing(ctx context.Context, missing []phone.Number, _ int64) error {
	cs, err := r.service.load(ctx, r.service.Pool, r.rules, missing, false)
	if err != nil {
		return err
	}
	cs.seqs = &seqAllocator{}
	for _, c := range cs.ordered {
		if err := r.applyMissing(ctx, cs, c, &r.im.Counts); err != nil {
			return err
		}
		r.seen.Add(c.Number) // so that the round of ported numbers does not count it again
	}
	return nil
}

// endMissing ends the tenures of numbers that the snapshot does not have, and saves
// the import's progress, in one transaction.
func (r *importRun) endMissing(ctx context.Context, missing []phone.Number, cursor int64) error {
	var counts Counts
	err := r.service.inLongTx(ctx, func(tx pg.Tx) error {
		counts = Counts{}
		rules := r.rules
		rules.now = r.service.now()
		cs, err := r.service.load(ctx, tx, rules, missing, true)
		if err != nil {
			return err
		}
		cs.seqs = &seqAllocator{tx: tx}
		for _, c := range cs.ordered {
			if err := r.applyMissing(ctx, cs, c, &counts); err != nil {
				return err
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

// applyMissing applies that the snapshot does not have a number whose tenure ran with
// the network at its time. It does nothing if the tenure began, was ported in or was
// reported about later, or if its announced churn date has come.
func (r *importRun) applyMissing(ctx context.Context, cs *changeSet, c *linechange.Change, counts *Counts) error {
	asOf := line.InstantOf(r.im.AsOf)
	then := c.RowAt(asOf)
	if !then.State.Ongoing() || then.Network != r.im.Network || c.ReportedAfter(asOf) {
		return nil
	}
	e := line.Event{
		Kind: line.End, Effective: asOf, EndedAfter: instantOrNever(r.lastSnapshot), Authority: line.Operator, Network: r.im.Network,
		Code: line.ReasonInferred, Until: line.Never, Supplier: r.im.supplier, Import: r.im.id, ReportedAt: cs.now,
	}
	e.EndedAfter = max(e.EndedAfter, then.StateSince, then.SIM, then.PortAt) // the last time at which it was running
	var err error
	if e.Seq, err = cs.seqs.next(ctx); err != nil {
		return err
	}
	stays := func() bool { now := c.RowAt(asOf); return now.State.Ongoing() && now.Network == r.im.Network }
	// Where another network has claimed the number, its absence is the release.
	claim, claimed := c.LoneHalf(line.ClaimPort, 0)
	if claimed = claimed && claim.Network != r.im.Network && claim.Effective <= asOf; claimed {
		release := e
		release.Kind, release.Peer, release.Code = line.ReleasePort, claim.Network, 0
		release.Effective, release.EndedAfter = max(claim.Effective, min(e.EndedAfter+1, asOf)), line.Never
		c.Add(release)
		if err := c.SettleHalves(cs.comparisonRules(ctx)); err != nil {
			return err
		}
		if claimed = !stays(); !claimed {
			c.RemoveLast() // the claim is of another port, long ago
		}
	}
	if !claimed {
		if c.Add(e); stays() {
			c.RemoveLast() // the tenure began in the very second of the snapshot
			return nil
		}
	}
	counts.Ended++
	cs.counts.countEvent(&e, then)
	return nil
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
