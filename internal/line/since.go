package line

import (
	"time"

	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// The values of changedSince.
const (
	Yes = "yes"
	No  = "no"
	// Uncertain is the answer when the supply does not cover the time.
	Uncertain = "unknown"
)

// Change is a part of a line that has changed.
type Change string

// The changes.
const (
	HolderChanged  Change = "HOLDER"
	SIMChanged     Change = "SIM"
	NetworkChanged Change = "NETWORK"
)

// Since is the answer to what has changed since a time.
type Since struct {
	Changed      string    // yes, no or unknown
	Changes      []Change  // of a yes
	KnownThrough time.Time // up to when everything that the answer needs was supplied; zero when it never was
}

// ChangedSince answers whether the holder, the SIM or the network of a line has
// changed after since. It is never no without evidence: every required topic must
// be fresh and cover the time from since to KnownThrough. It is unknown also where
// a change took place some time around since: on a date, or between two snapshots.
func ChangedSince(f *Facts, p *policy.Policy, since, at time.Time) Since {
	r, c := &f.Row, comparison{since: InstantOf(since), zone: p.Zone()}
	end, ended := r.endAt(InstantOf(at))
	switch {
	case !ended:
	case r.State == StateNoticed:
		c.end.at(c.since, end, end)
	case r.Bits.has(EndDay):
		_, last := DayBounds(end.Time().In(c.zone), c.zone)
		c.end.at(c.since, end, last)
	case r.EndedAfter != Never:
		c.end.at(c.since, r.EndedAfter+1, end)
	default:
		c.end.at(c.since, end, end)
	}
	c.holder.at(c.since, c.earliest(r, r.Tenure, TenureDay), r.Tenure)
	c.sim.at(c.since, c.earliest(r, r.SIM, SIMDay), r.SIM)
	c.network.at(c.since, c.earliest(r, r.PortAt, PortDay), r.PortAt)

	supply := f.supply(p, at)
	answer := Since{KnownThrough: supply.through}
	if c.holder.sure || c.end.sure {
		answer.Changes = append(answer.Changes, HolderChanged)
	}
	// A new holder has a new SIM, too, and so has a number that moved.
	if c.sim.sure || c.holder.sure || c.network.sure {
		answer.Changes = append(answer.Changes, SIMChanged)
	}
	if c.network.sure {
		answer.Changes = append(answer.Changes, NetworkChanged)
	}
	contested := max(r.ContestedTenure, r.ContestedSIM, r.ContestedPort)
	switch {
	case len(answer.Changes) > 0:
		answer.Changed = Yes
	case c.holder.maybe || c.end.maybe || c.sim.maybe || c.network.maybe || contested > c.since || r.State.Ongoing() && !ended && r.inDoubt(InstantOf(at)),
		!f.covers(p, &supply, since):
		answer.Changed = Uncertain
	default:
		answer.Changed = No
	}
	return answer
}

// endAt returns when the tenure ended, if it has by now: also by the churn date
// that was announced.
func (r *Row) endAt(now Instant) (Instant, bool) {
	if r.State == StateNoticed {
		return r.Until, r.Until != Never && now >= r.Until
	}
	return r.StateSince, r.State == StateEnded
}

// comparison compares the changes of a row with a time.
type comparison struct {
	since                     Instant
	zone                      *time.Location
	holder, end, sim, network verdict
}

// earliest returns the earliest time at which a change can have taken place: the
// change itself, or the start of its day.
func (c *comparison) earliest(r *Row, at Instant, day Bits) Instant {
	if at != Never && r.Bits.has(day) {
		return DayStart(at, c.zone)
	}
	return at
}

// verdict says whether a part of the line changed after a time.
type verdict struct{ sure, maybe bool }

// at adds a change that took place from earliest to latest.
func (v *verdict) at(since, earliest, latest Instant) {
	switch {
	case latest == Never || latest <= since:
	case earliest > since || earliest == latest:
		v.sure = true
	default:
		v.maybe = true
	}
}

// covers reports whether the supply of every required topic is fresh and covers
// the time since a date.
func (f *Facts) covers(p *policy.Policy, s *supplyState, since time.Time) bool {
	if s.missing || s.stale || !since.Before(s.through) {
		return false
	}
	r := &f.Row
	lifecycle, sim, ports := s.Lifecycle.KnownSince, s.SIM.KnownSince, s.Ports.KnownSince
	switch {
	case !r.State.Ongoing() && r.State != StateEnded:
		// A complete supply has never contained the number.
		lifecycle, sim = s.Lifecycle.CompleteSince, s.Lifecycle.CompleteSince
	case r.Bits.has(OwnSnapshot) && r.Tenure != Never:
		// The snapshot had the last change of holder and of SIM. That of a donor says
		// nothing about the time after the port.
		began := max(r.Tenure, r.PortAt).Time()
		lifecycle = earlier(lifecycle, began)
		if !s.Ports.CompleteSince.IsZero() { // the clearing house's base had the last port
			ports = earlier(ports, began)
		}
		if !r.Bits.has(SIMUnknown) {
			sim = earlier(sim, began)
		}
	}
	covered := func(from time.Time) bool { return !from.IsZero() && !since.Before(from) }
	return covered(lifecycle) && (p.SIMFreshness() == 0 || covered(sim)) && (p.PortFreshness(!s.Ports.CompleteSince.IsZero()) == 0 || covered(ports))
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
