package line

import (
	"cmp"
	"slices"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// port is a move of the number to another network: an event of the clearing house,
// or a claim and a release that have met.
type port struct {
	from      numbering.Network // 0 when the clearing house reported it, which names the recipient only
	to        numbering.Network
	last      *fact // the event, or the half that takes effect later
	first     *fact // the other half; nil for the clearing house
	counted   moment
	withdrawn bool // by both networks: only its signal stays
}

// meetHalves pairs claims with releases. Halves meet when the second is reported,
// unless the first was withdrawn by then.
func (f *fold) meetHalves() {
	var claims, releases []*fact
	for _, x := range f.facts {
		switch {
		case x.decided:
		case x.Kind == ClaimPort:
			claims = append(claims, x)
		case x.Kind == ReleasePort && (!x.Outside || f.prior.released[x.Seq]):
			releases = append(releases, x) // a release by somebody else must not use up the claim
		}
	}
	slices.SortFunc(claims, func(a, b *fact) int { return a.counted.compare(b.counted) })
	slices.SortFunc(releases, func(a, b *fact) int { return a.counted.compare(b.counted) })
	for _, r := range releases {
		for _, c := range claims {
			if c.port == nil && c.Network == r.Peer && c.Network != r.Network && f.meet(c, r) {
				f.pair(c, r)
				break
			}
		}
	}
}

// meet reports whether a claim and a release are two halves of one port.
func (f *fold) meet(claim, release *fact) bool {
	first, second := claim, release
	if byEffect(second, first) < 0 {
		first, second = second, first
	}
	if second.Effective > first.Effective.Add(meetingTime) || f.movedBetween(release, second) {
		return false
	}
	at := later(claim.counted, release.counted)
	return !slices.ContainsFunc(f.facts, func(v *fact) bool {
		counts := v.Kind == Void && !v.decided && !f.prior.overtaken[v.Seq]
		return counts && (v.Target == claim.Seq || v.Target == release.Seq) && v.counted.before(at)
	})
}

// movedBetween reports whether the number was ported between a release and the half
// that would complete it. Then the release is about an earlier stay with its network:
// otherwise it could be used against that network when the number has come back, or use
// up the claim that is about the next port.
func (f *fold) movedBetween(release, second *fact) bool {
	for seq := range f.prior.moved {
		if x := f.bySeq[seq]; x != nil && byEffect(release, x) < 0 && byEffect(x, second) < 0 {
			return true
		}
	}
	return false
}

func (f *fold) pair(claim, release *fact) {
	p := &port{from: release.Network, to: claim.Network, last: claim, first: release, counted: later(claim.counted, release.counted)}
	if byEffect(p.last, p.first) < 0 {
		p.last, p.first = p.first, p.last
	}
	claim.port, release.port = p, p
}

// listPorts lists the ports that count, in the order of their effect.
func (f *fold) listPorts() {
	f.ports = f.ports[:0]
	for _, x := range f.facts {
		switch {
		case x.Kind == Port && !x.decided:
			if x.port == nil {
				x.port = &port{to: x.Peer, last: x, counted: x.counted}
			}
			f.ports = append(f.ports, x.port)
		case x.port != nil && x.port.last == x && !x.decided && !x.port.first.decided:
			f.ports = append(f.ports, x.port)
		}
	}
	slices.SortStableFunc(f.ports, func(a, b *port) int { return byEffect(a.last, b.last) })
}

// donor is the network that lost the number by a port.
type donor struct {
	network numbering.Network
	unknown bool // nobody knows which network had the number: any that held its range may have
}

// takesFrom reports whether an operator lost the number by the port.
func (d donor) takesFrom(x *fact, to numbering.Network) bool {
	mayHaveServed := d.unknown && !x.Outside && x.Kind != ClaimPort
	return to != x.Network && (d.network == x.Network || mayHaveServed)
}

// yields returns Applied, or why an operator's event has no effect because of a port
// that took effect after it.
//
// The donor may not rewrite what it handed over: what it reports only when the port
// is known counts if it adds a change or a bar. Ends and new holders are
// superseded, and what lifts or undoes something is overtaken. An end shortly
// before the port is how donors deactivate a line that leaves them.
func (f *fold) yields(x *fact) Outcome {
	if x.Kind == GiveNotice && x.index != implied && f.mayReport(x) && f.churnOutcome(x) == Superseded {
		return Superseded // and not only its churn date: staff see it
	}
	if x.Authority != Operator || !x.Kind.endsOrRestarts() && !x.Kind.Lifts() {
		return Applied
	}
	if x.index != implied {
		f.found.counted[x.Seq] = f.countedAt(x)
	}
	if !f.mayReport(x) {
		return Applied
	}
	return f.lateOutcome(x, func(p *port) bool { return byEffect(p.last, x) > 0 })
}

// churnOutcome is yields for the churn date of a notice, which counts as an end.
func (f *fold) churnOutcome(notice *fact) Outcome {
	if notice.Until == Never {
		return Applied
	}
	end := *notice
	ending := *notice.Event
	ending.Kind, ending.Effective, ending.Day = End, notice.Until, false
	if end.Event = &ending; notice.Until > notice.Effective {
		end.order = -1 // before everything else of that second
	}
	return f.lateOutcome(&end, func(p *port) bool { return p.last.Effective >= notice.Until })
}

// lateOutcome is yields for an event before the ports that after selects.
func (f *fold) lateOutcome(x *fact, after func(*port) bool) Outcome {
	counted, grace := f.countedAt(x), x.Effective.Add(EndGrace)
	var next *port // the first that takes the number away, or would if it were not blacklisted
	for _, p := range f.ports {
		if !after(p) {
			continue
		}
		from, moved := f.prior.moved[p.last.Seq]
		if moved && from.takesFrom(x, p.to) && p.counted.before(counted) {
			switch {
			case x.Kind.Lifts():
				return Overtaken
			case x.Kind == End && p.last.Effective <= grace && !f.restarts(x, p, false):
				return GaveWay
			default:
				return Superseded
			}
		}
		if !moved {
			from, moved = f.prior.blocked[p.last.Seq]
		}
		if next == nil && moved && from.takesFrom(x, p.to) {
			next = p
		}
	}
	if x.Kind == End && next != nil && next.last.Effective <= grace && !f.restarts(x, next, true) {
		return GaveWay
	}
	return Applied
}

// restarts reports whether the same operator reported a new holder between an end and
// a port. With standing, a reinstatement is one, too, and only what was reported
// before the port counts.
func (f *fold) restarts(end *fact, p *port, standing bool) bool {
	return slices.ContainsFunc(f.line, func(y *fact) bool {
		again := y.Kind == Assign || y.Kind == Transfer || standing && y.Kind == Reinstate
		between := again && !y.decided && y.Network == end.Network && byEffect(end, y) < 0 && byEffect(y, p.last) < 0
		return between && (!standing || later(y.counted, f.prior.counted[y.Seq]).before(p.counted))
	})
}

// release returns the donor's half of a port.
func (p *port) release() *fact {
	if p.first.Kind == ReleasePort {
		return p.first
	}
	return p.last
}

// applyPort moves the number.
func (f *fold) applyPort(p *port) Outcome {
	if p.first != nil && f.State.Ongoing() && f.Network == p.from {
		f.found.released[p.release().Seq] = true
	}
	outcome := f.move(p)
	if p.first != nil && !p.first.decided {
		p.first.outcome = outcome
	}
	return outcome
}

func (f *fold) move(p *port) Outcome {
	at, outcome := p.last.Effective, Applied
	from := donor{network: cmp.Or(p.from, f.Network), unknown: p.first == nil && (f.Network == 0 || f.State == StateEnded)}
	switch {
	case f.State.Ongoing() && f.Network == p.to:
		return SameNetwork
	case !f.released(p):
		return Pending
	case f.State == StateEnded && f.BlackAt != Never:
		f.found.blocked[p.last.Seq] = from
		return Blocked
	case f.State == StateEnded:
		f.startTenure(p.last)
		outcome = Revived
	}
	if f.State != StateActive {
		f.State, f.StateSince = StateActive, at
		f.Bits &^= EndDay | EndContested
	}
	f.Network, f.PortAt, f.Until, f.served, f.churnGivesWay = p.to, at, Never, p.counted, false
	f.Bits = f.Bits.set(PortDay, p.last.Day)
	f.PortWindow = max(f.PortWindow, f.window(at, p.counted, f.terms(p.counted.at).PortDeadline))
	f.found.moved[p.last.Seq] = from
	return outcome
}

// released reports whether the network that released the number had it.
func (f *fold) released(p *port) bool {
	if p.first == nil {
		return true // the clearing house says so
	}
	release := p.release()
	if f.State.Ongoing() && f.Network != 0 {
		return f.Network == p.from
	}
	return !release.Outside
}

// halfPort returns the outcome of a claim or a release whose other half is
// missing, or will take effect later.
func (f *fold) halfPort(x *fact) Outcome {
	serving := f.State.Ongoing() && f.Network == x.Network
	if serving && x.Kind == ReleasePort {
		f.found.released[x.Seq] = true
	}
	switch {
	case x.Kind == ReleasePort && !serving && (f.State.Ongoing() && f.Network != 0 || x.Outside):
		return Pending
	case f.State == StateEnded:
		return NotInState
	case x.Kind == ClaimPort && serving:
		return SameNetwork
	default:
		return HalfPort
	}
}
