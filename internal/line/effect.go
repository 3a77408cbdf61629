package line

import (
	"slices"

	"github.com/lineproof/lineproof/internal/numbering"
)

// effect writes what an event changes beside the state.
func (f *folding) effect(e *Event) Outcome {
	switch e.Kind {
	case Assign:
		if f.BlackAt != Never {
			return Blocked
		}
		f.begin(e.Effective)
	case End:
		f.After, f.Until = e.After, Never
	case Reinstate:
		f.After = Never
	case ChangeSIM:
		f.SIM = e.Effective
	case Port:
		f.move(e.Peer, e.Effective)
	case ClaimPort:
		return f.claim(e)
	case ReleasePort:
		return f.letGo(e)
	case Bar:
		if e.By == Regulator {
			f.OrderAt, f.OrderReason = e.Effective, e.Code
		} else {
			f.BarAt, f.BarReason = e.Effective, e.Code
		}
	case Unbar:
		if e.By == Regulator {
			f.OrderAt, f.OrderReason = Never, 0
		}
		f.BarAt, f.BarReason = Never, 0
	case Flag:
		f.flags = append(f.flags, suspicion{e.Effective, e.Code, e.Supplier})
		f.showFlag()
	case Unflag:
		if e.By == Regulator {
			f.flags = nil
		} else if !f.dropFlag(e.Supplier) {
			return NotTheirs
		}
		f.showFlag()
	case Blacklist:
		f.BlackAt = e.Effective
	case Release:
		f.BlackAt = Never
	case GiveNotice:
		f.Until = e.Until
		f.StateSince = e.Effective // the last notice counts
	case Use, Return, Park, Deactivate:
		f.Until = Never
	case Void:
	}
	return Applied
}

// begin starts a tenure: what belonged to the last one goes with it.
func (f *folding) begin(at Instant) {
	f.Tenure, f.SIM, f.PortAt, f.Until, f.After = at, Never, Never, Never, Never
	f.BarAt, f.OrderAt = Never, Never
	f.BarReason, f.OrderReason = 0, 0
	f.flags = nil
	f.showFlag()
	f.forgetPorts()
}

// move gives the number to another network.
func (f *folding) move(to numbering.Network, at Instant) {
	f.Network, f.PortAt, f.Until = to, at, Never
	f.forgetPorts()
}

// claim is one half of a port. Claims of several networks stand side by side:
// a false one must not keep the true one from being met.
func (f *folding) claim(e *Event) Outcome {
	if e.Network == f.Network {
		return NotInState // it is there already
	}
	if r := f.released; r.to == e.Network && (r.from == f.Network || f.State == StateNone) {
		return f.meet(r, e.Effective)
	}
	f.claims = append(f.claims, half{seq: e.Seq, to: e.Network})
	return HalfPort
}

// letGo is the other half: the holder of the number names the recipient.
func (f *folding) letGo(e *Event) Outcome {
	for _, c := range f.claims {
		if c.to == e.Peer {
			return f.meet(c, e.Effective)
		}
	}
	f.released = half{e.Seq, e.Network, e.Peer}
	return HalfPort
}

// meet moves the number at the later half of a port, given the earlier one.
func (f *folding) meet(first half, at Instant) Outcome {
	f.move(first.to, at)
	if f.State != StateActive {
		f.State, f.StateSince = StateActive, at
	}
	f.settled = first.seq
	return Applied
}

func (f *folding) forgetPorts() { f.claims, f.released = nil, half{} }

// dropFlag takes back what a regulator flagged; false when it did not.
func (f *folding) dropFlag(by int32) bool {
	had := len(f.flags)
	f.flags = slices.DeleteFunc(f.flags, func(other suspicion) bool { return other.by == by })
	return len(f.flags) < had
}

// showFlag writes the newest flag into the row. An older one of somebody else
// comes forth again when the newest is taken back.
func (f *folding) showFlag() {
	f.FlagAt, f.FlagLevel, f.FlagBy = Never, 0, 0
	if n := len(f.flags); n > 0 {
		last := f.flags[n-1]
		f.FlagAt, f.FlagLevel, f.FlagBy = last.at, last.level, last.by
	}
}
