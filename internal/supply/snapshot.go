package supply

import (
	"github.com/lineproof/lineproof/internal/line"
)

// says reports whether a row, as of the snapshot's time, is what the snapshot
// says.
func says(r *line.Row, s *line.Baseline) bool {
	if r.Tenure != s.Tenure || s.State != line.StateEnded && renewed(r, s) {
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

// renewed reports whether the snapshot names another SIM than the row has. That
// of a tenure's first day is none, nor is that which came with a port.
func renewed(r *line.Row, s *line.Baseline) bool {
	return s.SIM > max(s.Tenure, r.PortAt) && s.SIM != r.SIM
}

// derive returns the events that lead from a row, as of the snapshot's time, to
// what the snapshot says: only what changes becomes an event.
func derive(r line.Row, s *line.Baseline, asOf line.Instant) []line.Event {
	var events []line.Event
	tell := func(k line.Kind, at line.Instant, code line.Code) {
		e := line.Event{Kind: k, Effective: at, By: line.Operator, Network: s.Network, Code: code, Until: line.Never, After: line.Never}
		events = append(events, e)
	}
	// A state that began before what we know of it is told as of the moment after.
	when := func(at, known line.Instant) line.Instant {
		if known != line.Never && at <= known {
			at = known + 1
		}
		return min(at, asOf)
	}
	// Before a port the number was not the operator's to speak of.
	state, since, bar := r.State, max(r.StateSince, r.PortAt), r.BarAt
	if s.Tenure != r.Tenure {
		tell(line.Assign, s.Tenure, 0)
		if s.Tenure > since || s.Tenure == since && state == line.StateEnded || state == line.StateNone {
			state, since = line.StateActive, s.Tenure
		}
		if s.Tenure > bar {
			bar = line.Never // it went with the tenure
		}
	}
	want := s.State
	if renewed(&r, s) && (want != line.StateEnded || state != want && s.SIM < when(s.StateSince, since)) {
		tell(line.ChangeSIM, s.SIM, 0)
	}
	if want == line.StateBarred {
		want = line.StateActive
	}
	if want != state {
		at := when(s.StateSince, since)
		// The machine knows no way from every state to every other: first back
		// into use, in the same second.
		switch {
		case want == line.StateEnded:
		case state == line.StateEnded && renewed(&r, s) && s.SIM >= since:
			tell(line.Reinstate, min(at, s.SIM), 0) // the SIM was the holder's again
		case state == line.StateEnded:
			tell(line.Reinstate, at, 0)
		case state == line.StateParked:
			tell(line.Return, at, 0)
		case state == line.StateInactive, state == line.StateNoticed:
			tell(line.Use, at, 0)
		}
		switch want {
		case line.StateInactive:
			tell(line.Deactivate, at, 0)
		case line.StateParked:
			tell(line.Park, at, 0)
		case line.StateNoticed:
			tell(line.GiveNotice, at, 0)
		case line.StateEnded:
			tell(line.End, at, line.ReasonChurned)
		case line.StateNone, line.StateActive, line.StateBarred:
		}
	}
	began := r.PortAt
	if state == line.StateEnded {
		began = since
	}
	switch {
	case s.State == line.StateBarred && bar == line.Never:
		tell(line.Bar, when(s.StateSince, began), line.ReasonOther)
	case s.State != line.StateBarred && s.State != line.StateEnded && bar != line.Never:
		tell(line.Unbar, when(s.StateSince, max(bar, began)), 0)
	}
	return events
}
