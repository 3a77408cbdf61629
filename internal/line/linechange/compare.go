package linechange

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// Comparison compares what a row of a snapshot says about a line with what is known
// of it as of the snapshot's time. What differs becomes events, a restatement of the
// baseline, or a conflict that waits for staff. The events are added to the change
// one by one, so that each step sees the line as the steps before it have left it.
type Comparison struct {
	Rules

	Change   *Change
	File     *line.Baseline // what the row says
	Dated    bool           // the row gives its churn date
	Supplier int32
	AsOf     line.Instant
	Last     line.Instant // the as-of time of the network's last snapshot; Never if this is its first

	Events []line.Event // that the row of the snapshot has made so far
	Former line.Row     // before the new holder that the row has

	row   line.Row  // as of AsOf, with Events
	moved bool      // the row has another state than was known
	hold  line.Hold // why the row waits for staff, if it does
	err   error
}

// Rules are what a comparison needs beside the line.
type Rules struct {
	Policy *policy.Policy
	Plan   *numbering.Plan
	Now    time.Time
	Next   func() (int64, error) // the next sequence number
}

// Verdict is what became of a row of a snapshot.
type Verdict uint8

// The verdicts.
const (
	Unchanged Verdict = iota
	Changed
	Waiting  // kept until staff decide, or until a port is known; the line is as before
	NoEffect // a port that is known by now prevails
)

// Run compares and adds what differs to the change.
func (d *Comparison) Run() (Verdict, error) {
	d.row = d.Change.RowAt(d.AsOf)
	v := d.compare()
	return v, d.err
}

func (d *Comparison) compare() Verdict {
	if Matches(&d.row, d.File, d.zone()) || d.agrees() {
		d.endDoubt()
		return Unchanged
	}
	if d.row.BlackAt != line.Never && d.File.Tenure > d.row.BlackAt {
		d.hold = line.HoldDenied // no tenure begins while the number is blacklisted
	}
	before := d.outcomes()
	for _, step := range []func(){d.startBaseline, d.compareTenure, d.reinstate, d.compareSIM, d.compareState, d.compareBar} {
		if d.hold == 0 && d.err == nil {
			step()
		}
	}
	after := d.outcomes()
	if d.hold == 0 && d.yields(after) {
		return NoEffect
	}
	if d.hold == 0 && (!d.agrees() || d.denies(before, after)) {
		d.hold = line.HoldDenied
	}
	if d.hold != 0 {
		d.wait()
		return Waiting
	}
	d.endDoubt()
	return Changed
}

// agrees reports whether the line is what the row says. What the row does not say
// agrees with everything.
func (d *Comparison) agrees() bool {
	bothEnded := d.File.State == line.StateEnded && d.ended()
	return sameTenure(&d.row, d.File, d.zone()) && (bothEnded || sameSIM(&d.row, d.File, d.zone())) && d.sameState()
}

// outcomes returns the outcome of every event by its sequence number.
func (d *Comparison) outcomes() map[int64]line.Outcome {
	h := d.Change.History()
	_, list := line.Fold(h, d.Change.Terms, line.Forever)
	all := make(map[int64]line.Outcome, len(list))
	for i := range h.Events {
		all[h.Events[i].Seq] = list[i]
	}
	return all
}

// yields reports whether an event of the row gives way to a port that took effect
// after the snapshot and is known by now.
func (d *Comparison) yields(after map[int64]line.Outcome) bool {
	return slices.ContainsFunc(d.Events, func(e line.Event) bool {
		o := after[e.Seq]
		return o == line.GaveWay || o == line.Superseded || o == line.Overtaken
	})
}

// denies reports whether an end that the row names takes away what the operator
// reported about a later time: a snapshot never removes an event.
func (d *Comparison) denies(before, after map[int64]line.Outcome) bool {
	end := line.Forever
	for i := range d.Events {
		switch e := &d.Events[i]; {
		case e.Kind == line.End:
			end = min(end, e.Effective)
		case e.Base != nil && e.Base.State == line.StateEnded:
			end = min(end, e.Base.StateSince)
		}
	}
	return slices.ContainsFunc(d.Change.History().Events, func(e line.Event) bool {
		was, known := before[e.Seq]
		return known && was == line.Applied && after[e.Seq] != line.Applied && e.Authority == line.Operator && e.Effective > end
	})
}

// endDoubt stores that the file has the line, if that ends a doubt.
func (d *Comparison) endDoubt() {
	if d.Change.Row.DoubtAt != line.Never && d.Change.Row.Network == d.File.Network {
		d.add(d.event(line.Name, d.AsOf))
	}
}

// wait replaces what the row has made by one event that staff decide about. An event
// that waits already is not repeated.
func (d *Comparison) wait() {
	held := restatement(d.File, d.AsOf, d.hold)
	if i := slices.IndexFunc(d.Events, func(e line.Event) bool { return e.Kind == line.Assign }); d.hold == line.HoldEarly && i >= 0 {
		held = d.event(line.Assign, d.Events[i].Effective)
		held.Day, held.Hold = d.Events[i].Day, d.hold
	}
	d.clear()
	if d.Change.isWaiting(&held) {
		return
	}
	d.keepBaseline(&held)
	d.add(held)
}

