package line

import (
	"cmp"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// Facts is everything that the status of a number depends on, except the policy
// and the time.
type Facts struct {
	Row       Row                              // NoRow() when there is none
	Planned   bool                             // a numbering plan exists
	Allocated bool                             // the plan allocates the number's range
	Holder    numbering.Network                // to which the range is allocated
	Coverage  func(numbering.Network) Coverage // of a network's supply
}

// Signal is one condition that applies to a line now.
type Signal struct {
	Status    Status
	Since     Instant // Never when unknown
	Until     Instant // Never when it does not expire
	Source    Authority
	Level     Code // flags only
	Contested bool // its operator withdrew it, and it stays until its window ends
}

// Reason says why a line is UNALLOCATED or UNKNOWN.
type Reason string

// The reasons.
const (
	ReasonRange    Reason = "RANGE"     // the range is not allocated, or was withdrawn
	ReasonNumber   Reason = "NUMBER"    // a complete supply has never contained the number
	ReasonNoSupply Reason = "NO_SUPPLY" // no supply covers the number
	ReasonStale    Reason = "STALE"     // the supply of a required topic is older than the policy allows
	ReasonDisputed Reason = "DISPUTED"  // those who report about the line contradict each other
)

// View is the status of a line at a time, with the signals behind it.
type View struct {
	Status  Status
	Reason  Reason
	Network numbering.Network // 0 when unknown
	Signals []Signal          // in the order of precedence
}

// At computes the status of a line: a pure function of the facts, the policy and
// the time. Windows end by the clock, without a write.
func At(f *Facts, p *policy.Policy, at time.Time) View {
	v := View{Network: f.network(at), Signals: signals(&f.Row, p, InstantOf(at))}
	if v.Status = Leading(v.Signals).Status; v.Status != "" {
		return v
	}
	supply := f.supply(p, at)
	switch ongoing := f.Row.State.Ongoing(); {
	case f.Planned && !f.Allocated && ongoing:
		v.Status, v.Reason = Unknown, ReasonRange
	case f.Planned && !f.Allocated:
		v.Status, v.Reason = Unallocated, ReasonRange
	case supply.missing || !ongoing && !supply.complete:
		v.Status, v.Reason = Unknown, ReasonNoSupply
	case supply.stale:
		v.Status, v.Reason = Unknown, ReasonStale
	case ongoing && f.Row.inDoubt(InstantOf(at)) || !ongoing && f.Row.Bits.has(Claimed):
		v.Status, v.Reason = Unknown, ReasonDisputed
	case ongoing:
		v.Status = Normal
	default:
		v.Status, v.Reason = Unallocated, ReasonNumber
	}
	return v
}

// network returns the network that serves the number: that of its tenure, or else
// the one to which the range is allocated.
func (f *Facts) network(at time.Time) numbering.Network {
	_, ended := f.Row.endAt(InstantOf(at))
	switch {
	case f.Row.State.Ongoing() && !ended:
		return f.Row.Network
	case f.Allocated:
		return f.Holder
	default:
		return f.Row.Network
	}
}

// signals returns all signals that apply now, in the order of precedence.
func signals(r *Row, p *policy.Policy, now Instant) []Signal {
	all := &signalList{row: r, policy: p, now: now}
	churned := r.State == StateNoticed && r.Until != Never && now >= r.Until
	ended := r.State == StateEnded || churned
	end := r.StateSince
	if churned {
		end = r.Until
	}
	all.addBars(ended, end)
	if !ended {
		all.addFlag()
	} else {
		all.add(Signal{Status: Quarantined, Since: end, Until: Never, Source: Operator})
	}
	if r.State.Ongoing() && !churned {
		all.addChanges()
	}
	switch {
	case r.State == StateNoticed && !churned:
		all.add(Signal{Status: PendingChurn, Since: r.StateSince, Until: r.Until, Source: Operator})
	case r.State == StateParked:
		all.add(Signal{Status: Parked, Since: r.StateSince, Until: Never, Source: Operator})
	case r.State == StateInactive:
		all.add(Signal{Status: Inactive, Since: r.StateSince, Until: Never, Source: Operator})
	}
	return all.signals
}

// signalList collects the signals of a row.
type signalList struct {
	row     *Row
	policy  *policy.Policy
	now     Instant
	signals []Signal
}

func (l *signalList) add(s Signal) { l.signals = append(l.signals, s) }

// addBars adds the blacklisting and the bars. The regulator's bar on a holder stays
// for the rest after the end of the tenure, and that on the number until it is
// lifted; the operator's ends with the tenure.
func (l *signalList) addBars(ended bool, end Instant) {
	r := l.row
	if r.BlackAt != Never {
		l.add(Signal{Status: Blacklisted, Since: r.BlackAt, Until: Never, Source: Regulator})
	}
	if r.NumberBarAt != Never && (r.NumberBarUntil == Never || l.now < r.NumberBarUntil) {
		l.add(Signal{Status: Barred, Since: r.NumberBarAt, Until: r.NumberBarUntil, Source: Regulator})
	}
	until := r.HolderBarUntil
	if rested := end.Add(l.policy.Quarantine()); ended && (until == Never || until > rested) {
		until = rested
	}
	if r.HolderBarAt != Never && (until == Never || l.now < until) {
		l.add(Signal{Status: Barred, Since: r.HolderBarAt, Until: until, Source: Regulator})
	}
	if r.BarAt != Never && !ended {
		l.add(Signal{Status: Barred, Since: r.BarAt, Until: Never, Source: Operator})
	}
}

// addFlag adds the gravest flag that is in force.
func (l *signalList) addFlag() {
	for _, f := range []struct {
		at    Instant
		level Code
	}{{l.row.VeryHighAt, LevelVeryHigh}, {l.row.HighAt, LevelHigh}, {l.row.MediumAt, LevelMedium}} {
		if until := f.at.Add(l.policy.Flagged()); f.at != Never && l.now < until {
			l.add(Signal{Status: Flagged, Since: f.at, Until: until, Source: Sector, Level: f.level})
			return
		}
	}
}

// addChanges adds the changes of holder, SIM and network whose windows run.
func (l *signalList) addChanges() {
	r := l.row
	change := func(s Status, at Instant, window time.Duration, by Authority, contested bool) {
		if until := at.Add(window); at != Never && l.now < until {
			l.add(Signal{Status: s, Since: at, Until: until, Source: by, Contested: contested})
		}
	}
	holder := Recycled
	if r.Bits.has(FirstHolder) {
		holder = New
	}
	change(holder, r.Tenure, l.policy.Recycled(), Operator, false)
	change(Recycled, r.ContestedTenure, l.policy.Recycled(), Operator, true)
	change(Swapped, r.SIM, l.policy.Swapped(), Operator, false)
	change(Swapped, r.ContestedSIM, l.policy.Swapped(), Operator, true)
	// A port brings a new SIM. This signal belongs to the port, so that it never
	// becomes the status itself.
	change(Swapped, r.PortAt, l.policy.Ported(), ClearingHouse, false)
	change(Ported, r.PortAt, l.policy.Ported(), ClearingHouse, false)
}

// Severity tells how grave the status of a row is, apart from what its supply covers: the greater, the graver.
func Severity(r *Row, p *policy.Policy, now Instant) int {
	lead := Leading(signals(r, p, now)).Status
	return len(Statuses) - slices.Index(Statuses, cmp.Or(lead, Normal))
}

// Leading returns the signal that gives a line its status, or the zero signal: the
// first one, except that among a new tenure, a new SIM and a new network the most
// recent wins.
func Leading(all []Signal) (first Signal) {
	for _, s := range all {
		change := s.Status == Recycled || s.Status == Ported || s.Status == Swapped
		switch {
		case s.Status == New, s.Status == Swapped && s.Source == ClearingHouse:
		case first.Status == "":
			first = s
		case change && (first.Status == Recycled || first.Status == Ported || first.Status == Swapped) && s.Since > first.Since:
			first = s
		}
	}
	return first
}
