package line

import (
	"time"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/policy"
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
	Status Status
	Since  Instant // Never when unknown
	Until  Instant // Never when it does not expire
	Source Authority
	Level  Code // flags only
}

// Reason says why a line is UNALLOCATED or UNKNOWN.
type Reason string

// The reasons.
const (
	ReasonRange    Reason = "RANGE"     // the range is not allocated
	ReasonNumber   Reason = "NUMBER"    // a complete supply has never contained the number
	ReasonStale    Reason = "STALE"     // the supply is older than the policy allows
	ReasonNoSupply Reason = "NO_SUPPLY" // no supply covers the number
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
	now := InstantOf(at)
	v := View{Network: f.network(), Signals: signals(&f.Row, p, now)}
	if len(v.Signals) > 0 {
		v.Status = statusOf(v.Signals)
		return v
	}
	covered := Coverage{}
	if v.Network != 0 && f.Coverage != nil {
		covered = f.Coverage(v.Network)
	}
	stale := covered.Through.IsZero() || !at.Before(covered.Through.Add(p.Freshness()))
	switch {
	case f.Row.State.ongoing() && !stale:
		v.Status = Normal
	case f.Row.State.ongoing() && covered.Through.IsZero():
		v.Status, v.Reason = Unknown, ReasonNoSupply
	case f.Row.State.ongoing():
		v.Status, v.Reason = Unknown, ReasonStale
	case f.Planned && !f.Allocated:
		v.Status, v.Reason = Unallocated, ReasonRange
	case covered.CompleteSince.IsZero():
		v.Status, v.Reason = Unknown, ReasonNoSupply
	case stale:
		v.Status, v.Reason = Unknown, ReasonStale
	default:
		v.Status, v.Reason = Unallocated, ReasonNumber
	}
	return v
}

// network returns the network that serves the number: that of its tenure, or else
// the one to which the range is allocated.
func (f *Facts) network() numbering.Network {
	switch {
	case f.Row.State.ongoing():
		return f.Row.Network
	case f.Allocated:
		return f.Holder
	default:
		return f.Row.Network
	}
}

// signals returns all signals that apply now, in the order of precedence.
func signals(r *Row, p *policy.Policy, now Instant) []Signal {
	var all []Signal
	add := func(s Status, since, until Instant, source Authority) {
		all = append(all, Signal{Status: s, Since: since, Until: until, Source: source})
	}
	within := func(since Instant, window time.Duration) bool { return since != Never && now < since.Add(window) }

	if r.BlackAt != Never {
		add(Blacklisted, r.BlackAt, Never, Regulator)
	}
	ended := r.State == StateEnded
	if !ended {
		if r.OrderAt != Never {
			add(Barred, r.OrderAt, Never, Regulator)
		}
		if r.BarAt != Never {
			add(Barred, r.BarAt, Never, Operator)
		}
		if within(r.FlagAt, p.Flagged()) {
			add(Flagged, r.FlagAt, r.FlagAt.Add(p.Flagged()), Sector)
			all[len(all)-1].Level = r.FlagLevel
		}
	}
	churned := r.State == StateNoticed && r.Until != Never && now >= r.Until
	if ended {
		add(Quarantined, r.StateSince, Never, Operator)
	} else if churned {
		add(Quarantined, r.Until, Never, Operator) // since the announced date
	}
	if r.State.ongoing() {
		if within(r.Tenure, p.Recycled()) {
			add(Recycled, r.Tenure, r.Tenure.Add(p.Recycled()), Operator)
		}
		if within(r.SIM, p.Swapped()) {
			add(Swapped, r.SIM, r.SIM.Add(p.Swapped()), Operator)
		}
		if within(r.PortAt, p.Ported()) {
			// A port brings a new SIM. This signal belongs to the port, so that it
			// never becomes the status itself.
			add(Swapped, r.PortAt, r.PortAt.Add(p.Ported()), ClearingHouse)
			add(Ported, r.PortAt, r.PortAt.Add(p.Ported()), ClearingHouse)
		}
	}
	switch {
	case r.State == StateNoticed && !churned:
		add(PendingChurn, r.StateSince, r.Until, Operator)
	case r.State == StateParked:
		add(Parked, r.StateSince, Never, Operator)
	case r.State == StateInactive:
		add(Inactive, r.StateSince, Never, Operator)
	}
	return all
}

// statusOf selects the status from the signals: the first one, except that among
// a new tenure, a new SIM and a new network the most recent wins.
func statusOf(all []Signal) Status {
	first := all[0]
	for _, s := range all {
		change := s.Status == Recycled || s.Status == Ported || s.Status == Swapped && s.Source == Operator
		if (first.Status == Recycled || first.Status == Swapped || first.Status == Ported) && change {
			if s.Since > first.Since || first.Status == Swapped && first.Source == ClearingHouse {
				first = s
			}
		}
	}
	return first.Status
}
