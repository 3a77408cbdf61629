// Package linechange computes, in memory, what reports make of one line: events that
// are added to its history ([Change]), and what a row of a snapshot changes
// ([Comparison]). It reads and writes nothing.
package linechange

import (
	"slices"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Change is one number in this transaction: its stored row and its new row.
type Change struct {
	Number        phone.Number
	Terms         line.TermsAt
	Stored        line.Row
	Row           line.Row      // the stored row with NewEvents applied
	BaseAsOf      line.Instant  // the as-of time of the baseline that the stored row is
	StoredHistory *line.History // complete; nil if the number has no stored event
	NewEvents     []line.Event  // not stored yet

	outcomes []line.Outcome // of all events, once there is a new one
}

// History returns everything reported about the number, including NewEvents.
func (c *Change) History() *line.History {
	h := &line.History{}
	switch {
	case c.StoredHistory != nil:
		h.Base, h.Events = c.StoredHistory.Base, slices.Clone(c.StoredHistory.Events)
	case c.Stored.Baseline != 0:
		base := c.storedBase()
		h.Base = &base
	}
	h.Events = append(h.Events, c.NewEvents...)
	for i := range c.NewEvents {
		if e := &c.NewEvents[i]; e.Base != nil && !e.Restates() {
			h.Base = e.Base
		}
	}
	return h
}

// storedBase returns the baseline that the stored row is.
func (c *Change) storedBase() line.Baseline {
	base := c.Stored.AsBaseline()
	base.AsOf = c.BaseAsOf
	return base
}

// RowAt returns the row as it was at an instant, according to everything that is
// known now.
func (c *Change) RowAt(i line.Instant) line.Row {
	if i >= c.Row.Newest {
		return c.Row.AsOf(i)
	}
	r, _ := line.Fold(c.History(), c.Terms, i)
	return r
}

// RowBefore returns the row that an event meets: that of its second, without a port
// that comes after it.
func (c *Change) RowBefore(e *line.Event) line.Row {
	row := c.RowAt(e.Effective)
	if row.PortAt == e.Effective && e.Kind.BeforePort() {
		return c.RowAt(e.Effective - 1)
	}
	return row
}

// FindEvent returns the event that a supplier reported under an id, or nil.
func (c *Change) FindEvent(supplier int32, id string) *line.Event {
	if c.StoredHistory != nil {
		for i := range c.StoredHistory.Events {
			if e := &c.StoredHistory.Events[i]; e.Supplier == supplier && e.ID == id {
				return e
			}
		}
	}
	for i := range c.NewEvents {
		if e := &c.NewEvents[i]; e.Supplier == supplier && e.ID == id {
			return e
		}
	}
	return nil
}

// FindSeq returns the event with a sequence number as it is written, or nil.
func (c *Change) FindSeq(written string) *line.Event {
	seq, err := strconv.ParseInt(written, 10, 64)
	if err != nil {
		return nil
	}
	return c.BySeq(seq)
}

// BySeq returns the event with a sequence number, or nil.
func (c *Change) BySeq(seq int64) *line.Event {
	h := c.History()
	for i := range h.Events {
		if h.Events[i].Seq == seq {
			return &h.Events[i]
		}
	}
	return nil
}

// How many events one supplier may report about one number, and how many of them about
// ports. Each report costs time for all before it, and for ports more than in proportion.
// A line that is barred every month for 20 years stays below it.
const (
	MaxEvents = 500
	MaxPorts  = 100
)

// IsFull reports whether the supplier of an event has reported as many as it may. Voids
// do not count: each needs an event of its own.
func (c *Change) IsFull(e *line.Event) bool {
	var events, ports int
	count := func(all []line.Event) {
		for i := range all {
			if x := &all[i]; x.Supplier == e.Supplier && x.Kind != line.Void {
				events++
				if x.Recipient() != 0 {
					ports++
				}
			}
		}
	}
	if c.StoredHistory != nil {
		count(c.StoredHistory.Events)
	}
	count(c.NewEvents)
	return events >= MaxEvents || e.Recipient() != 0 && ports >= MaxPorts
}

// LastCounted returns when the supplier last reported an event about the number that
// is counted in the share of its network's lines; zero for never.
func (c *Change) LastCounted(supplier int32) (last time.Time) {
	find := func(all []line.Event) {
		for i := range all {
			if e := &all[i]; e.Counted && e.Supplier == supplier && e.ReportedAt.After(last) {
				last = e.ReportedAt
			}
		}
	}
	if c.StoredHistory != nil {
		find(c.StoredHistory.Events)
	}
	find(c.NewEvents)
	return last
}

// MarkCounted marks the event that was added last as counted in the share of its
// network's lines.
func (c *Change) MarkCounted() { c.NewEvents[len(c.NewEvents)-1].Counted = true }

// RowWithoutLast is RowAt without the event that was added last.
func (c *Change) RowWithoutLast(at line.Instant) line.Row {
	h := c.History()
	h.Events = h.Events[:len(h.Events)-1]
	row, _ := line.Fold(h, c.Terms, at)
	return row
}

// rowWithoutEnds is RowWithoutLast as if the last tenure had not ended.
func (c *Change) rowWithoutEnds(at line.Instant) line.Row {
	before := c.RowWithoutLast(at)
	h := c.History()
	h.Events = slices.DeleteFunc(h.Events[:len(h.Events)-1], func(e line.Event) bool {
		return e.Kind == line.End && e.Effective >= before.Tenure
	})
	row, _ := line.Fold(h, c.Terms, at)
	return row
}

// IsVoided reports whether an event has been voided.
func (c *Change) IsVoided(seq int64) bool {
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, line.Forever)
	i := slices.IndexFunc(h.Events, func(e line.Event) bool { return e.Seq == seq })
	return i >= 0 && outcomes[i] == line.Voided
}

