package line

import (
	"slices"
	"time"
)

// applyEffect changes everything that an event changes except the state.
func (b *rowBuilder) applyEffect(x *fact) Outcome {
	e := x.Event
	switch e.Kind {
	case Assign, Transfer:
		if b.BlackAt != Never {
			return Blocked
		}
		if e.Kind == Assign {
			b.startTenure(x)
		} else {
			b.transfer(x)
		}
	case End:
		b.EndedAfter, b.Until = e.EndedAfter, Never
		b.Bits = b.Bits.set(EndContested, x.contested)
	case Reinstate:
		b.EndedAfter = Never
		b.Bits &^= EndContested
	case ChangeSIM:
		b.SIM = e.Effective
		b.SIMWindow = max(b.SIMWindow, b.simWindow(x))
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
			return NotFlagOwner
		}
		b.updateFlags()
	case Blacklist:
		b.BlackAt = e.Effective
	case Release:
		b.BlackAt = Never
	case GiveNotice:
		b.Until = e.Until
		b.StateSince = e.Effective // the latest notice counts
	case Use, Return, Park, Deactivate:
		b.Until = Never
	case Void, Confirm, Restate, Name, Miss, Port, ClaimPort, ReleasePort: // the fold deals with them
	}
	return Applied
}

// countedAt returns since when an event counts: what was reported before the port
// that brought the line to its network counts since that was reported.
func (b *rowBuilder) countedAt(x *fact) moment {
	if x.index == implied {
		return x.counted
	}
	return later(x.counted, b.served)
}

// simWindow returns from when the window of a SIM change runs.
func (b *rowBuilder) simWindow(x *fact) Instant {
	counted := b.countedAt(x)
	return b.window(x.Effective, counted, b.terms(counted.at).SIMDeadline)
}

// window returns from when the window of a change runs: from the change, or from
// its report if that was late. Lateness must not pay.
func (b *rowBuilder) window(at Instant, counted moment, deadline time.Duration) Instant {
	if counted.at.After(at.Time().Add(deadline)) {
		return InstantOf(counted.at)
	}
	return at
}

// bar applies a bar: the operator's, or one of the regulator's two. A second bar does
// not shorten the first.
func (b *rowBuilder) bar(x *fact) {
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
func (b *rowBuilder) startTenure(x *fact) {
	end := x.Effective
	if b.State == StateEnded {
		end = b.StateSince
	}
	rested := end.Add(b.terms(x.ReportedAt).Rest)
	if x.Effective >= rested || x.Hold != 0 {
		b.HolderBarAt, b.HolderBarUntil, b.HolderBarReason = Never, Never, 0
	} else if b.HolderBarAt != Never && (b.HolderBarUntil == Never || b.HolderBarUntil > rested) {
		b.HolderBarUntil = rested
	}
	first := x.First && b.State == StateNone
	b.newHolder(x)
	b.PortAt, b.PortWindow = Never, Never
	if x.Network != 0 && x.Network != b.Network {
		b.served = moment{}
	}
	b.Bits = b.Bits.set(FirstHolder, first) &^ PortDay
	b.flags = nil
	b.updateFlags()
}

// transfer starts a tenure on a line that goes on. Flags, the regulator's bars and
// the port pass to it: otherwise a new name would be enough to shed them.
func (b *rowBuilder) transfer(x *fact) {
	b.newHolder(x)
	b.Bits &^= FirstHolder
}

// newHolder sets what every new tenure changes.
func (b *rowBuilder) newHolder(x *fact) {
	b.Tenure, b.SIM, b.SIMWindow, b.Until, b.EndedAfter = x.Effective, Never, Never, Never, Never
	b.BarAt, b.BarReason = Never, 0
	b.ContestedTenure, b.ContestedSIM, b.ContestedSIMWindow, b.ContestedPort, b.ContestedPortWindow = Never, Never, Never, Never, Never
	unknown := x.index == implied && b.base != nil && b.base.Bits.has(SIMUnknown)
	b.Bits = (b.Bits&PortDay).set(TenureDay, x.Day).set(SIMUnknown, unknown)
}

// removeFlags removes the flags of one regulator; false when it has none.
func (b *rowBuilder) removeFlags(by int32) bool {
	before := len(b.flags)
	b.flags = slices.DeleteFunc(b.flags, func(other activeFlag) bool { return other.by == by })
	return len(b.flags) < before
}

// updateFlags writes the newest flag of each level into the row: the gravest that
// is in force is shown, and a lesser one when that has expired.
func (b *rowBuilder) updateFlags() {
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
