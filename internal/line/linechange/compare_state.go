package linechange

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

// ending is how a tenure has ended.
type ending struct {
	at       line.Instant
	noticed  line.Instant // when the churn was announced whose date has come; Never for another end
	byEvent  bool         // an event reported or announced it
	inferred bool         // the number was missing from a snapshot
}

// ending returns how the tenure has ended as of the snapshot's time, if it has: also
// by the churn date that was announced.
func (d *Comparison) ending() (end ending, ended bool) {
	end.at, end.noticed = d.row.StateSince, line.Never
	if d.row.State != line.StateEnded {
		return end, false
	}
	h := d.Change.History()
	_, outcomes := line.Fold(h, d.Change.Terms, d.AsOf)
	for i := range h.Events {
		before := i < len(h.Events)-len(d.Events) // not by this row
		switch e := &h.Events[i]; {
		case outcomes[i] != line.Applied:
		case e.Kind == line.End && e.Effective == end.at:
			return ending{end.at, line.Never, before, e.Code == line.ReasonInferred}, true
		case e.Kind == line.GiveNotice && e.Until == end.at:
			end.noticed, end.byEvent = e.Effective, end.byEvent || before
		}
	}
	if b := d.Change.baseline(); !end.byEvent && b != nil && b.State == line.StateNoticed && b.Until == end.at {
		end.noticed = max(b.StateSince, b.Tenure)
	}
	return end, true
}

func (d *Comparison) ended() bool {
	_, ended := d.ending()
	return ended
}

// reinstate continues a tenure that has ended, where the row says that it runs. An
// end that nobody reported gives way: one that was inferred because the number was
// missing, or the announced date of a notice in an earlier snapshot.
func (d *Comparison) reinstate() {
	end, ended := d.ending()
	if !ended || d.sameState() || d.File.State == line.StateEnded {
		return
	}
	at := d.File.StateSince
	if d.File.SIM > end.at {
		at = min(at, d.File.SIM) // the holder had the number back by then
	}
	switch {
	case end.inferred, end.noticed != line.Never && !end.byEvent:
		d.add(d.event(line.Reinstate, min(end.at+1, d.AsOf)))
	case at > end.at && (end.byEvent || at > d.Last):
		d.add(d.event(line.Reinstate, at))
	case d.takesAway(end.at, end.byEvent):
		d.restateState()
	}
}

// restateState replaces the state that the baseline has. It is no older than a tenure
// that an event began.
func (d *Comparison) restateState() {
	f, tenure := d.File, d.row.Tenure
	start := tenure
	if f.State == line.StateEnded {
		start++
	}
	d.restate(func(b *line.Baseline) {
		b.State, b.StateSince, b.Until, b.Bits = f.State, f.StateSince, f.Until, b.Bits&^line.EndDay|f.Bits&line.EndDay
		if b.Tenure != tenure && start > b.StateSince {
			b.StateSince, b.Bits = start, b.Bits&^line.EndDay
		}
	})
}

// compareState compares the state.
func (d *Comparison) compareState() {
	if d.sameState() {
		return
	}
	f, r := d.File, &d.row
	if f.State == line.StateEnded {
		d.compareEnd()
		return
	}
	want := f.State
	if want == line.StateBarred {
		want = line.StateActive // the bar is kept beside the state
	}
	if want == r.State && want != line.StateNoticed || d.ended() {
		return
	}
	m, since := d.made(), r.StateSince
	if b := d.Change.baseline(); b != nil && b.Tenure == line.Never && b.State == line.StateActive && r.State == line.StateActive {
		since = max(since, b.StateSince) // an earlier event of this row hides it
	}
	// A state that began with the tenure, the port or the end of the quarantine is no
	// word about the time before.
	start := max(r.Tenure, r.PortAt, d.reinstated())
	fresh := r.State == line.StateActive && since <= start
	later, at := f.StateSince > since, max(f.StateSince, start)
	switch {
	case want == line.StateNoticed && r.State == line.StateNoticed:
		d.set(max(at, since)) // another churn date
	case want == line.StateActive && later:
		d.lift(at)
	case want == line.StateActive && f.State == line.StateBarred:
	case want == line.StateActive && !m.state:
		d.lift(d.AsOf) // since when is not said
	case fresh && m.tenure && f.StateSince < line.DayStart(r.Tenure, d.zone()):
		d.hold = line.HoldDenied
	case want != line.StateActive && (fresh || later):
		if r.State == line.StateParked || r.State == line.StateNoticed && want == line.StateInactive {
			d.lift(at)
		}
		d.moved = true
		d.set(at)
	case m.state:
		d.hold = line.HoldDenied
	default:
		d.restateState()
	}
}

// reinstated returns when the row has reinstated the tenure, or Never.
func (d *Comparison) reinstated() line.Instant {
	i := slices.IndexFunc(d.Events, func(e line.Event) bool { return e.Kind == line.Reinstate })
	if i < 0 {
		return line.Never
	}
	return d.Events[i].Effective
}

// lift adds the event that makes the line active.
func (d *Comparison) lift(at line.Instant) {
	kind := line.Use
	if d.row.State == line.StateParked {
		kind = line.Return
	}
	d.moved = true
	d.add(d.event(kind, at))
}

// set adds the event that gives the line the state of the row.
func (d *Comparison) set(at line.Instant) {
	switch d.File.State {
	case line.StateInactive:
		d.add(d.event(line.Deactivate, at))
	case line.StateParked:
		d.add(d.event(line.Park, at))
	case line.StateNoticed:
		e := d.event(line.GiveNotice, at)
		e.Until = d.File.Until
		d.add(e)
	case line.StateNone, line.StateActive, line.StateBarred, line.StateEnded:
	}
}

// compareEnd compares the end of the tenure.
func (d *Comparison) compareEnd() {
	f := d.File
	end, ended := d.ending()
	switch later := f.StateSince > end.at; {
	case !ended:
		d.end()
	case later && !end.byEvent:
		d.restateState() // the tenure went on until then
	case later:
		d.add(d.event(line.Reinstate, min(end.at+1, d.AsOf)))
		d.end()
	case end.noticed != line.Never && f.StateSince > end.noticed:
		d.end() // before the announced date
	case end.inferred:
		d.takesAway(end.at, false)
	case d.takesAway(end.at, end.byEvent):
		d.restateState()
	}
}

// end adds the end that the row names. In its own second an end comes before the start
// of a tenure, so it is at least a second later than that.
func (d *Comparison) end() {
	e := d.event(line.End, max(d.File.StateSince, d.row.Tenure+1, d.row.PortAt+1))
	e.Code, e.Day = line.ReasonChurned, d.File.Bits&line.EndDay != 0 && e.Effective == d.File.StateSince
	d.add(e)
}

// compareBar compares the operator's bar. A row with another state lifts it only where
// it names that state as a later change.
func (d *Comparison) compareBar() {
	f, r := d.File, &d.row
	later := f.StateSince > r.BarAt
	switch {
	case f.State == line.StateEnded || d.ended():
	case f.State == line.StateBarred && r.BarAt == line.Never:
		e := d.event(line.Bar, max(f.StateSince, r.Tenure, r.PortAt))
		e.Code = line.ReasonOther
		d.add(e)
	case f.State == line.StateBarred || r.BarAt == line.Never:
	case later && (d.moved || f.State == line.StateActive):
		d.add(d.event(line.Unbar, f.StateSince))
	case f.State != line.StateActive:
	case d.made().bar:
		d.hold = line.HoldDenied
	default:
		d.add(d.event(line.Unbar, d.AsOf))
	}
}