// IsVoidedBy reports whether an authority has voided an event.
func (c *Change) IsVoidedBy(a line.Authority, seq int64) bool {
	return slices.ContainsFunc(c.History().Events, func(e line.Event) bool { return e.Kind == line.Void && e.Target == seq && e.Authority == a })
}

// IsConfirmed reports whether the regulator has confirmed a held event.
func (c *Change) IsConfirmed(seq int64) bool {
	return slices.ContainsFunc(c.History().Events, func(e line.Event) bool { return e.Kind == line.Confirm && e.Target == seq })
}

// Add applies an event to the row and returns the outcome.
func (c *Change) Add(e line.Event) line.Outcome {
	if len(c.NewEvents) == 0 && c.StoredHistory == nil && c.Stored.Baseline != 0 {
		base := c.storedBase()
		e.Base = &base // the number's first event stores the baseline, which the row then no longer shows
	}
	c.NewEvents = append(c.NewEvents, e)
	c.refold()
	return c.outcomes[len(c.outcomes)-1]
}

// refold computes the row, and the outcomes of all events, from everything that is
// known.
func (c *Change) refold() { c.Row, c.outcomes = line.Fold(c.History(), c.Terms, line.Forever) }

// Open returns the open events of a number with new events, as they are stored and as
// they will be.
func (c *Change) Open() (before, after []line.OpenEvent) {
	if h := c.StoredHistory; h != nil {
		_, outcomes := line.Fold(h, c.Terms, line.Forever)
		before = h.Open(c.Number, outcomes)
	}
	return before, c.History().Open(c.Number, c.outcomes)
}

// RemoveLast undoes the last Add.
func (c *Change) RemoveLast() { c.Remove(1) }

// OutcomeOf returns the outcome of an event.
func (c *Change) OutcomeOf(seq int64) line.Outcome {
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, line.Forever)
	return outcomes[slices.IndexFunc(h.Events, func(e line.Event) bool { return e.Seq == seq })]
}

// Remove undoes as many Add.
func (c *Change) Remove(events int) {
	c.NewEvents = c.NewEvents[:max(len(c.NewEvents)-events, 0)]
	if len(c.NewEvents) == 0 {
		c.Row = c.Stored
		return
	}
	c.refold()
}

