package supply

import (
	"cmp"
	"context"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
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
	some, err := line.AnyBetween(ctx, tx, low, high)
	if err != nil {
		return nil, err
	}
	cs := &changeSet{rules: rules, counts: newDailyCounts(rules)}
	if some {
		if cs, err = r.service.load(ctx, tx, rules, numbersOf(rows), retry); err != nil {
			return nil, err
		}
	}
	seqs := &seqAllocator{tx: tx}
	added := make([]line.Record, 0, len(rows))
	for _, from := range rows {
		c := cs.byNumber[from.Number]
		stored := c != nil && c.stored.Version > 0
		row := line.NoRow()
		if stored {
			row = c.rowAt(line.InstantOf(r.im.AsOf))
		}
		base, refusal := r.authoriseRow(from, row, stored)
		if refusal.Reason != "" {
			if refusal.Reason == portedOut {
				counts.PortedOut++
			}
			refused = append(refused, refusal)
			continue
		}
		if !stored {
			before, after := line.NoRow(), line.FromBaseline(base)
			cs.counts.countMove(&before, &after)
			added = append(added, line.Record{Number: from.Number, Row: after})
			counts.Added++
			continue
		}
		if matches(&row, &base) {
			counts.Unchanged++
			continue
		}
		ok, err := r.applyDifferences(ctx, cs, c, row, &base, seqs)
		if err != nil {
			return nil, err
		}
		if !ok {
			refused = append(refused, contradictedRow(from))
			continue
		}
		counts.Changed++
	}
	byNumber := func(a, b line.Record) int { return compareNumbers(a.Number, b.Number) }
	if !slices.IsSortedFunc(added, byNumber) {
		slices.SortFunc(added, byNumber)
	}
	if len(added) > 0 {
		if err := line.InsertBaselines(ctx, tx, added); err != nil {
			return nil, err
		}
	}
	if err := cs.save(ctx, tx); err != nil {
		return nil, err
	}
	cs.counts.countRefused(r.im.Network, int64(len(refused)))
	return refused, cs.counts.save(ctx, tx)
}

// applyDifferences adds the events that lead from the row, as of the snapshot's
// time, to what the snapshot describes. It adds none and returns false if events
// that are stored contradict the snapshot.
func (r *importRun) applyDifferences(ctx context.Context, cs *changeSet, c *change, row line.Row, base *line.Baseline, seqs *seqAllocator) (bool, error) {
	asOf := line.InstantOf(r.im.AsOf)
	events := deriveEvents(row, base, asOf)
	for i := range events {
		e := &events[i]
		var err error
		if e.Seq, err = seqs.next(ctx); err != nil {
			return false, err
		}
		e.Supplier, e.Import, e.ReportedAt = r.im.supplier, r.im.id, cs.now
		c.addEvent(*e)
	}
	if after := c.rowAt(asOf); !matches(&after, base) {
		c.newEvents, c.row = nil, c.stored
		return false, nil
	}
	for i := range events {
		cs.counts.countEvent(&events[i], row)
	}
	return true, nil
}

// contradictedRow refuses a row that stored events contradict.
func contradictedRow(from *linefile.Row) linefile.Refusal {
	return linefile.Refusal{Place: from.Place, Field: "tenureStart", Reason: "CONTRADICTS"}
}

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
		if s.free, err = line.ReserveSeqs(ctx, s.tx, block); err != nil {
			return 0, err
		}
	}
	seq, s.free = s.free[0], s.free[1:]
	return seq, nil
}

// matches reports whether a row, as of the snapshot's time, is what the snapshot
// describes.
func matches(r *line.Row, s *line.Baseline) bool {
	if r.Tenure != s.Tenure || s.State != line.StateEnded && hasNewSIM(r, s) {
		return false
	}
	switch s.State {
	case line.StateBarred:
		return r.State == line.StateActive && r.BarAt != line.Never
	case line.StateEnded:
		return r.State == line.StateEnded
	default:
		return r.State == s.State && r.BarAt == line.Never
	}
}

// hasNewSIM reports whether the snapshot has a later SIM than the row. The SIM
// with which the tenure began, or that came with a port, is no SIM change.
func hasNewSIM(r *line.Row, s *line.Baseline) bool {
	return s.SIM > max(s.Tenure, r.PortAt) && s.SIM != r.SIM
}

// deriveEvents returns the events that lead from a row, as of the snapshot's
// time, to what the snapshot describes. What is unchanged gives no event.
func deriveEvents(r line.Row, s *line.Baseline, asOf line.Instant) []line.Event {
	var events []line.Event
	add := func(k line.Kind, at line.Instant, code line.Code) {
		e := line.Event{Kind: k, Effective: at, Authority: line.Operator, Network: s.Network, Code: code, Until: line.Never, EndedAfter: line.Never}
		events = append(events, e)
	}
	// A state that began no later than what is known gets the second after that,
	// so that its event comes after the known ones.
	after := func(at, known line.Instant) line.Instant {
		if known != line.Never && at <= known {
			at = known + 1
		}
		return min(at, asOf)
	}
	// Before a port the operator has no authority over the number.
	state, since, bar := r.State, max(r.StateSince, r.PortAt), r.BarAt
	if s.Tenure != r.Tenure {
		add(line.Assign, s.Tenure, 0)
		if s.Tenure > since || s.Tenure == since && state == line.StateEnded || state == line.StateNone {
			state, since = line.StateActive, s.Tenure
		}
		if s.Tenure > bar {
			bar = line.Never // the bar ended with the earlier tenure
		}
	}
	want := s.State
	if hasNewSIM(&r, s) && (want != line.StateEnded || state != want && s.SIM < after(s.StateSince, since)) {
		add(line.ChangeSIM, s.SIM, 0)
	}
	if want == line.StateBarred {
		want = line.StateActive // a bar is kept beside the state
	}
	if want != state {
		at := after(s.StateSince, since)
		// Not every state can be reached from every other one. Return the line to
		// ACTIVE first, in the same second.
		switch {
		case want == line.StateEnded:
		case state == line.StateEnded && hasNewSIM(&r, s) && s.SIM >= since:
			add(line.Reinstate, min(at, s.SIM), 0) // the holder had the line back when it got the SIM
		case state == line.StateEnded:
			add(line.Reinstate, at, 0)
		case state == line.StateParked:
			add(line.Return, at, 0)
		case state == line.StateInactive, state == line.StateNoticed:
			add(line.Use, at, 0)
		}
		switch want {
		case line.StateInactive:
			add(line.Deactivate, at, 0)
		case line.StateParked:
			add(line.Park, at, 0)
		case line.StateNoticed:
			add(line.GiveNotice, at, 0)
		case line.StateEnded:
			add(line.End, at, line.ReasonChurned)
		case line.StateNone, line.StateActive, line.StateBarred:
		}
	}
	began := r.PortAt
	if state == line.StateEnded {
		began = since
	}
	switch {
	case s.State == line.StateBarred && bar == line.Never:
		add(line.Bar, after(s.StateSince, began), line.ReasonOther)
	case s.State != line.StateBarred && s.State != line.StateEnded && bar != line.Never:
		add(line.Unbar, after(s.StateSince, max(bar, began)), 0)
	}
	return events
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
