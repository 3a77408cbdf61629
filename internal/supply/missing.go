package supply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

func compareInts(a, b int64) int { return cmp.Compare(a, b) }

func prefixValue(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64) // the plan holds digits only
	return n
}

// missing visits the numbers whose tenure runs with the network and that the
// snapshot does not have, many at a time.
func (r *runner) missing(ctx context.Context, visit func(ctx context.Context, gone []phone.Number, cursor int64, ported bool) error) error {
	cursor := max(r.im.cursor, 0)
	for _, i := range append(intervals(r.rules.plan, r.im.Network), interval{0, 1<<62 - 1}) {
		// The last round is for numbers that came to the network by a port.
		ported := i.low == 0
		if ported && cursor >= 0 {
			cursor = -1
		}
		if !ported && cursor > i.high {
			continue
		}
		for from := max(cursor, i.low-1); ; {
			numbers, err := r.with(ctx, from, i.high, ported)
			if err != nil {
				return err
			}
			if len(numbers) == 0 {
				break
			}
			from = numbers[len(numbers)-1].Int()
			numbers = slices.DeleteFunc(numbers, func(n phone.Number) bool { return r.seen.has(n) || r.spoilt.has(n) })
			if len(numbers) == 0 {
				continue // the cursor moves with the next that is gone
			}
			if err := visit(ctx, numbers, from, ported); err != nil {
				return err
			}
			if err := r.progress(ctx, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// with returns the next numbers whose tenure runs with the network.
func (r *runner) with(ctx context.Context, after, high int64, ported bool) ([]phone.Number, error) {
	statement := `SELECT number FROM line_now WHERE number > $1 AND number <= $2 AND network = $3 AND state BETWEEN 1 AND 4 ORDER BY number LIMIT $4`
	if ported {
		statement = `SELECT number FROM line_now WHERE number > $1 AND number <= $2 AND network = $3 AND state BETWEEN 1 AND 4
			AND port_at IS NOT NULL ORDER BY number LIMIT $4`
	}
	rows, err := r.desk.Pool.Query(ctx, statement, after, high, r.im.Network, r.chunk())
	if err != nil {
		return nil, fmt.Errorf("supply: look for missing numbers: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("supply: look for missing numbers: %w", err)
	}
	numbers := make([]phone.Number, len(keys))
	for i, k := range keys {
		numbers[i], _ = phone.FromInt(k)
	}
	return numbers, nil
}

// count counts the tenures that the snapshot would end.
func (r *runner) count(ctx context.Context, gone []phone.Number, _ int64, _ bool) error {
	sheet, err := r.desk.lay(ctx, r.desk.Pool, r.rules, gone, false)
	if err != nil {
		return err
	}
	for _, w := range sheet.order {
		ended, err := r.leave(ctx, sheet, w, &seqs{})
		if err != nil {
			return err
		}
		if ended {
			r.im.Counts.Ended++
			r.seen.add(w.number) // the round of ported numbers may come by again
		}
	}
	return nil
}

// end ends the tenures of numbers that the file did not have.
func (r *runner) end(ctx context.Context, gone []phone.Number, cursor int64, ported bool) error {
	if ported {
		cursor = r.im.cursor // a number is ended once: it no longer runs
	}
	var counts Counts
	err := r.desk.inLongTx(ctx, func(tx pg.Tx) error {
		counts = Counts{}
		rules := r.rules
		rules.now = r.desk.now()
		sheet, err := r.desk.lay(ctx, tx, rules, gone, true)
		if err != nil {
			return err
		}
		seqs := &seqs{tx: tx}
		for _, w := range sheet.order {
			ended, err := r.leave(ctx, sheet, w, seqs)
			if err != nil {
				return err
			}
			if ended {
				counts.Ended++
			}
		}
		if err := sheet.save(ctx, tx); err != nil {
			return err
		}
		if err := sheet.tally.save(ctx, tx); err != nil {
			return err
		}
		return r.advance(ctx, tx, phaseMissing, r.im.place, cursor, r.im.digest, 0, counts)
	})
	if err != nil {
		return err
	}
	r.im.cursor = cursor
	r.im.Counts.add(counts)
	return nil
}

// leave ends the tenure of a number that the snapshot no longer has: some time
// after the snapshot before, and not later than this one. It reports false where
// what was told says otherwise.
func (r *runner) leave(ctx context.Context, s *sheet, w *work, seqs *seqs) (ended bool, err error) {
	asOf := line.InstantOf(r.im.AsOf)
	then := w.at(asOf)
	if !running(&then) || then.Network != r.im.Network || w.wentOn(asOf) {
		return false, nil // it began, or came, or was spoken of after the snapshot
	}
	e := line.Event{
		Kind: line.End, Effective: asOf, After: line.InstantOf(r.last), By: line.Operator, Network: r.im.Network, Code: line.ReasonInferred,
		Until: line.Never, Supplier: r.im.supplier, Import: r.im.id, Told: s.now,
	}
	if r.last.IsZero() {
		e.After = max(then.StateSince, then.SIM, then.PortAt) // it was still there
	}
	if e.Seq, err = seqs.next(ctx); err != nil {
		return false, err
	}
	w.add(e)
	if now := w.at(asOf); running(&now) {
		w.drop() // it began in the very second of the snapshot
		return false, nil
	}
	s.tally.count(&e, then)
	return true, nil
}

// wentOn reports whether the operator spoke of the tenure after an instant. What
// is newer than a snapshot prevails.
func (w *work) wentOn(after line.Instant) bool {
	if w.row.Newest <= after {
		return false
	}
	h := w.history()
	_, outcomes := line.Fold(h.Base, h.Events, line.Forever)
	next := line.Forever // when another tenure begins
	for i, e := range h.Events {
		if e.Kind == line.Assign && e.Effective > after && outcomes[i] == line.Applied {
			next = min(next, e.Effective)
		}
	}
	for i, e := range h.Events {
		spoken := e.By == line.Operator && e.Kind != line.Assign && e.Kind != line.Void && outcomes[i] == line.Applied
		if spoken && e.Effective > after && (e.Effective < next || e.Kind == line.End && e.Effective == next) {
			return true
		}
	}
	return false
}
