package linechange

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// Comparison compares what a row of a snapshot says about a line with what is known of it as of the
// snapshot's time. What differs becomes the events that the operator could have sent instead, or a
// restatement of what an earlier snapshot said. They are added to the change one by one, so that each step
// sees the line as the steps before it have left it.
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

	row  line.Row // as of AsOf, with Events
	late bool     // one of Events came too late: the number had been ported by then
	held bool     // the row waits for staff
	err  error
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
	Kept     // until staff decide, or until a port is known; the line is as before
	NoEffect // a port that is known by now prevails, or what an event reported
	Blocked  // the row begins a tenure, and the number is blacklisted
)

// Run compares and adds what differs to the change.
func (d *Comparison) Run() (Verdict, error) {
	d.row = d.Change.RowAt(d.AsOf)
	if said := *d.File; d.Dated && said.State == line.StateNoticed && said.Until <= d.AsOf {
		said.State, said.StateSince, said.Bits = line.StateEnded, said.Until, said.Bits&^line.EndDay // the date has come
		d.File = &said
	}
	if d.agrees() {
		d.confirm()
		return Unchanged, d.err
	}
	if d.row.BlackAt != line.Never && d.File.Tenure > d.row.BlackAt && !d.sameTenure() {
		return Blocked, nil
	}
	for _, step := range []func(){d.startBaseline, d.compareTenure, d.compareEnd, d.compareSIM, d.compareState, d.compareBar} {
		if d.err == nil && !d.held {
			step()
		}
	}
	switch {
	case d.held:
		return Kept, d.err
	case d.late:
		return d.hold()
	case d.row.State.Ongoing() && d.row.Network != d.File.Network:
		d.clear() // by what the row says, a port that is known took the number away
		return NoEffect, d.err
	case len(d.Events) == 0:
		d.confirm()
		return NoEffect, d.err
	}
	d.confirm()
	return Changed, d.err
}

// hold keeps the events of a row that came too late until staff decide: the number had been ported by then.
func (d *Comparison) hold() (Verdict, error) {
	events, verdict := d.Events, NoEffect
	d.clear()
	for _, e := range events {
		if e.Hold = line.HoldDonorLate; e.Kind != line.Restate && !d.isHeld(&e) {
			d.add(e)
			verdict = Kept
		}
	}
	return verdict, d.err
}

// agrees reports whether the line is what the row says. What the row does not say
// agrees with everything.
func (d *Comparison) agrees() bool {
	bothEnded := d.File.State == line.StateEnded && d.row.State == line.StateEnded
	return d.sameTenure() && (bothEnded || d.sameSIM()) && d.sameState()
}

