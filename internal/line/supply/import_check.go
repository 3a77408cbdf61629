package supply

import (
	"context"
	"errors"
	"fmt"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// check reads the whole file before any of it is applied, so that a file which
// is cut off, or which would change too much, changes nothing. On the way it
// counts what the file would do, and stores the rows that are refused.
func (r *importRun) check(ctx context.Context) error {
	closeFile, err := r.openFile(ctx)
	if err != nil {
		return err
	}
	defer closeFile()
	r.im.Rows, r.im.Counts, r.examples = 0, Counts{}, filerows.NewExamples(r.zone())
	var refused []linefile.Refusal
	var digest [32]byte
	var confirmed int64 // running tenures of the network whose numbers are in the file
	err = r.eachChunk(ctx, func(c *chunk) error {
		digest = c.digest
		if err := r.checkRows(c); err != nil {
			return err
		}
		r.im.Rows += int64(len(c.rows) + len(c.refused))
		// A malformed row still shows that its number is in use, so the number counts
		// as present. (Some of these numbers may have no tenure.)
		confirmed += int64(len(c.refusedNumbers))
		found := c.refused
		switch {
		case r.im.hasLines():
			running, more, err := r.compareChunk(ctx, c)
			if err != nil {
				return err
			}
			confirmed += running
			found = append(found, more...)
		case r.im.DryRun, alwaysHeld(r.im.Authority, r.im.Kind): // whoever decides sees how many rows count
			more, err := r.tryEvents(ctx, c)
			if err != nil {
				return err
			}
			found = append(found, more...)
		}
		r.im.Counts.Refused += int64(len(found))
		if free := filerows.MaxRejected - len(refused); free > 0 {
			refused = append(refused, found[:min(free, len(found))]...)
		}
		return r.reportProgress(ctx, false)
	})
	// If the file turned out to be cut off, the rows refused before that are stored, too.
	if ctx.Err() == nil {
		err = errors.Join(err, filerows.SaveRejected(ctx, r.service.Pool, r.im.id, refused))
	}
	if err != nil {
		return err
	}
	switch {
	case r.im.hasLines() && r.im.DryRun:
		if err := r.eachMissing(ctx, r.countMissing); err != nil {
			return err
		}
	case r.im.hasLines():
		// An estimate that needs no search for the missing numbers.
		r.im.Counts.Ended += max(r.runningLines-confirmed, 0)
	}
	return r.decide(ctx, digest[:])
}

// tryEvents applies the events of a chunk and rolls them back, to count what
// they would do.
func (r *importRun) tryEvents(ctx context.Context, c *chunk) (refused []linefile.Refusal, err error) {
	errRollback := errors.New("supply: roll back a trial")
	var counts Counts
	err = r.service.inLongTx(ctx, func(tx pg.Tx) error {
		counts = Counts{}
		if refused, err = r.applyEventRows(ctx, tx, c, &counts); err != nil {
			return err
		}
		return errRollback
	})
	if !errors.Is(err, errRollback) {
		return nil, err
	}
	r.im.Counts.add(counts)
	return refused, nil
}

// decide sets the state of an import whose file has been checked: checked after
// a dry run, held if staff must confirm a snapshot, or applying.
func (r *importRun) decide(ctx context.Context, digest []byte) error {
	hold := ""
	if r.im.Kind == linefile.Snapshot {
		err := r.service.checkNewer(ctx, r.service.Pool, r.im.sender(), ImportForm{Kind: r.im.Kind, AsOf: r.im.AsOf})
		if err != nil {
			return err
		}
	}
	c := &r.im.Counts
	switch {
	case r.im.hasLines():
		hold = r.holdReason()
	case r.im.IsBase():
		hold = fmt.Sprintf("It is the clearing house's base of ports, of %d rows, %d of which would be rejected. From then on every other port of the past counts as late.", r.im.Rows, c.Refused)
	case alwaysHeld(r.im.Authority, r.im.Kind):
		hold = fmt.Sprintf("It has %d orders of the regulator, %d of which would be rejected. Orders take two people.", r.im.Rows, c.Refused)
	}
	switch {
	case r.im.DryRun:
		return r.setState(ctx, Checked, hold, digest)
	case hold != "":
		if err := r.saveExamples(ctx); err != nil {
			return err
		}
		return r.setState(ctx, Held, hold, digest)
	}
	r.im.Rows, r.im.Counts = 0, Counts{} // from here on they count what is applied
	return r.setState(ctx, Applying, "", digest)
}

// holdReason returns why staff must confirm a snapshot before it is applied, or
// nothing. It protects the lines from a file that is incomplete or has rows twice.
func (r *importRun) holdReason() string {
	c, percent := &r.im.Counts, int64(r.rules.policy.HoldPercent)
	if c.Added+c.Changed+c.Unchanged+r.runningLines == 0 {
		return "It has no line of this network: all of the network's numbers would be unassigned."
	}
	if wrong := c.Refused - c.PortedOut; wrong*100 > percent*r.im.Rows {
		return fmt.Sprintf("%d of its %d rows are rejected or repeated, more than %d percent.", wrong, r.im.Rows, percent)
	}
	changes := c.Changed + c.Ended
	if !r.lastSnapshot.IsZero() {
		changes += c.Added // the first file of a network adds its lines, although ports to it may be known
	}
	if r.runningLines > 0 && changes*100 > percent*r.runningLines {
		return fmt.Sprintf("It would add %d lines, change %d and end %d of %d, more than %d percent.",
			c.Added, c.Changed, c.Ended, r.runningLines, percent)
	}
	return ""
}

// compareChunk counts what a chunk of a snapshot would do. It returns how many
// running tenures of the network the chunk confirms, and the rows that would be
// refused.
func (r *importRun) compareChunk(ctx context.Context, c *chunk) (confirmed int64, refused []linefile.Refusal, err error) {
	first := r.dropRepeated(c, &refused)
	r.im.Counts.Duplicates += int64(len(refused))
	if len(first) == 0 {
		return 0, refused, nil
	}
	stored := map[phone.Number]line.Row{}
	low, high := numberSpan(first)
	if some, err := linestore.AnyBetween(ctx, r.service.Pool, low, high); err != nil {
		return 0, nil, err
	} else if some {
		if stored, err = linestore.Rows(ctx, r.service.Pool, numbersOf(first)); err != nil {
			return 0, nil, err
		}
	}
	// For most rows of the file, the stored row is enough to compare with. If the
	// stored row has events after asOf, or differs, the number's events are needed.
	var needEvents []*linefile.Row
	for _, from := range first {
		row, ok := stored[from.Number]
		if ok && row.State.Ongoing() && row.Network == r.im.Network {
			confirmed++
		}
		if !ok {
			row = line.NoRow()
		}
		row = row.AsOf(line.InstantOf(r.im.AsOf)) // a churn date may have come
		base, refusal := r.authoriseRow(from, row)
		differs := refusal.Reason == "" && (!linechange.Matches(&row, &base) || row.DoubtAt != line.Never)
		switch {
		case refusal.Reason == portUnknown, ok && (row.Newest > line.InstantOf(r.im.AsOf) || differs):
			needEvents = append(needEvents, from)
		case refusal.Reason != "":
			if refusal.Reason == portedOut {
				r.im.Counts.PortedOut++
			}
			refused = append(refused, from.Refuse(refusal.Field, refusal.Reason))
		case ok:
			r.im.Counts.Unchanged++
		default:
			r.im.Counts.Added++
			if r.examples.Wants(filerows.Added) {
				after := line.FromBaseline(&base)
				r.examples.Add(filerows.Added, from.Number, &row, &after)
			}
		}
	}
	more, err := r.tryRows(ctx, needEvents)
	return confirmed, append(refused, more...), err
}

// tryRows applies rows of a snapshot in memory, without saving them, and counts
// the result. It returns the rows that would be refused.
func (r *importRun) tryRows(ctx context.Context, rows []*linefile.Row) (refused []linefile.Refusal, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	cs, err := r.service.load(ctx, r.service.Pool, r.rules, numbersOf(rows), false)
	if err != nil {
		return nil, err
	}
	cs.seqs = &seqAllocator{}
	for _, from := range rows {
		refusal, err := r.tryRow(ctx, cs, from)
		if err != nil {
			return nil, err
		}
		if refusal.Reason != "" {
			refused = append(refused, from.Refuse(refusal.Field, refusal.Reason))
		}
	}
	return refused, nil
}

// tryRow is applyRow for a row of which nothing is saved but an example.
func (r *importRun) tryRow(ctx context.Context, cs *changeSet, from *linefile.Row) (linefile.Refusal, error) {
	c := cs.byNumber[from.Number]
	if !r.examples.Wants(filerows.Changed) { // so it is for nearly all rows of a large file
		return r.applyRow(ctx, cs, c, from, &r.im.Counts)
	}
	asOf, changed := line.InstantOf(r.im.AsOf), r.im.Counts.Changed
	before := c.RowAt(asOf)
	refusal, err := r.applyRow(ctx, cs, c, from, &r.im.Counts)
	if err == nil && r.im.Counts.Changed > changed {
		after := c.RowAt(asOf)
		r.examples.Add(filerows.Changed, from.Number, &before, &after)
	}
	return refusal, err
}

// dropRepeated returns the rows whose number has not occurred in the file before,
// and refuses the others.
func (r *importRun) dropRepeated(c *chunk, refused *[]linefile.Refusal) []*linefile.Row {
	first := make([]*linefile.Row, 0, len(c.rows))
	for i := range c.rows {
		if !r.seen.Add(c.rows[i].Number) {
			*refused = append(*refused, c.rows[i].Refuse("number", "DUPLICATE"))
			continue
		}
		first = append(first, &c.rows[i])
	}
	return first
}
