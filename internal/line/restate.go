package line

import (
	"slices"
	"time"
)

// restatedTime is how long ago a change took place whose withdrawal by a file leaves nothing.
const restatedTime = 400 * 24 * time.Hour

// chooseBase sets the baseline that counts, the first or the last restatement of it, and returns the
// facts that it implies. A change that a restatement takes away or moves earlier leaves its signal,
// contested: a file can do no more than events.
func (f *fold) chooseBase() []*fact {
	f.base = f.history.Base
	var contested []*fact
	for _, x := range f.facts { // in the order in which they count
		if x.decided || !x.Restates() {
			continue
		}
		if !f.hasLine(x) {
			x.outcome = Waiting
			continue
		}
		restated := x.Base.over(f.base)
		contested = append(contested, f.base.leftBy(&restated, x.Effective)...)
		f.base = &restated
	}
	if f.base == nil {
		return contested
	}
	f.Bits |= f.base.Bits & SIMUnknown // beyond the events that it implies
	facts := f.base.facts()
	f.placeBase(facts)
	return append(facts, contested...)
}

// hasLine reports whether a restatement is by a network that has the line: that of
// the baseline, or the one to which the last port brought it.
func (f *fold) hasLine(x *fact) bool {
	placed := false
	for _, p := range f.ports {
		if p.Effective <= x.Effective {
			placed = p.Peer == x.Network
		}
	}
	base := f.history.Base
	return !x.Outside && (placed || base == nil || base.Network == x.Network)
}

// leftBy returns, marked as contested, the recent changes of holder and SIM that a baseline says and a later
// one takes away or moves earlier.
func (b *Baseline) leftBy(next *Baseline, at Instant) (left []*fact) {
	if b == nil {
		return nil
	}
	after := next.facts()
	for _, x := range b.facts() {
		recent := (x.Kind == Assign || x.Kind == ChangeSIM) && x.Effective.Add(restatedTime) > at
		if recent && !slices.ContainsFunc(after, func(y *fact) bool { return y.Kind == x.Kind && y.Effective >= x.Effective }) {
			x.decide(Voided)
			x.contested = true
			left = append(left, x)
		}
	}
	return left
}
