package supply

import (
	"context"
	"errors"
	"fmt"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// maxRefused is how many refused rows of an import are kept one by one; all are
// counted.
const maxRefused = 100_000

// check reads the whole file before any of it is applied: a file that breaks
// off, or that would change too much, changes nothing. What it would do is
// counted on the way.
func (r *runner) check(ctx context.Context) error {
	closeFile, err := r.open()
	if err != nil {
		return err
	}
	defer closeFile()
	r.im.Rows, r.im.Counts = 0, Counts{}
	var refusals []linefile.Refusal
	var digest [32]byte
	var kept int64 // running tenures that the file confirms
	err = r.each(ctx, func(c *chunk) error {
		digest = c.digest
		r.im.Rows += int64(len(c.rows) + len(c.refused))
		kept += int64(len(c.named)) // they do not end, as far as they are lines at all
		found := c.refused
		switch {
		case r.im.Kind == linefile.Snapshot:
			same, more, err := r.compare(ctx, c)
			if err != nil {
				return err
			}
			kept += same
			found = append(found, more...)
		case r.im.DryRun:
			more, err := r.try(ctx, c)
			if err != nil {
				return err
			}
			found = append(found, more...)
		}
		r.im.Counts.Refused += int64(len(found))
		if room := maxRefused - len(refusals); room > 0 {
			refusals = append(refusals, found[:min(room, len(found))]...)
		}
		return r.progress(ctx, false)
	})
	// What was wrong before a file broke off is reported, too.
	if ctx.Err() == nil {
		err = errors.Join(err, r.desk.keepRefused(ctx, r.desk.Pool, r.im.id, refusals))
	}
	if err != nil {
		return err
	}
	switch {
	case r.im.Kind == linefile.Snapshot && r.im.DryRun:
		if err := r.missing(ctx, r.count); err != nil {
			return err
		}
	case r.im.Kind == linefile.Snapshot:
		r.im.Counts.Ended += max(r.lines-kept, 0) // no fewer than will end, and at once
	}
	return r.judge(ctx, digest[:])
}

// try tells the events of a chunk and takes them back, to count what would
// become of them.
func (r *runner) try(ctx context.Context, c *chunk) (refused []linefile.Refusal, err error) {
	errBack := errors.New("supply: only a trial")
	var counts Counts
	err = r.desk.inLongTx(ctx, func(tx pg.Tx) error {
		counts = Counts{}
		if refused, _, err = r.applyEvents(ctx, tx, c, &counts); err != nil {
			return err
		}
		return errBack
	})
	if !errors.Is(err, errBack) {
		return nil, err
	}
	r.im.Counts.add(counts)
	return refused, nil
}

// judge decides what becomes of a file that has been read.
func (r *runner) judge(ctx context.Context, digest []byte) error {
	if r.im.Kind == linefile.Snapshot {
		if err := r.desk.fresh(ctx, r.desk.Pool, r.im.Network, ImportForm{Kind: r.im.Kind, AsOf: r.im.AsOf}); err != nil {
			return err
		}
		why, err := r.suspicious(ctx, digest)
		if err != nil {
			return err
		}
		if why != "" && !r.im.DryRun {
			return r.settle(ctx, Held, why, digest)
		}
		if r.im.DryRun {
			return r.settle(ctx, Checked, why, digest)
		}
	}
	if r.im.DryRun {
		return r.settle(ctx, Checked, "", digest)
	}
	r.im.Rows, r.im.Counts = 0, Counts{}
	return r.settle(ctx, Applying, "", digest)
}

// suspicious says why staff must look at a snapshot before it becomes truth: a
// halved, doubled or repeated file must not.
func (r *runner) suspicious(ctx context.Context, digest []byte) (string, error) {
	var again bool
	err := r.desk.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM supply_import WHERE network = $1 AND kind = 'snapshot' AND state = 'applied' AND file_digest = $2)`,
		r.im.Network, digest).Scan(&again)
	if err != nil {
		return "", fmt.Errorf("supply: look for the same file: %w", err)
	}
	if again {
		return "The same file was applied before, as of another time.", nil
	}
	c, limit := &r.im.Counts, int64(r.rules.policy.HoldPercent)
	if c.Added+c.Changed+c.Unchanged+r.lines == 0 {
		return "It has no line of this network: all of its numbers would be unassigned.", nil
	}
	if wrong := c.Refused - c.PortedOut; wrong*100 > limit*r.im.Rows {
		return fmt.Sprintf("%d of its %d rows are refused or stand twice, more than %d percent.", wrong, r.im.Rows, limit), nil
	}
	if changes := c.Added + c.Changed + c.Ended; r.lines > 0 && changes*100 > limit*r.lines {
		return fmt.Sprintf("It would add %d lines, change %d and end %d of %d, more than %d percent.", c.Added, c.Changed, c.Ended, r.lines, limit), nil
	}
	return "", nil
}

// compare counts what a chunk of a snapshot would do, and returns how many
// running tenures it confirms and the rows that it would refuse.
func (r *runner) compare(ctx context.Context, c *chunk) (kept int64, refused []linefile.Refusal, err error) {
	fresh := r.sift(c, &refused)
	r.im.Counts.Duplicates += int64(len(refused))
	if len(fresh) == 0 {
		return 0, refused, nil
	}
	rows := map[phone.Number]line.Row{}
	low, high := span(fresh)
	if some, err := line.Between(ctx, r.desk.Pool, low, high); err != nil {
		return 0, nil, err
	} else if some {
		if rows, err = line.Rows(ctx, r.desk.Pool, numbersOf(fresh)); err != nil {
			return 0, nil, err
		}
	}
	var closer []*linefile.Row // those of which the row alone does not tell what would become
	for _, s := range fresh {
		row, known := rows[s.Number]
		if known && running(&row) && row.Network == r.im.Network {
			kept++
		}
		base, refusal := r.read(s, row, known)
		switch {
		case known && (row.Newest > line.InstantOf(r.im.AsOf) || refusal.Reason == "" && !says(&row, &base)):
			closer = append(closer, s)
		case refusal.Reason != "":
			refused = append(refused, refusal)
		case known:
			r.im.Counts.Unchanged++
		default:
			r.im.Counts.Added++
		}
	}
	more, err := r.lookCloser(ctx, closer)
	refused = append(refused, more...)
	for i := range refused {
		if refused[i].Reason == portedOut {
			r.im.Counts.PortedOut++
		}
	}
	return kept, refused, err
}

// lookCloser tries what applying would make of rows, and returns those that it
// would refuse.
func (r *runner) lookCloser(ctx context.Context, rows []*linefile.Row) (refused []linefile.Refusal, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	sheet, err := r.desk.lay(ctx, r.desk.Pool, r.rules, numbersOf(rows), false)
	if err != nil {
		return nil, err
	}
	for _, s := range rows {
		w := sheet.by[s.Number]
		row := w.at(line.InstantOf(r.im.AsOf))
		base, refusal := r.read(s, row, true)
		if refusal.Reason != "" {
			refused = append(refused, refusal)
			continue
		}
		if says(&row, &base) {
			r.im.Counts.Unchanged++
			continue
		}
		ok, err := r.rewrite(ctx, sheet, w, row, &base, &seqs{})
		if err != nil {
			return nil, err
		}
		if ok {
			r.im.Counts.Changed++
		} else {
			refused = append(refused, contradicts(s))
		}
	}
	return refused, nil
}

// sift returns the rows whose number stands in the file for the first time.
func (r *runner) sift(c *chunk, refused *[]linefile.Refusal) []*linefile.Row {
	fresh := make([]*linefile.Row, 0, len(c.rows))
	for i := range c.rows {
		if !r.seen.add(c.rows[i].Number) {
			*refused = append(*refused, linefile.Refusal{Place: c.rows[i].Place, Field: "number", Reason: "DUPLICATE"})
			continue
		}
		fresh = append(fresh, &c.rows[i])
	}
	return fresh
}

// portedOut is why a row is refused that is not wrong, only late.
const portedOut = "PORTED_OUT"

// read returns what a row of a snapshot says, or why it is not the operator's to
// say.
func (r *runner) read(s *linefile.Row, row line.Row, known bool) (base line.Baseline, refusal linefile.Refusal) {
	held, allocated := r.rules.plan.Holder(s.Number, r.im.AsOf)
	if !known {
		row = line.NoRow()
	}
	refusal = linefile.Refusal{Place: s.Place, Field: "number"}
	holder := holderOf(&row, held.Network)
	switch {
	case holder == r.im.Network && (allocated || row.State != line.StateNone):
		base, refusal = s.Snap, linefile.Refusal{}
		base.Import, base.Network = r.im.id, r.im.Network
		if held.Network != r.im.Network {
			// It came by a port, and its tenure goes on: only the holder of the range
			// can say that another one began.
			base.Tenure = row.Tenure
		}
	case running(&row) && row.PortAt != line.Never && held.Network == r.im.Network:
		refusal.Reason = portedOut
	case !allocated:
		refusal.Reason = "NOT_ALLOCATED"
	default:
		refusal.Reason = "NOT_YOURS"
	}
	return base, refusal
}

// contradicts refuses a row beside which events stand that say otherwise.
func contradicts(s *linefile.Row) linefile.Refusal {
	return linefile.Refusal{Place: s.Place, Field: "tenureStart", Reason: "CONTRADICTS"}
}

func span(rows []*linefile.Row) (low, high phone.Number) {
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

var errOtherFile = fault.New(fault.Aborted, "This is not the file with which the import began. Continue with that file, or cancel the import.")