// isWaiting reports whether the same event of the network is held already, and
// nothing has settled the doubt about it.
func (c *Change) isWaiting(e *line.Event) bool {
	return c.unsettled(func(o *line.Event, outcome line.Outcome) bool {
		return outcome == line.Held && o.Kind == e.Kind && o.Network == e.Network && o.Hold == e.Hold &&
			(e.Base == nil && o.Effective == e.Effective || e.Base != nil && o.Base != nil && sameContent(e.Base, o.Base))
	})
}

// unsettled reports whether the number has an event that fits, after which no file of
// its network had the line, and no port was reported.
func (c *Change) unsettled(fits func(e *line.Event, outcome line.Outcome) bool) (found bool) {
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, line.Forever)
	network := c.Row.Network
	for i := range h.Events { // in the order of reporting
		e := &h.Events[i]
		switch {
		case fits(e, outcomes[i]):
			found, network = true, e.Network
		case (e.Kind == line.Name || e.Kind == line.Restate) && outcomes[i] != line.Held && outcomes[i] != line.Voided && e.Network == network:
			found = false
		case e.Recipient() != 0 && (outcomes[i] == line.Applied || outcomes[i] == line.Revived):
			found = false
		}
	}
	return found
}

func restatement(b *line.Baseline, asOf line.Instant, hold line.Hold) line.Event {
	base := *b
	base.AsOf = asOf
	return line.Event{
		Kind: line.Restate, Effective: asOf, Authority: line.Operator, Network: b.Network, Until: line.Never, EndedAfter: line.Never,
		Base: &base, Hold: hold,
	}
}

func (d *Comparison) event(k line.Kind, at line.Instant) line.Event {
	return line.Event{Kind: k, Effective: at, Authority: line.Operator, Network: d.File.Network, Until: line.Never, EndedAfter: line.Never}
}

// add adds an event to the change.
func (d *Comparison) add(e line.Event) {
	if d.err != nil {
		return
	}
	if e.Seq == 0 {
		e.Seq, d.err = d.Next()
	}
	e.Supplier, e.Import, e.ReportedAt = d.Supplier, d.File.Import, d.Now
	d.Change.Add(e)
	d.Events = append(d.Events, e)
	d.row = d.Change.RowAt(d.AsOf)
}

// clear removes the events again.
func (d *Comparison) clear() {
	d.Change.remove(len(d.Events))
	d.Events = nil
	d.row = d.Change.RowAt(d.AsOf)
}

// keepBaseline adds an event that keeps the baseline of a number without events,
// where its first event has a baseline of its own.
func (d *Comparison) keepBaseline(first *line.Event) {
	if first.Kind == line.Restate && d.Change.StoredHistory == nil && d.Change.Stored.Baseline != 0 && len(d.Change.NewEvents) == 0 {
		e := d.event(line.Name, d.AsOf)
		e.Outside = first.Outside
		d.add(e)
	}
}

// restate changes what the baseline says. A number that has none gets one.
func (d *Comparison) restate(change func(b *line.Baseline)) {
	events := d.Events
	d.clear()
	i := slices.IndexFunc(events, func(e line.Event) bool { return e.Base != nil })
	if i < 0 {
		var e line.Event
		if base := d.Change.baseline(); base != nil {
			e = restatement(base, d.AsOf, 0)
			e.Base.Import, e.Network = d.File.Import, d.File.Network
		} else {
			e = d.event(line.Name, d.AsOf)
			e.Base = &line.Baseline{
				Import: d.File.Import, AsOf: d.AsOf, Network: d.File.Network, Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never,
				Until: line.Never, Bits: d.File.Bits & line.SIMUnknown,
			}
		}
		events, i = append([]line.Event{e}, events...), 0
	}
	change(events[i].Base)
	d.keepBaseline(&events[0])
	for _, e := range events {
		d.add(e)
	}
}

// baseline returns what the snapshots say about the number by now: its baseline, or
// the restatement that counts last. It is nil if none has had the number.
func (c *Change) baseline() *line.Baseline {
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, line.Forever)
	base := h.GivenBase(outcomes)
	var since *line.Event // from which on it counts: the restatement, or its confirmation
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != line.Restate || outcomes[i] != line.Applied {
			continue
		}
		counts := e
		if e.Hold != 0 {
			counts = &h.Events[slices.IndexFunc(h.Events, func(o line.Event) bool { return o.Kind == line.Confirm && o.Target == e.Seq })]
		}
		if since == nil || counts.ReportedAt.After(since.ReportedAt) || counts.ReportedAt.Equal(since.ReportedAt) && counts.Seq > since.Seq {
			base, since = e.Base, counts
		}
	}
	return base
}

func (d *Comparison) zone() *time.Location { return d.Policy.Zone() }
