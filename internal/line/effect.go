package line

import "slices"

// applyEffect changes everything that an event changes except the state.
func (b *builder) applyEffect(x *fact) Outcome {
	e := x.Event
	switch e.Kind {
	case Assign, Transfer:
		if b.BlackAt != Never {
			return Blocked
		}
		if e.Kind == Assign {
			b.startTenure(x)
		} else {
			b.newHolder(x)
		}
	case End:
		b.end(x)
		b.EndedAfter, b.Until = e.EndedAfter, Never
	case Reinstate:
		b.EndedAfter = Never
		if b.ongoing != nil {
			b.takeBack(e.Effective, Applied)
		}
	case ChangeSIM:
		b.SIM = e.Effective
		b.Bits = b.Bits.set(SIMDay, e.Day) // what was not known about the time before stays so
	case Bar:
		b.bar(x)
	case Unbar:
		b.BarAt, b.BarReason = Never, 0
		if e.Authority == Regulator {
			b.HolderBarAt, b.HolderBarUntil, b.HolderBarReason = Never, Never, 0
			b.NumberBarAt, b.NumberBarUntil, b.NumberBarReason = Never, Never, 0
		}
	case Flag:
		b.flags = append(b.flags, activeFlag{e.Effective, e.Code, e.Supplier})
		b.updateFlags()
	case Unflag:
		if e.Authority == Regulator {
			b.flags = nil
		} else if !b.removeFlags(e.Supplier) {
			return NoEffect
		}
		b.updateFlags()
	case Blacklist:
		b.BlackAt = e.Effective
	case Release:
		b.BlackAt = Never
	case GiveNotice:
		b.Until = e.Until
		b.StateSince = e.Effective // the latest notice counts
	case Use, Park, Deactivate:
		b.Until = Never
	case Void, Confirm, Restate, Port, ClaimPort, ReleasePort: // dealt with before
	}
	return Applied
}

// bar applies a bar: the operator's, or one of the regulator's two. A second bar does
// not shorten the first.
func (b *builder) bar(x *fact) {
	until := x.Until
	if x.confirmed {
		until = Never
	}
	longer := func(at, former Instant) Instant {
		inForce := at != Never && (former == Never || x.Effective < former)
		switch {
		case until == Never || inForce && former == Never:
			return Never
		case inForce:
			return max(former, until)
		default:
			return until
		}
	}
	switch {
	case x.Authority == Operator:
		b.BarAt, b.BarReason = x.Effective, x.Code
	case x.Number:
		b.NumberBarAt, b.NumberBarUntil, b.NumberBarReason = x.Effective, longer(b.NumberBarAt, b.NumberBarUntil), x.Code
	default:
		b.HolderBarAt, b.HolderBarUntil, b.HolderBarReason = x.Effective, longer(b.HolderBarAt, b.HolderBarUntil), x.Code
	}
}

// startTenure starts a tenure and clears everything that belonged to the last one.
// The regulator's bar on the last holder stays until the rest is over, unless the
// regulator let the new holder have the number earlier.
func (b *builder) startTenure(x *fact) {
	end := x.Effective
	if b.State == StateEnded {
		end, b.Network = b.StateSince, 0 // the number went back to its range
	}
	rested := end.Add(b.terms(x.ReportedAt).Rest)
	if x.Effective >= rested || x.Hold != 0 {
		b.HolderBarAt, b.HolderBarUntil, b.HolderBarReason = Never, Never, 0
	} else if b.HolderBarAt != Never && (b.HolderBarUntil == Never || b.HolderBarUntil > rested) {
		b.HolderBarUntil = rested
	}
	first := x.First && b.State == StateNone
	b.newHolder(x)
	b.PortAt, b.ongoing = Never, nil
	b.Bits = b.Bits.set(FirstHolder, first) &^ PortDay
	b.flags = nil
	b.updateFlags()
}

// newHolder sets what every new tenure changes. Flags, the regulator's bars and the port of a line that
// goes on pass to it: otherwise a new name would be enough to shed them.
func (b *builder) newHolder(x *fact) {
	b.Tenure, b.SIM, b.Until, b.EndedAfter = x.Effective, Never, Never, Never
	b.BarAt, b.BarReason = Never, 0
	b.ContestedTenure, b.ContestedSIM, b.ContestedPort = Never, Never, Never
	unknown := x.index == implied && b.base != nil && b.base.Bits.has(SIMUnknown)
	b.Bits = (b.Bits&PortDay).set(TenureDay, x.Day).set(SIMUnknown, unknown)
}

// removeFlags removes the flags of one regulator; false when it has none.
func (b *builder) removeFlags(by int32) bool {
	before := len(b.flags)
	b.flags = slices.DeleteFunc(b.flags, func(other activeFlag) bool { return other.by == by })
	return len(b.flags) < before
}

// updateFlags writes the newest flag of each level into the row: the gravest that
// is in force is shown, and a lesser one when that has expired.
func (b *builder) updateFlags() {
	b.MediumAt, b.HighAt, b.VeryHighAt = Never, Never, Never
	for _, f := range b.flags {
		switch f.level {
		case LevelVeryHigh:
			b.VeryHighAt = max(b.VeryHighAt, f.at)
		case LevelHigh:
			b.HighAt = max(b.HighAt, f.at)
		default:
			b.MediumAt = max(b.MediumAt, f.at)
		}
	}
}