// confirm stores that the file has the line, if that ends a doubt.
func (d *Comparison) confirm() {
	if d.Change.Row.DoubtAt != line.Never && d.Change.Row.Network == d.File.Network {
		d.add(d.event(line.Restate, d.AsOf))
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
	d.late = d.late || d.Change.IsDonorLate()
	d.Events = append(d.Events, e)
	d.row = d.Change.RowAt(d.AsOf)
}

// clear removes the events again.
func (d *Comparison) clear() {
	d.Change.Remove(len(d.Events))
	d.Events, d.late = nil, false
	d.row = d.Change.RowAt(d.AsOf)
}

// startBaseline gives a number a baseline of which only events are known so far, and no start of its tenure.
func (d *Comparison) startBaseline() {
	if d.row.Tenure != line.Never || d.Change.baseline() != nil {
		return
	}
	f, none := d.File, d.row.State == line.StateNone
	began := !d.sameTenure() && (none || !d.ranBefore())
	if !none && !began && f.SIM == line.Never {
		return
	}
	d.restate(func(b *line.Baseline) {
		if b.SIM, b.Bits = f.SIM, b.Bits|f.Bits&line.SIMDay; b.SIM != line.Never {
			b.StateSince = f.SIM
		}
		if began {
			b.Tenure, b.StateSince, b.Bits = f.Tenure, f.Tenure, b.Bits|f.Bits&line.TenureDay
		}
		if none {
			b.State, b.StateSince, b.Until, b.Bits = f.State, f.StateSince, f.Until, b.Bits|f.Bits&line.EndDay
		}
	})
}

// compareTenure compares the holder. A later start is always a new tenure.
func (d *Comparison) compareTenure() {
	f := d.File
	switch {
	case d.sameTenure():
		return
	case f.Tenure > d.row.Tenure && (d.row.Tenure != line.Never || d.ranBefore()):
		if d.row.PortAt == line.Never || f.Tenure > d.row.PortAt+holderAfterPort {
			d.newHolder(f.Tenure, f.Bits&line.TenureDay != 0)
		}
		return
	case !d.fromBaseline(d.row.Tenure, func(b *line.Baseline) line.Instant { return b.Tenure }):
		return
	}
	d.restate(func(b *line.Baseline) {
		b.Tenure, b.Bits = f.Tenure, b.Bits&^line.TenureDay|f.Bits&line.TenureDay
		b.StateSince = max(b.StateSince, b.Tenure)
	})
}

// newHolder adds the start of a tenure that the row has. On a line that was ported
// to the network it is a transfer.
func (d *Comparison) newHolder(at line.Instant, day bool) {
	kind := line.Assign
	held, _ := d.Plan.RangeOf(d.Change.Number, d.AsOf.Time())
	if held.Network != d.File.Network || d.row.State.Ongoing() && d.row.PortAt != line.Never {
		kind = line.Transfer
	}
	e := d.event(kind, at)
	e.Day = day
	d.add(e)
	d.Former = d.Change.RowWithoutLast(e.Effective)
	if kind == line.Assign && d.Change.ShedsBarOrFlag(&e, d.Policy) {
		d.clear()
		if e.Hold, d.held = line.HoldEarly, true; !d.isHeld(&e) {
			d.add(e)
		}
	}
}

// compareSIM compares the SIM. The SIM with which the tenure began, or that came with
// a port, is no SIM change.
func (d *Comparison) compareSIM() {
	f, r := d.File, &d.row
	if f.State == line.StateEnded && (r.State == line.StateEnded || f.SIM >= f.StateSince) || d.sameSIM() {
		return
	}
	if changesSIM(r, f.SIM, f.Bits) && (!changesSIM(r, r.SIM, r.Bits) || f.SIM > r.SIM) {
		unknownBefore := r.Bits&line.SIMUnknown != 0 && f.SIM <= d.Last // what the last snapshot did not know
		base := d.Change.baseline()
		if base.IsOver(f.SIM) || !unknownBefore && (d.Last != line.Never || base != nil) {
			e := d.event(line.ChangeSIM, f.SIM)
			e.Day = f.Bits&line.SIMDay != 0
			d.add(e)
			return
		}
	} else if !d.fromBaseline(r.SIM, (*line.Baseline).LastSIM) {
		return
	}
	d.restate(func(b *line.Baseline) {
		b.SIM, b.Bits = f.SIM, b.Bits&^(line.SIMUnknown|line.SIMDay)|f.Bits&line.SIMDay
		if b.Tenure == line.Never && b.StateSince == line.Never {
			b.StateSince = f.SIM
		}
	})
}

// fromBaseline reports whether a time of the line comes from a snapshot. A file takes back no change of holder or SIM
// that an event reported: its operator does that by VOIDED.
func (d *Comparison) fromBaseline(known line.Instant, of func(*line.Baseline) line.Instant) bool {
	b := d.Change.baseline()
	return known == line.Never || b != nil && of(b) == known
}

// compareEnd compares whether and when the tenure has ended. Of two ends the first counts.
func (d *Comparison) compareEnd() {
	f, r := d.File, &d.row
	ended := r.State == line.StateEnded
	if d.sameState() || !ended && f.State != line.StateEnded {
		return
	}
	if f.State == line.StateEnded {
		d.compareSIM() // what is reported about the time before an end stays with it
	}
	if ended && r.Network != f.Network {
		d.newHolder(max(d.since(r.StateSince), r.StateSince+1), false) // the number went back to its range, and is in use there
		return
	}
	if ended && (f.State != line.StateEnded || f.StateSince > r.StateSince) {
		at := max(min(r.StateSince+1, d.AsOf), f.StateSince)
		if f.State == line.StateEnded {
			at = max(at-1, r.StateSince) // it ran until then
		}
		d.addSo(at, func() bool { return f.State == line.StateEnded || d.row.State != line.StateEnded }, func(at line.Instant) {
			d.add(d.event(line.Reinstate, at))
		})
	}
	if f.State == line.StateEnded {
		start := max(r.Tenure, r.PortAt) + 1 // in its own second an end comes before the start of a tenure
		d.addSo(max(f.StateSince, start), func() bool { return d.row.State == line.StateEnded }, func(at line.Instant) {
			e := d.event(line.End, at)
			e.Code, e.Day = line.ReasonChurned, f.Bits&line.EndDay != 0 && at == f.StateSince
			d.add(e)
		})
	}
}

// compareState compares the state of a tenure that runs. The bar is kept beside it.
func (d *Comparison) compareState() {
	f, r := d.File, &d.row
	want := f.State
	if want == line.StateBarred {
		want = line.StateActive
	}
	if f.State == line.StateEnded || r.State == line.StateEnded || want == r.State && (want != line.StateNoticed || d.sameState()) {
		return
	}
	at := d.since(r.StateSince)
	if start := max(r.Tenure, r.PortAt); r.State == line.StateActive && r.StateSince <= start && f.StateSince != line.Never {
		at = max(f.StateSince, start) // a state that began with the tenure or the port is no word about the time before
	}
	d.addSo(at, func() bool { return d.row.State == want }, func(at line.Instant) {
		if want == line.StateActive || r.State == line.StateParked || r.State == line.StateNoticed && want == line.StateInactive {
			d.add(d.event(line.Use, at))
		}
		switch want {
		case line.StateInactive:
			d.add(d.event(line.Deactivate, at))
		case line.StateParked:
			d.add(d.event(line.Park, at))
		case line.StateNoticed:
			e := d.event(line.GiveNotice, at)
			e.Until = max(f.Until, at+1)
			d.add(e)
		case line.StateNone, line.StateActive, line.StateBarred, line.StateEnded:
		}
	})
}

// addSo adds events at a time, or, if an event that is known has undone them by then, at the time of the file.
func (d *Comparison) addSo(at line.Instant, holds func() bool, add func(at line.Instant)) {
	known := len(d.Events)
	if add(at); d.err != nil || holds() || at >= d.AsOf {
		return
	}
	d.Change.Remove(len(d.Events) - known)
	d.Events, d.row = d.Events[:known], d.Change.RowAt(d.AsOf)
	add(d.AsOf)
}

// compareBar compares the operator's bar. A row with another state lifts it only where
// it names that state as a later change.
func (d *Comparison) compareBar() {
	f, r := d.File, &d.row
	switch {
	case f.State == line.StateEnded || r.State == line.StateEnded:
	case f.State == line.StateBarred && r.BarAt == line.Never:
		d.addSo(max(f.StateSince, r.Tenure, r.PortAt), func() bool { return d.row.BarAt != line.Never }, func(at line.Instant) {
			e := d.event(line.Bar, at)
			e.Code = line.ReasonOther
			d.add(e)
		})
	case f.State == line.StateBarred || r.BarAt == line.Never:
	case f.State == line.StateActive || f.StateSince > r.BarAt && len(d.Events) > 0:
		d.add(d.event(line.Unbar, d.since(r.BarAt)))
	}
}

// since returns when what the row says began: the time that it gives, if that is later than what is known, and
// otherwise the time of the file.
func (d *Comparison) since(known line.Instant) line.Instant {
	if d.File.StateSince > known {
		return max(d.File.StateSince, d.row.PortAt) // what the network says of the time before it had the line is no word about it
	}
	return d.AsOf
}

// void withdraws an event of the network.
func (d *Comparison) void(target *line.Event) {
	e := d.event(line.Void, target.Effective)
	e.Target = target.Seq
	d.add(e)
}

func (d *Comparison) zone() *time.Location { return d.Policy.Zone() }

// isHeld reports whether the same event of the network is held already.
func (d *Comparison) isHeld(e *line.Event) bool {
	h := d.Change.History()
	_, outcomes := line.Fold(h, d.Change.Terms, line.Forever)
	for i := range h.Events {
		o := &h.Events[i]
		if outcomes[i] == line.Held && o.Kind == e.Kind && o.Network == e.Network && o.Hold == e.Hold && o.Effective == e.Effective {
			return true
		}
	}
	return false
}

// ranBefore reports whether the line, of whose tenure the start is not known, was in
// use before the tenure that the row has.
func (d *Comparison) ranBefore() bool {
	start := d.File.Tenure
	if d.File.Bits&line.TenureDay != 0 {
		start = line.DayStart(start, d.zone())
	}
	if b := d.Change.baseline(); b != nil {
		known := func(at line.Instant) bool { return at != line.Never && at < start }
		if known(b.StateSince) || known(b.SIM) || b.Network == d.File.Network && known(d.Last) {
			return true
		}
	}
	h := d.Change.History()
	_, outcomes := line.Fold(h, d.Change.Terms, line.Forever)
	for i := range h.Events {
		e := &h.Events[i]
		aboutLine := e.Kind != line.Void && e.Kind != line.Confirm && e.Kind != line.Restate && e.Kind != line.Blacklist && e.Kind != line.Release
		if aboutLine && outcomes[i] == line.Applied && !e.Number && e.Effective < start {
			return true
		}
	}
	return false
}
