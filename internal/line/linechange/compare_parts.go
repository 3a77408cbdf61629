package linechange

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// made says which parts of a line come from events, and not from a snapshot.
type made struct{ tenure, sim, state, bar bool }

// made returns which parts of the line come from events that were stored before.
func (d *Comparison) made() (m made) {
	h, r := d.Change.History(), &d.row
	_, outcomes := line.Fold(h, d.Change.Terms, d.AsOf)
	for i := range h.Events[:len(h.Events)-len(d.Events)] {
		e := &h.Events[i]
		if outcomes[i] != line.Applied && outcomes[i] != line.Revived {
			continue
		}
		switch e.Kind {
		case line.Assign, line.Transfer, line.Port, line.ClaimPort, line.ReleasePort:
			m.tenure = m.tenure || e.Effective == r.Tenure
			m.state = m.state || e.Effective == r.StateSince
		case line.ChangeSIM:
			m.sim = m.sim || e.Effective == r.SIM
		case line.Bar:
			m.bar = m.bar || e.Authority == line.Operator && e.Effective == r.BarAt
		case line.End, line.Reinstate, line.Use, line.Return, line.Park, line.Deactivate, line.GiveNotice:
			m.state = m.state || e.Effective == r.StateSince
		default:
		}
	}
	return m
}

// restatedTime is how far back a restatement does not take away a change, or move it
// earlier, by itself.
const restatedTime = 400 * 24 * time.Hour

// takesAway reports whether the row may take away a change of the line, or move it
// earlier. Otherwise it waits: it denies an event, or the change is recent.
func (d *Comparison) takesAway(at line.Instant, byEvent bool) bool {
	switch {
	case byEvent:
		d.hold = line.HoldDenied
	case at.Add(restatedTime) > d.AsOf:
		d.hold = line.HoldRestated
	}
	return d.hold == 0
}

// startBaseline gives a number a baseline of which only events are known so far, and
// no start of its tenure. Nothing in a baseline is late.
func (d *Comparison) startBaseline() {
	if d.row.Tenure != line.Never || d.Change.baseline() != nil {
		return
	}
	f, none := d.File, d.row.State == line.StateNone
	began := f.Tenure != line.Never && (none || !d.ranBefore(f))
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
	f, r := d.File, &d.row
	switch {
	case sameTenure(r, f, d.zone()):
		return
	case f.Tenure > r.Tenure && (r.Tenure != line.Never || d.ranBefore(f)):
		d.newHolder()
		return
	case r.Tenure != line.Never && !d.takesAway(r.Tenure, d.made().tenure):
		return
	}
	d.restate(func(b *line.Baseline) {
		b.Tenure, b.Bits = f.Tenure, b.Bits&^line.TenureDay|f.Bits&line.TenureDay
		b.StateSince = max(b.StateSince, b.Tenure)
	})
}

// newHolder adds the start of the tenure that the row has. On a line that was ported
// to the network it is a transfer.
func (d *Comparison) newHolder() {
	kind := line.Assign
	held, _ := d.Plan.RangeOf(d.Change.Number, d.AsOf.Time())
	if held.Network != d.File.Network || d.row.State.Ongoing() && d.row.PortAt != line.Never {
		kind = line.Transfer
	}
	e := d.event(kind, d.File.Tenure)
	e.Day = d.File.Bits&line.TenureDay != 0
	d.add(e)
	d.Former = d.Change.RowWithoutLast(e.Effective)
	if kind == line.Assign && d.Change.ShedsBarOrFlag(&e, d.Policy) {
		d.hold = line.HoldEarly
	}
}

// ranBefore reports whether the line, of whose tenure the start is not known, was in
// use before the tenure that a row has.
func (d *Comparison) ranBefore(f *line.Baseline) bool {
	start := f.Tenure
	if f.Bits&line.TenureDay != 0 {
		start = line.DayStart(start, d.zone())
	}
	if b := d.Change.baseline(); b != nil {
		known := func(at line.Instant) bool { return at != line.Never && at < start }
		if known(b.StateSince) || known(b.SIM) || b.Network == f.Network && known(d.Last) {
			return true
		}
	}
	outcomes := d.outcomes()
	return slices.ContainsFunc(d.Change.History().Events, func(e line.Event) bool {
		switch e.Kind {
		case line.Void, line.Confirm, line.Restate, line.Name, line.Miss, line.Blacklist, line.Release:
			return false
		default:
			return outcomes[e.Seq] == line.Applied && !e.Number && e.Effective < start
		}
	})
}

// compareSIM compares the SIM. The SIM with which the tenure began, or that came with
// a port, is no SIM change.
func (d *Comparison) compareSIM() {
	f, r := d.File, &d.row
	if f.State == line.StateEnded && (d.ended() || f.SIM >= f.StateSince) || sameSIM(r, f, d.zone()) {
		return
	}
	changes := changesSIM(r, f.SIM, f.Bits, d.zone())
	knows := changesSIM(r, r.SIM, r.Bits, d.zone())
	switch {
	case changes && (!knows || f.SIM > r.SIM):
		told := r.Bits&line.SIMUnknown != 0 && f.SIM <= d.Last // what the last snapshot did not know
		if !told && (d.Last != line.Never || d.Change.baseline() != nil) {
			e := d.event(line.ChangeSIM, f.SIM)
			e.Day = f.Bits&line.SIMDay != 0
			d.add(e)
			return
		}
	case knows && !d.takesAway(r.SIM, d.made().sim):
		return
	}
	d.restate(func(b *line.Baseline) {
		b.SIM, b.Bits = f.SIM, b.Bits&^(line.SIMUnknown|line.SIMDay)|f.Bits&line.SIMDay
		if b.Tenure == line.Never && b.StateSince == line.Never {
			b.StateSince = f.SIM
		}
	})
}

