package linemodel

import (
	"cmp"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// inSecond is the order in which events of the same second apply, as
// docs/reference/line-events.md has it. It is written out again here because the
// model shares nothing with the code that it checks.
var inSecond = []line.Kind{
	line.End, line.Reinstate, line.Release, line.Assign, line.Transfer, line.Port, line.ReleasePort, line.ClaimPort, line.ChangeSIM,
	line.Return, line.Use, line.Deactivate, line.Park, line.GiveNotice, line.Unbar, line.Bar, line.Unflag, line.Flag, line.Blacklist,
}

func rankOf(k line.Kind) int {
	for i, other := range inSecond {
		if other == k {
			return i
		}
	}
	return len(inSecond)
}

// moment is a place in the order of reporting. The zero moment is before every
// report: it is that of a baseline.
type moment struct {
	at  time.Time
	seq int64
}

func (m moment) compare(o moment) int {
	return cmp.Or(m.at.Compare(o.at), cmp.Compare(m.seq, o.seq))
}

func (m moment) before(o moment) bool { return m.compare(o) < 0 }

func latest(ms ...moment) (l moment) {
	for _, m := range ms {
		if l.before(m) {
			l = m
		}
	}
	return l
}

func reported(e *line.Event) moment { return moment{e.ReportedAt, e.Seq} }

// aboutReports says whether an event is about other reports, and not about the line.
func aboutReports(k line.Kind) bool {
	return k == line.Void || k == line.Confirm || k == line.Restate || k == line.Name || k == line.Miss
}

func isNewHolder(k line.Kind) bool { return k == line.Assign || k == line.Transfer }

// lifts says whether a kind takes something back, so that the donor cannot report it
// once the port is known. A Void does so, too, and is looked at elsewhere.
func lifts(k line.Kind) bool {
	return k == line.Unbar || k == line.Use || k == line.Return || k == line.Reinstate
}

func isRunning(s line.State) bool {
	return s == line.StateActive || s == line.StateInactive || s == line.StateParked || s == line.StateNoticed
}

// allowedIn is the column "applies in" of the table of events.
func allowedIn(e *line.Event, s line.State) bool {
	if e.Authority == line.Regulator && (e.Kind == line.Unbar || e.Kind == line.Bar && e.Number) {
		return true
	}
	switch e.Kind {
	case line.Release, line.Assign, line.Port, line.Blacklist:
		return true
	case line.Reinstate:
		return s == line.StateEnded
	case line.Transfer:
		return isRunning(s)
	case line.Return:
		return s == line.StateNone || s == line.StateParked
	case line.Deactivate:
		return s == line.StateNone || s == line.StateActive
	case line.Use, line.Park, line.GiveNotice:
		return s != line.StateEnded && s != line.StateParked
	default:
		return s != line.StateEnded
	}
}

// stateAfter is the column "new state".
func stateAfter(e *line.Event, s line.State) line.State {
	switch e.Kind {
	case line.End:
		return line.StateEnded
	case line.Deactivate:
		return line.StateInactive
	case line.Park:
		return line.StateParked
	case line.GiveNotice:
		return line.StateNoticed
	case line.Reinstate, line.Assign, line.Transfer, line.Port, line.Return, line.Use:
		return line.StateActive
	default:
	}
	// The first event of an operator implies a tenure; half of a port does not.
	if s == line.StateNone && e.Authority == line.Operator && e.Kind != line.ClaimPort && e.Kind != line.ReleasePort {
		return line.StateActive
	}
	return s
}
