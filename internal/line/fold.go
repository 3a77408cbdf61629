package line

import (
	"cmp"
	"slices"
	"time"
)

// Outcome is the effect that an event had on the row.
type Outcome uint8

// The outcomes.
const (
	Applied  Outcome = iota
	NoEffect         // it changes nothing in the state that the line had
	GaveWay          // an end shortly before a port, which continues the tenure
	Blocked          // the number was blacklisted
	Voided           // withdrawn by another event
	NotYet           // it takes effect after the time of the fold
	Waiting          // for a port to the network that reported it, or for the other half of a port
	Held             // it waits for the regulator to confirm it
)

const (
	// PortGrace is how far reports around a port may miss its time: an end by the donor before it gives
	// way to it, and what the recipient reports before it counts.
	PortGrace = 72 * time.Hour
	// slipTime is how soon a network withdraws a slip that leaves no mark.
	slipTime = time.Hour
)

// Terms are the numbers of the policy on which rows depend.
type Terms struct {
	Rest time.Duration // between two holders
}

// TermsAt returns the terms that were in effect at a time.
type TermsAt func(time.Time) Terms

// moment is a place in the order of reporting.
type moment struct {
	at  time.Time
	seq int64
}

func (m moment) compare(o moment) int { return cmp.Or(m.at.Compare(o.at), cmp.Compare(m.seq, o.seq)) }

// fact is an event on its way through the fold.
type fact struct {
	*Event

	index     int    // in the events of the history, or implied
	order     int    // among events of the same second
	counted   moment // since when it counts: its report, or its confirmation
	decided   bool   // outcome is final: it is withdrawn or held
	outcome   Outcome
	contested bool // withdrawn by its operator: its signal stays, marked
	confirmed bool
}

const implied = -1 // the index of a fact that a baseline implies

// decide sets the outcome of a fact that is not applied.
func (x *fact) decide(o Outcome) { x.outcome, x.decided = o, true }

// byAuthority reports whether an authority reported the fact, and no operator.
func (x *fact) byAuthority() bool { return x.Authority != Operator }

// fold computes the row of one number, in one pass over its history.
type fold struct {
	builder

	history *History
	facts   []*fact         // of events, in the order in which they count
	bySeq   map[int64]*fact // the same
	ports   []*fact         // that may move the number, in the order of their effect
	line    []*fact         // everything that may apply, in the order of effect
}

// Fold returns the row that results from a history, and the outcome of each event.
// The order in which the events are passed does not matter. Events that take
// effect after until are left out; pass [Forever] for all.
func Fold(h *History, terms TermsAt, until Instant) (Row, []Outcome) {
	f := newFold(h, terms)
	f.run(until)
	f.DoubtAt = earliest(f.DoubtAt, f.doubtOfHeld(until))
	outcomes := make([]Outcome, len(f.facts))
	for _, x := range f.facts {
		outcomes[x.index] = x.outcome
	}
	return f.Row, outcomes
}

func newFold(h *History, terms TermsAt) *fold {
	f := &fold{builder: builder{Row: NoRow(), terms: terms}, history: h, bySeq: make(map[int64]*fact, len(h.Events))}
	all := make([]fact, len(h.Events))
	f.facts = make([]*fact, len(h.Events))
	for i := range h.Events {
		x := &all[i]
		x.Event, x.index, x.order = &h.Events[i], i, orderOf[h.Events[i].Kind]
		x.counted = moment{x.ReportedAt, x.Seq}
		f.facts[i], f.bySeq[x.Seq] = x, x
	}
	slices.SortFunc(f.facts, func(a, b *fact) int { return a.counted.compare(b.counted) })
	for _, x := range f.facts {
		if of := f.bySeq[x.Target]; x.Kind == Confirm && of != nil && !of.confirmed {
			of.confirmed = true
			if of.Hold != 0 {
				of.counted = x.counted
			}
		}
	}
	slices.SortFunc(f.facts, func(a, b *fact) int { return a.counted.compare(b.counted) })
	return f
}