// VoidImport withdraws, with the authority of the regulator, every event that an
// import made about the number.
func (c *Change) VoidImport(id int32, note string, r Rules) error {
	h := c.History()
	voided := make(map[int64]bool)
	for i := range h.Events {
		// What only its operator has voided is voided as well: that void may be the import's.
		if e := &h.Events[i]; e.Kind == line.Void && e.Authority == line.Regulator {
			voided[e.Target] = true
		}
	}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Import != id || voided[e.Seq] {
			continue
		}
		seq, err := r.Next()
		if err != nil {
			return err
		}
		c.Add(line.Event{
			Seq: seq, Kind: line.Void, Authority: line.Regulator, Target: e.Seq, Effective: e.Effective, ReportedAt: r.Now,
			Until: line.Never, EndedAfter: line.Never, Note: note,
		})
	}
	return nil
}

// ReportedAfter reports whether an operator's event about the tenure took effect
// after an instant. Such an event prevails over an older snapshot.
func (c *Change) ReportedAfter(after line.Instant) bool {
	if c.Row.Newest <= after {
		return false
	}
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, line.Forever)
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

// IsLastDonor reports whether the operator of an event is the network from which
// the number was last ported, and has not claimed it back since.
func (c *Change) IsLastDonor(e *line.Event, rangeHolder numbering.Network) bool {
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, e.Effective)
	ported := line.Never
	for i := range h.Events {
		if moved := h.Events[i].Kind == line.Port && outcomes[i] == line.Applied; moved {
			ported = max(ported, h.Events[i].Effective)
		}
	}
	if ported == line.Never {
		return false
	}
	before := c.RowAt(ported - 1)
	donor := HolderOf(&before, rangeHolder)
	if donor == 0 {
		donor = rangeHolder
	}
	claimed := false
	for i := range h.Events {
		x := &h.Events[i]
		claimed = claimed || x.Kind == line.ClaimPort && x.Network == e.Network && x.Effective > ported && outcomes[i] != line.Voided
	}
	return donor == e.Network && !claimed
}

// IsDonorLate reports whether the event that was added last is about the time before a port that was known by
// then, is by the network that lost the number, and changes the line. A SIM change and a bar are heard all the same.
func (c *Change) IsDonorLate() bool {
	h := c.History()
	e := &h.Events[len(h.Events)-1]
	if e.Authority != line.Operator || e.Kind == line.ChangeSIM || e.Kind == line.Bar || e.Kind.IsHalf() {
		return false
	}
	without := line.History{Base: h.Base, Events: h.Events[:len(h.Events)-1]}
	before, outcomes := line.Fold(&without, c.Terms, line.Forever)
	took := func(p line.Event, o line.Outcome) bool {
		after := p.Effective > e.Effective || p.Effective == e.Effective && e.Kind.BeforePort()
		return p.Kind == line.Port && o == line.Applied && after && p.Peer != e.Network
	}
	for i := range without.Events {
		if took(without.Events[i], outcomes[i]) {
			return !before.Same(&c.Row)
		}
	}
	return false
}

// ShedsBarOrFlag reports whether a new holder would free the number of a bar or a
// flag: of a bar on the number, or, before the rest is over, of one on the holder or
// of a flag.
func (c *Change) ShedsBarOrFlag(e *line.Event, p *policy.Policy) bool {
	before := c.RowWithoutLast(e.Effective)
	inForce := func(at, until line.Instant) bool {
		return at != line.Never && (until == line.Never || e.Effective < until)
	}
	if inForce(before.NumberBarAt, before.NumberBarUntil) {
		return true
	}
	early := before.State.Ongoing() || before.State == line.StateEnded && e.Effective < before.StateSince.Add(p.Quarantine())
	if !early {
		return false
	}
	// A flag or a bar would still be in force if the tenure had not ended.
	without := c.rowWithoutEnds(e.Effective)
	flagged := func(at line.Instant) bool { return inForce(at, at.Add(p.Flagged())) }
	return inForce(before.HolderBarAt, before.HolderBarUntil) || inForce(without.HolderBarAt, without.HolderBarUntil) ||
		flagged(without.MediumAt) || flagged(without.HighAt) || flagged(without.VeryHighAt)
}

// HolderOf returns the network that has a number: that of the running tenure, or
// else the one that holds its range.
func HolderOf(r *line.Row, rangeHolder numbering.Network) numbering.Network {
	if r.State.Ongoing() {
		return r.Network
	}
	return rangeHolder
}
