package line

import (
	"time"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// OpenEvent is an event that is stored and does not count, or that is in conflict
// with another.
type OpenEvent struct {
	Number     phone.Number
	Seq        int64
	Outcome    Outcome
	Hold       Hold
	Network    numbering.Network
	ReportedAt time.Time
}

// Open returns the events of a history that do not count yet or are in conflict, by
// their outcomes.
func (h *History) Open(n phone.Number, row *Row, outcomes []Outcome) (open []OpenEvent) {
	for i := range h.Events {
		e, o := &h.Events[i], outcomes[i]
		missing := e.Kind == Miss && row.DoubtAt != Never && InstantOf(e.ReportedAt) >= row.DoubtAt
		if o.Conflict() || o == Held || o == Pending || missing || o == HalfPort && h.Unmatched(outcomes, i) {
			open = append(open, OpenEvent{Number: n, Seq: e.Seq, Outcome: o, Hold: e.Hold, Network: e.Network, ReportedAt: e.ReportedAt})
		}
	}
	return open
}

// Unmatched reports whether half of a port is still missing its other half. It is
// not if the number was ported to the same network at that time or later: the
// clearing house reported the port, or the network reported its half twice.
func (h *History) Unmatched(outcomes []Outcome, half int) bool {
	for j := range h.Events {
		e := &h.Events[j]
		moved := outcomes[j] == Applied || outcomes[j] == Revived || outcomes[j] == SameNetwork
		if moved && e.Effective >= h.Events[half].Effective && e.Recipient() != 0 && e.Recipient() == h.Events[half].Recipient() {
			return false
		}
	}
	return true
}

// Recipient returns the network to which an event ports the number; 0 if the event
// is not about a port.
func (e *Event) Recipient() numbering.Network {
	switch e.Kind {
	case ClaimPort:
		return e.Network
	case ReleasePort, Port:
		return e.Peer
	default:
		return 0
	}
}
