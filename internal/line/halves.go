package line

import (
	"slices"
	"time"
)

// meetingTime is how far apart the two halves of a port may take effect.
const meetingTime = 30 * 24 * time.Hour

// IsHalf reports whether the kind is half of a port: together with the other half, and only then, it
// moves the number.
func (k Kind) IsHalf() bool { return k == ClaimPort || k == ReleasePort }

// Halves are the two halves of a port that two networks reported.
type Halves struct{ Claim, Release, Port *Event }

// Met returns the halves of the number that have met, each with the port that they made. A port
// names its release; its claim is the earliest reported one that fits.
func (h *History) Met() (all []Halves) {
	var ports []*Event
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == Port && e.Authority == Operator {
			ports = append(ports, e)
		}
	}
	slices.SortFunc(ports, func(a, b *Event) int { return int(min(max(a.Seq-b.Seq, -1), 1)) })
	used := map[int64]bool{}
	for _, p := range ports {
		met := Halves{Port: p}
		for i := range h.Events {
			if x := &h.Events[i]; x.Seq == p.Target {
				met.Release = x
			}
		}
		for i := range h.Events {
			x := &h.Events[i]
			fits := met.Release != nil && x.Kind == ClaimPort && x.Seq < p.Seq && !used[x.Seq] && completes(x, met.Release) &&
				max(x.Effective, met.Release.Effective) == p.Effective
			if fits && (met.Claim == nil || x.Seq < met.Claim.Seq) {
				met.Claim = x
			}
		}
		if met.Claim != nil {
			used[met.Claim.Seq], used[met.Release.Seq] = true, true
			all = append(all, met)
		}
	}
	return all
}

// completes reports whether a claim and a release can be the halves of one port.
func completes(claim, release *Event) bool {
	first, second := min(claim.Effective, release.Effective), max(claim.Effective, release.Effective)
	return claim.Network == release.Peer && claim.Network != release.Network && second <= first.Add(meetingTime)
}

// Meet returns the halves that meet now: of those that count and have not met, the release that was
// reported first and whose network had the number, with the earliest claim that fits. Between the
// release and the half that completes it the number was not ported.
func (h *History) Meet(terms TermsAt, outcomes []Outcome) (met Halves, ok bool) {
	done := map[int64]bool{}
	for _, m := range h.Met() {
		done[m.Claim.Seq], done[m.Release.Seq] = true, true
	}
	var claims, releases []*Event
	for i := range h.Events {
		x := &h.Events[i]
		if !x.Kind.IsHalf() || done[x.Seq] || outcomes[i] == Voided || outcomes[i] == Held {
			continue
		}
		if x.Kind == ClaimPort {
			claims = append(claims, x)
		} else {
			releases = append(releases, x)
		}
	}
	for _, r := range releases {
		if len(claims) == 0 || !h.mayRelease(r, terms) {
			continue
		}
		for _, c := range claims {
			if completes(c, r) && !h.movedBetween(r, max(c.Effective, r.Effective), outcomes) {
				return Halves{Claim: c, Release: r}, true
			}
		}
	}
	return Halves{}, false
}

// mayRelease reports whether the network that releases a number had it, or had ended its tenure shortly before.
func (h *History) mayRelease(r *Event, terms TermsAt) bool {
	row, _ := Fold(h, terms, r.Effective)
	ended := row.State == StateEnded && row.Network == r.Network && r.Effective <= row.StateSince.Add(PortGrace)
	if row.State.Ongoing() && row.Network != 0 || ended {
		return row.Network == r.Network
	}
	return !r.Outside
}

// movedBetween reports whether the number was ported after a release and not later than an instant. Then
// the release is about an earlier stay with its network.
func (h *History) movedBetween(r *Event, until Instant, outcomes []Outcome) bool {
	for i := range h.Events {
		p := &h.Events[i]
		if p.Kind == Port && outcomes[i] == Applied && p.Effective >= r.Effective && p.Effective < until {
			return true
		}
	}
	return false
}

// Event returns the port that the halves make.
func (m *Halves) Event() Event {
	later := m.Claim
	if m.Release.Effective > m.Claim.Effective {
		later = m.Release
	}
	return Event{
		Kind: Port, Authority: Operator, Network: m.Release.Network, Peer: m.Claim.Network, Effective: later.Effective, Day: later.Day,
		Until: Never, EndedAfter: Never, Target: m.Release.Seq,
	}
}
