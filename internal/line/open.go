package line

import (
	"time"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// OpenEvent is an event that is stored and does not count yet.
type OpenEvent struct {
	Number     phone.Number
	Seq        int64
	Outcome    Outcome
	Half       bool // it is half of a port, or the void of one
	Hold       Hold
	Network    numbering.Network
	ReportedAt time.Time
}

// Open returns the events of a history that do not count yet, by their outcomes.
func (h *History) Open(n phone.Number, outcomes []Outcome) (open []OpenEvent) {
	for i := range h.Events {
		e, o := &h.Events[i], outcomes[i]
		if o == Held || o == Waiting && (!e.Kind.IsHalf() || h.Unmatched(outcomes, i)) {
			open = append(open, OpenEvent{
				Number: n, Seq: e.Seq, Outcome: o, Half: e.isHalfOfPort(o), Hold: e.Hold, Network: e.Network,
				ReportedAt: e.ReportedAt,
			})
		}
	}
	return open
}

// isHalfOfPort reports whether an open event is half of a port that its network may report, or the void of such a half.
func (e *Event) isHalfOfPort(o Outcome) bool {
	return o == Waiting && (e.Kind == ClaimPort || e.Kind == ReleasePort && !e.Outside || e.Kind == Void)
}

// Unmatched reports whether half of a port is still missing its other half. It is
// not if the number was ported to the same network at that time or later: the
// clearing house reported the port, or the network reported its half twice.
func (h *History) Unmatched(outcomes []Outcome, half int) bool {
	for j := range h.Events {
		e := &h.Events[j]
		moved := e.Kind == Port && (outcomes[j] == Applied || outcomes[j] == NoEffect)
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