// run makes the pass.
func (f *fold) run(until Instant) {
	for _, x := range f.facts {
		if x.Hold != 0 && !x.confirmed {
			x.decide(Held)
		}
	}
	f.withdraw()
	f.arrange()
	for _, x := range f.line {
		switch {
		case x.Effective > until:
			if !x.decided {
				x.outcome = NotYet
			}
		case x.decided && x.contested:
			f.passChurnDate(x.Effective)
			f.contest(x)
		case x.decided:
		default:
			x.outcome = f.step(x)
		}
	}
	if until != Forever {
		f.passChurnDate(until)
	}
	f.finish()
}

// withdraw decides which events others void. The word of an authority stands; what only the
// operator withdraws later than a slip leaves its signal.
func (f *fold) withdraw() {
	for _, authorities := range []bool{true, false} {
		for _, v := range f.facts {
			t := f.bySeq[v.Target]
			if v.Kind != Void || v.decided || v.byAuthority() != authorities || t == nil {
				continue
			}
			leaves := (t.Kind == ChangeSIM || t.Kind.StartsTenure()) && v.Authority == Operator || t.Kind == Port && v.Authority != Regulator
			gone := t.outcome == Voided && !t.contested // by the regulator, which leaves nothing
			t.decide(Voided)
			t.contested = leaves && !gone && v.ReportedAt.After(t.ReportedAt.Add(slipTime)) && f.counted(t, v)
		}
	}
	for _, v := range f.facts {
		if t := f.bySeq[v.Target]; v.Kind == Void && v.outcome == Held && t != nil && t.outcome == Voided {
			v.decide(Voided) // nothing is left for staff to decide
		}
	}
}

// counted reports whether an event counted before it was withdrawn: it was not held, and its network had the line.
func (f *fold) counted(t, v *fact) bool {
	if t.Hold != 0 && !t.confirmed {
		return false
	}
	return !t.Outside || slices.ContainsFunc(f.facts, func(p *fact) bool {
		return p.Kind == Port && p.outcome != Voided && p.Peer == t.Network && p.counted.compare(v.counted) < 0
	})
}

// arrange puts everything that may apply in the order of its effect.
func (f *fold) arrange() {
	for _, x := range f.facts {
		if x.Kind == Port && !x.decided {
			f.ports = append(f.ports, x)
		}
	}
	slices.SortStableFunc(f.ports, byEffect)
	f.line = make([]*fact, 0, len(f.facts)+3)
	f.line = append(f.line, f.chooseBase()...)
	for _, x := range f.facts {
		if !x.Kind.aboutReports() {
			f.line = append(f.line, x)
		}
	}
	slices.SortStableFunc(f.line, byEffect)
}

// byEffect orders events by the time of their effect.
func byEffect(a, b *fact) int {
	return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.order, b.order), a.ReportedAt.Compare(b.ReportedAt), cmp.Compare(a.Seq, b.Seq))
}

// finish adds to the row what only the whole history shows.
func (f *fold) finish() {
	f.Version = int32(len(f.history.Events)) //nolint:gosec // a few
	if f.history.Base != nil {
		f.Version++
		f.Baseline = f.history.Base.Import
	}
	f.Bits = f.Bits.set(OwnSnapshot, f.base != nil && f.base.Network == f.Network)
	f.finishHalves()
	for _, x := range f.facts {
		if f.State == StateNone && x.Outside && x.outcome != Voided {
			f.Bits |= Claimed
		}
	}
	f.DoubtAt = f.doubtOfHalves()
}

// finishHalves gives the halves of a port its outcome. The void of one half waits for that of
// the other.
func (f *fold) finishHalves() {
	for _, met := range f.history.Met() {
		port := f.bySeq[met.Port.Seq]
		for _, half := range []*Event{met.Claim, met.Release} {
			if x := f.bySeq[half.Seq]; !x.decided && port.outcome != Voided {
				x.outcome = port.outcome
			}
			for _, v := range f.facts {
				if v.Kind == Void && v.Target == half.Seq && !v.byAuthority() && !v.decided && port.outcome != Voided {
					v.outcome = Waiting
				}
			}
		}
	}
}
