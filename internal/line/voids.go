package line

import "cmp"

// byAuthority and byOperator tell who withdraws an event.
func (x *fact) byAuthority() bool { return x.Authority != Operator }
func (x *fact) byOperator() bool  { return x.Authority == Operator }

// decideVoids withdraws the events that others void. The word of an authority
// stands. What an operator voids may be beyond its power: half of a port that took
// effect, or what it handed over by a port.
func (f *fold) decideVoids(by func(*fact) bool) {
	for _, v := range f.facts {
		if v.Kind != Void || v.decided || !by(v) {
			continue
		}
		t := f.bySeq[v.Target]
		if t == nil {
			continue
		}
		if v.byAuthority() {
			t.decide(Voided)
			continue
		}
		gone := t.outcome == Voided // by an authority, which leaves nothing
		if v.outcome = f.withdraw(v, t); v.outcome == Applied {
			t.decide(Voided)
			t.voidedAt = v.counted
			counted := t.Hold == 0 || t.confirmed
			t.contested = !gone && counted && (t.Kind == ChangeSIM || t.Kind == Assign || t.Kind == Transfer || t.port != nil && t.port.withdrawn)
		} else if v.outcome == Overtaken {
			f.found.overtaken[v.Seq] = true
		}
	}
}

// dropHeldVoids decides the held voids of events that an authority has withdrawn:
// nothing is left for staff to decide.
func (f *fold) dropHeldVoids() {
	for _, v := range f.facts {
		if t := f.bySeq[v.Target]; v.Kind == Void && v.outcome == Held && t != nil && t.outcome == Voided {
			v.decide(Voided)
		}
	}
}

// withdraw returns whether an operator's void v of t counts.
func (f *fold) withdraw(v, t *fact) Outcome {
	met := t.port != nil && t.port.first != nil
	if !met || !t.port.counted.before(v.counted) {
		for _, p := range f.ports {
			from, moved := f.prior.moved[p.last.Seq]
			earlier := cmp.Or(cmp.Compare(t.Effective, p.last.Effective), cmp.Compare(t.order, p.last.order)) < 0
			if moved && earlier && from.takesFrom(t, p.to) && p.counted.before(v.counted) {
				return Overtaken
			}
		}
	}
	if !met {
		return Applied
	}
	other := t.port.first
	if other == t {
		other = t.port.last
	}
	if !f.voidedByOperator(other) {
		return Locked
	}
	t.port.withdrawn = true
	return Applied
}

// voidedByOperator reports whether the operator of an event has voided it, also
// where that does not count yet.
func (f *fold) voidedByOperator(t *fact) bool {
	for _, v := range f.facts {
		if v.Kind == Void && v.Target == t.Seq && v.byOperator() && !v.decided && !f.prior.overtaken[v.Seq] {
			return true
		}
	}
	return false
}

// endVoided reports whether the operator of an end wants to withdraw it, and the
// regulator has not decided yet.
func (f *fold) endVoided(end *fact) bool {
	for _, v := range f.facts {
		if v.Kind == Void && v.Target == end.Seq && end.index != implied && v.outcome == Held {
			return true
		}
	}
	return false
}

// contest keeps the signal of a change that its operator withdrew. Otherwise a
// swap could be made to disappear while its window runs.
func (f *fold) contest(x *fact) {
	row := f.Row
	f.passChurnDate(x.Effective)
	counted := x.port == nil && f.wouldApply(x) && f.yields(x) == Applied && f.countedAt(x).before(x.voidedAt) || x.port != nil && x.port.last == x && f.wouldMove(x.port)
	f.Row = row // what is withdrawn changes nothing but the signal
	if !counted {
		return
	}
	f.Newest = max(f.Newest, x.Effective)
	switch {
	case x.port != nil:
		f.ContestedPort = max(f.ContestedPort, x.Effective)
		f.ContestedPortWindow = max(f.ContestedPortWindow, f.window(x.Effective, x.port.counted, f.terms(x.port.counted.at).PortDeadline))
	case x.Kind == ChangeSIM:
		f.ContestedSIM = max(f.ContestedSIM, x.Effective)
		f.ContestedSIMWindow = max(f.ContestedSIMWindow, f.simWindow(x))
	default:
		f.ContestedTenure = max(f.ContestedTenure, x.Effective)
	}
}

// wouldApply and wouldMove report whether a withdrawn change or port would have had
// an effect.
func (f *fold) wouldApply(x *fact) bool {
	newTenure := x.Kind == Assign || x.Kind == Transfer
	return f.mayReport(x) && x.applies(f.State) && (!newTenure || f.BlackAt == Never)
}

func (f *fold) wouldMove(p *port) bool {
	return (!f.State.Ongoing() || f.Network != p.to) && f.released(p) && (f.State != StateEnded || f.BlackAt == Never)
}
