package linechange

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

// restatement returns the event by which a snapshot says something about a line.
func restatement(b *line.Baseline, by *Comparison) line.Event {
	e := by.event(line.Restate, by.AsOf)
	base := *b
	base.Import, base.AsOf = by.File.Import, by.AsOf
	e.Base = &base
	return e
}

// keepBaseline adds an event that keeps the baseline of a number without events,
// where its first event has a baseline of its own.
func (d *Comparison) keepBaseline(outside bool) {
	if d.Change.StoredHistory == nil && d.Change.Stored.Baseline != 0 && len(d.Change.NewEvents) == 0 {
		e := d.event(line.Restate, d.AsOf)
		e.Outside = outside
		d.add(e)
	}
}

// restate changes what the baseline says. A number that has none gets one.
func (d *Comparison) restate(change func(b *line.Baseline)) {
	events := slices.DeleteFunc(slices.Clone(d.Events), func(e line.Event) bool { return e.Kind == line.Restate && !e.Restates() })
	d.clear()
	i := slices.IndexFunc(events, func(e line.Event) bool { return e.Restates() })
	if i < 0 {
		base := d.Change.baseline()
		if base == nil {
			base = &line.Baseline{
				Network: d.File.Network, Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never, Until: line.Never,
				Bits: d.File.Bits & line.SIMUnknown,
			}
		}
		events, i = append([]line.Event{restatement(base, d)}, events...), 0
	}
	change(events[i].Base)
	d.keepBaseline(false)
	for _, e := range events {
		d.add(e)
	}
}

// baseline returns what the snapshots say about the number by now: its baseline, or
// the restatement that counts last. It is nil if none has had the number.
func (c *Change) baseline() *line.Baseline {
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, line.Forever)
	base := h.Base
	for i := range h.Events { // in the order of their reports
		if e := &h.Events[i]; e.Restates() && outcomes[i] == line.Applied {
			base = e.Base
		}
	}
	return base
}

// Two reports of one fact lie apart: the systems of two networks, and two systems of one network, do not agree to
// the second, and exports cut times to the hour or the day.
const (
	tolerance       = 24 * 60 * 60
	tolerableSIM    = 60 * 60       // a second swap within a day must not be lost
	holderAfterPort = 7 * tolerance // how far from a port its recipient may have the start of the holder who came with it
)

// sameTime reports whether two times are of one fact. Two dates must be the same.
func sameTime(a, b line.Instant, dates bool) bool {
	if a == line.Never || b == line.Never || dates {
		return a == b
	}
	return max(a, b)-min(a, b) <= tolerance
}

// sameTenure reports whether a line has the tenure of a row.
func sameTenure(r *line.Row, f *line.Baseline) bool {
	came := r.PortAt != line.Never && r.Network == f.Network && f.Tenure <= r.PortAt+holderAfterPort &&
		(r.Tenure != line.Never && f.Tenure > r.Tenure || f.Tenure >= r.PortAt-holderAfterPort)
	return f.Tenure == line.Never || sameTime(r.Tenure, f.Tenure, f.Bits&r.Bits&line.TenureDay != 0) || came
}

// sameSIM reports whether a line has the SIM of a row. A later SIM is another one, unless one of the two times is a date.
func sameSIM(r *line.Row, f *line.Baseline) bool {
	if f.Bits&line.SIMUnknown != 0 {
		return true
	}
	again := f.SIM > r.SIM && r.SIM != line.Never && f.SIM-r.SIM > tolerableSIM && (f.Bits|r.Bits)&line.SIMDay == 0
	if f.SIM != line.Never && sameTime(r.SIM, f.SIM, f.Bits&r.Bits&line.SIMDay != 0) && !again {
		return true
	}
	return r.Bits&line.SIMUnknown == 0 && !changesSIM(r, f.SIM, f.Bits) && !changesSIM(r, r.SIM, r.Bits)
}

// changesSIM reports whether a SIM came after the start of the tenure and after the port, each of which brings a SIM.
// Bits say whether its time is a date.
func changesSIM(r *line.Row, sim line.Instant, bits line.Bits) bool {
	after := func(at line.Instant, day line.Bits) bool {
		switch {
		case bits&line.SIMDay != 0:
			return sim-tolerance >= at // of a later date
		case r.Bits&day != 0:
			return sim > at
		default:
			return sim > at+tolerableSIM
		}
	}
	return sim != line.Never && after(r.Tenure, line.TenureDay) && after(r.PortAt, line.PortDay)
}

func (d *Comparison) sameTenure() bool { return sameTenure(&d.row, d.File) }
func (d *Comparison) sameSIM() bool    { return sameSIM(&d.row, d.File) }

// sameState reports whether the line has the state of the row. The one column of a
// file does not say whether a parked line is barred, nor whether a barred one is
// inactive.
func (d *Comparison) sameState() bool {
	r, f := &d.row, d.File
	ended := r.State == line.StateEnded
	switch {
	case f.State == line.StateEnded && ended && r.Network != f.Network:
		return true // when it ended is the other network's word
	case f.State == line.StateEnded && ended:
		latest := f.StateSince
		if f.Bits&line.EndDay != 0 {
			latest += tolerance - 1
		}
		inferred := r.EndedAfter != line.Never && latest > r.EndedAfter && f.StateSince <= r.StateSince
		return sameTime(f.StateSince, r.StateSince, f.Bits&r.Bits&line.EndDay != 0) || inferred || f.StateSince <= max(r.Tenure, r.PortAt) && r.StateSince <= max(r.Tenure, r.PortAt)+1
	case f.State == line.StateEnded || ended || r.State == line.StateNone:
		return false
	case f.State == line.StateNoticed && d.Dated && r.State == line.StateNoticed:
		return sameTime(r.Until, f.Until, false)
	case f.State == line.StateBarred:
		return r.BarAt != line.Never
	case f.State == line.StateActive:
		return r.State == line.StateActive && r.BarAt == line.Never
	default:
		return r.State == f.State
	}
}

// Matches reports whether a row of line_now is surely what a row of a snapshot says.
// Where it returns false the events of the number decide.
func Matches(r *line.Row, f *line.Baseline) bool {
	if !sameTenure(r, f) || !sameSIM(r, f) {
		return false
	}
	switch f.State {
	case line.StateBarred:
		return r.State == line.StateActive && r.BarAt != line.Never
	case line.StateEnded:
		return r.State == line.StateEnded && sameTime(r.StateSince, f.StateSince, f.Bits&r.Bits&line.EndDay != 0)
	case line.StateNoticed:
		return r.State == line.StateNoticed && r.Until == f.Until
	default:
		return r.State == f.State && r.BarAt == line.Never
	}
}
