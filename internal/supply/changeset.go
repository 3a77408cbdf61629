package supply

import (
	"context"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// changeSet is everything that one transaction changes. It is loaded once, the
// events are applied to it in memory, and it is saved once.
type changeSet struct {
	rules

	supplier *resolvedSupplier // who reports; not needed to apply a snapshot
	byNumber map[phone.Number]*change
	ordered  []*change // by number
	counts   dailyCounts
}

// change is one number in this transaction: its stored row and its new row.
type change struct {
	number        phone.Number
	stored        line.Row
	row           line.Row      // the stored row with newEvents applied
	storedHistory *line.History // complete; nil if the number has no stored event
	newEvents     []line.Event  // not stored yet
}

// load reads the rows of numbers, and the events of those that have any. With
// lock, nobody else can change them before the transaction ends. Without it,
// save fails with line.ErrConcurrentUpdate if somebody has.
func (s *Service) load(ctx context.Context, tx pg.DB, r rules, numbers []phone.Number, lock bool) (*changeSet, error) {
	slices.SortFunc(numbers, compareNumbers)
	numbers = slices.Compact(numbers)
	read := line.Rows
	if lock {
		read = line.LockedRows
	}
	rows, err := read(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	cs := &changeSet{
		rules: r, counts: newDailyCounts(r),
		byNumber: make(map[phone.Number]*change, len(numbers)), ordered: make([]*change, 0, len(numbers)),
	}
	var withEvents []phone.Number
	all := make([]change, len(numbers)) // one allocation for all
	for i, n := range numbers {
		c := &all[i]
		row, ok := rows[n]
		if !ok {
			row = line.NoRow()
		}
		c.number, c.stored, c.row = n, row, row
		if row.HasEvents() {
			withEvents = append(withEvents, n)
		}
		cs.byNumber[n], cs.ordered = c, append(cs.ordered, c)
	}
	if len(withEvents) == 0 {
		return cs, nil
	}
	histories, err := line.Histories(ctx, tx, withEvents, rows)
	if err != nil {
		return nil, err
	}
	for n, h := range histories {
		cs.byNumber[n].storedHistory = h
	}
	return cs, nil
}

// history returns everything reported about the number, including newEvents.
func (c *change) history() *line.History {
	h := &line.History{}
	switch {
	case c.storedHistory != nil:
		h.Base, h.Events = c.storedHistory.Base, slices.Clone(c.storedHistory.Events)
	case c.stored.Baseline != 0:
		base := c.stored.AsBaseline()
		h.Base = &base
	}
	h.Events = append(h.Events, c.newEvents...)
	return h
}

// rowAt returns the row as it was at an instant, according to everything that is
// known now.
func (c *change) rowAt(i line.Instant) line.Row {
	if i >= c.row.Newest {
		return c.row
	}
	h := c.history()
	r, _ := line.Fold(h.Base, h.Events, i)
	return r
}

// findEvent returns the event that a supplier reported under an id, or nil.
func (c *change) findEvent(supplier int32, id string) *line.Event {
	if c.storedHistory != nil {
		for i := range c.storedHistory.Events {
			if e := &c.storedHistory.Events[i]; e.Supplier == supplier && e.ID == id {
				return e
			}
		}
	}
	for i := range c.newEvents {
		if e := &c.newEvents[i]; e.Supplier == supplier && e.ID == id {
			return e
		}
	}
	return nil
}

// findSeq returns the event with a sequence number, or nil.
func (c *change) findSeq(seq string) *line.Event {
	h := c.history()
	for i := range h.Events {
		if seq == formatSeq(h.Events[i].Seq) {
			return &h.Events[i]
		}
	}
	return nil
}

// isVoided reports whether an event has been voided.
func (c *change) isVoided(seq int64) bool {
	return slices.ContainsFunc(c.history().Events, func(e line.Event) bool { return e.Kind == line.Void && e.Voids == seq })
}

// addEvent applies an event to the row and returns the outcome.
func (c *change) addEvent(e line.Event) line.Outcome {
	if len(c.newEvents) == 0 && c.storedHistory == nil && c.stored.Baseline != 0 {
		base := c.stored.AsBaseline()
		e.Base = &base // the number's first event stores the baseline, which the row then no longer shows
	}
	c.newEvents = append(c.newEvents, e)
	if next, outcome, ok := c.row.ApplyNewest(&e); ok {
		c.row = next
		return outcome
	}
	// The event is not the newest one, or changes the effect of others: compute the
	// row anew from all of them.
	h := c.history()
	var outcomes []line.Outcome
	c.row, outcomes = line.Fold(h.Base, h.Events, line.Forever)
	return outcomes[len(outcomes)-1]
}

// removeLast undoes the last addEvent.
func (c *change) removeLast() {
	c.newEvents = c.newEvents[:len(c.newEvents)-1]
	if len(c.newEvents) == 0 {
		c.row = c.stored
		return
	}
	h := c.history()
	c.row = h.Row()
}

// isRunning reports whether the row has a tenure that has not ended.
func isRunning(r *line.Row) bool { return r.State != line.StateNone && r.State != line.StateEnded }