// sameState reports whether the line has the state of the row. The one column of a
// file does not say whether a parked line is barred, nor whether a barred one is
// inactive.
func (d *Comparison) sameState() bool {
	r, f := &d.row, d.File
	end, ended := d.ending()
	switch {
	case f.State == line.StateNoticed && d.Dated && end.noticed != line.Never:
		return d.sameDay(end.at, f.Until) // it has come, and the file repeats it
	case f.State == line.StateNoticed && d.Dated && r.State == line.StateNoticed:
		return d.sameDay(r.Until, f.Until)
	case f.State == line.StateEnded:
		return ended && d.sameEnd(end)
	case ended || r.State == line.StateNone:
		return false
	case f.State == line.StateBarred:
		return r.BarAt != line.Never
	case f.State == line.StateActive:
		return r.State == line.StateActive && r.BarAt == line.Never
	default:
		return r.State == f.State
	}
}

func (d *Comparison) sameDay(a, b line.Instant) bool {
	return line.DayStart(a, d.zone()) == line.DayStart(b, d.zone())
}

// sameEnd reports whether the tenure ended when the row says so: then, on that day,
// or between two snapshots. An end that the operator reported by an event stands if
// the row names an earlier one.
func (d *Comparison) sameEnd(end ending) bool {
	r, f := &d.row, d.File
	start := max(r.Tenure, r.PortAt)
	atStart := f.StateSince <= start && (end.at == start || end.at == start+1) // on the day on which the tenure began
	if atStart || end.at == f.StateSince || sameTime(end.at, r.Bits&line.EndDay != 0, f.StateSince, f.Bits&line.EndDay != 0, d.zone()) {
		return true
	}
	if f.StateSince > end.at || end.noticed != line.Never || !end.byEvent {
		return false
	}
	first := r.EndedAfter // of an inferred end
	if f.Bits&line.EndDay != 0 && first != line.Never {
		first = line.DayStart(first, d.zone()) - 1
	}
	return f.StateSince > first
}

// sameTime reports whether two times of one fact agree: they are equal, or one is a
// bare date and the other lies on it.
func sameTime(a line.Instant, aDay bool, b line.Instant, bDay bool, zone *time.Location) bool {
	if a == b {
		return true
	}
	if a == line.Never || b == line.Never || !aDay && !bDay {
		return false
	}
	return line.DayStart(a, zone) == line.DayStart(b, zone)
}

// sameTenure reports whether a line has the tenure of a row. Many recipients of a port
// write its time as the start of the tenure: that is the holder who came with it.
func sameTenure(r *line.Row, f *line.Baseline, zone *time.Location) bool {
	same := func(at line.Instant, day line.Bits) bool {
		return sameTime(at, r.Bits&day != 0, f.Tenure, f.Bits&line.TenureDay != 0, zone)
	}
	return f.Tenure == line.Never || same(r.Tenure, line.TenureDay) || r.PortAt != line.Never && same(r.PortAt, line.PortDay)
}

// sameSIM reports whether a line has the SIM of a row.
func sameSIM(r *line.Row, f *line.Baseline, zone *time.Location) bool {
	if f.Bits&line.SIMUnknown != 0 || f.SIM != line.Never && sameTime(r.SIM, r.Bits&line.SIMDay != 0, f.SIM, f.Bits&line.SIMDay != 0, zone) {
		return true
	}
	return r.Bits&line.SIMUnknown == 0 && !changesSIM(r, f.SIM, f.Bits, zone) && !changesSIM(r, r.SIM, r.Bits, zone)
}

// changesSIM reports whether a SIM came after the start of the tenure and after the
// port, each of which brings a SIM.
func changesSIM(r *line.Row, sim line.Instant, bits line.Bits, zone *time.Location) bool {
	after := func(at line.Instant, day line.Bits) bool {
		return sim > at && !sameTime(sim, bits&line.SIMDay != 0, at, r.Bits&day != 0, zone)
	}
	return sim != line.Never && after(r.Tenure, line.TenureDay) && after(r.PortAt, line.PortDay)
}

// Matches reports whether a row of line_now is surely what a row of a snapshot says.
// Where it returns false the events of the number decide.
func Matches(r *line.Row, f *line.Baseline, zone *time.Location) bool {
	if !sameTenure(r, f, zone) || !sameSIM(r, f, zone) {
		return false
	}
	switch f.State {
	case line.StateBarred:
		return r.State == line.StateActive && r.BarAt != line.Never
	case line.StateEnded:
		return r.State == line.StateEnded && sameTime(r.StateSince, r.Bits&line.EndDay != 0, f.StateSince, f.Bits&line.EndDay != 0, zone)
	case line.StateNoticed:
		return r.State == line.StateNoticed && r.Until == f.Until
	default:
		return r.State == f.State && r.BarAt == line.Never
	}
}
