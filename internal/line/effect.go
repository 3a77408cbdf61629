package line

import (
	"slices"

	"github.com/lineproof/lineproof/internal/numbering"
)

// applyEffect changes everything that an event changes except the state.
func (b *rowBuilder) applyEffect(e *Event) Outcome {
	switch e.Kind {
	case Assign:
		if b.BlackAt != Never {
			return Blocked
		}
		b.startTenure(e.Effective)
	case End:
		b.EndedAfter, b.Until = e.EndedAfter, Never
	case Reinstate:
		b.EndedAfter = Never
	case ChangeSIM:
		b.SIM = e.Effective
	case Port:
		b.moveTo(e.Peer, e.Effective)
	case ClaimPort:
		return b.claimPort(e)
	case ReleasePort:
		return b.releasePort(e)
	case Bar:
		if e.Authority == Regulator {
			b.OrderAt, b.OrderReason = e.Effective, e.Code
		} else {
			b.BarAt, b.BarReason = e.Effective, e.Code
		}
	case Unbar:
		if e.Authority == Regulator {
			b.OrderAt, b.OrderReason = Never, 0
		}
		b.BarAt, b.BarReason = Never, 0
	case Flag:
		b.flags = append(b.flags, activeFlag{e.Effective, e.Code, e.Supplier})
		b.updateFlagColumns()
	case Unflag:
		if e.Authority == Regulator {
			b.flags = nil
		} else if !b.removeFlags(e.Supplier) {
			return NotFlagOwner
		}
		b.updateFlagColumns()
	case Blacklist:
		b.BlackAt = e.Effective
	case Release:
		b.BlackAt = Never
	case GiveNotice:
		b.Until = e.Until
		b.StateSince = e.Effective // the latest notice counts
	case Use, Return, Park, Deactivate:
		b.Until = Never
	case Void:
	}
	return Applied
}

// startTenure starts a tenure and clears everything that belonged to the last one.
func (b *rowBuilder) startTenure(at Instant) {
	b.Tenure, b.SIM, b.PortAt, b.Until, b.EndedAfter = at, Never, Never, Never, Never
	b.BarAt, b.OrderAt = Never, Never
	b.BarReason, b.OrderReason = 0, 0
	b.flags = nil
	b.updateFlagColumns()
	b.clearPortHalves()
}

// moveTo ports the number to another network.
func (b *rowBuilder) moveTo(to numbering.Network, at Instant) {
	b.Network, b.PortAt, b.Until = to, at, Never
	b.clearPortHalves()
}

// claimPort applies the claim of a port. Claims of several networks are kept at
// the same time: a false one must not prevent the match of the right one.
func (b *rowBuilder) claimPort(e *Event) Outcome {
	if e.Network == b.Network {
		return NotInState // the number is with that network already
	}
	if r := b.released; r.to == e.Network && (r.from == b.Network || b.State == StateNone) {
		return b.matchPort(r, e.Effective)
	}
	b.claims = append(b.claims, portHalf{seq: e.Seq, to: e.Network})
	return HalfPort
}

// releasePort applies the release of a port, in which the donor names the
// recipient.
func (b *rowBuilder) releasePort(e *Event) Outcome {
	for _, c := range b.claims {
		if c.to == e.Peer {
			return b.matchPort(c, e.Effective)
		}
	}
	b.released = portHalf{e.Seq, e.Network, e.Peer}
	return HalfPort
}

// matchPort ports the number when the later half of a port arrives; first is the
// earlier half.
func (b *rowBuilder) matchPort(first portHalf, at Instant) Outcome {
	b.moveTo(first.to, at)
	if b.State != StateActive {
		b.State, b.StateSince = StateActive, at
	}
	b.matchedSeq = first.seq
	return Applied
}

func (b *rowBuilder) clearPortHalves() { b.claims, b.released = nil, portHalf{} }

// removeFlags removes the flags of one regulator; false when it has none.
func (b *rowBuilder) removeFlags(by int32) bool {
	before := len(b.flags)
	b.flags = slices.DeleteFunc(b.flags, func(other activeFlag) bool { return other.by == by })
	return len(b.flags) < before
}

// updateFlagColumns writes the newest flag into the row. When that is withdrawn,
// the row shows the next older flag of another regulator.
func (b *rowBuilder) updateFlagColumns() {
	b.FlagAt, b.FlagLevel, b.FlagBy = Never, 0, 0
	if n := len(b.flags); n > 0 {
		last := b.flags[n-1]
		b.FlagAt, b.FlagLevel, b.FlagBy = last.at, last.level, last.by
	}
}
