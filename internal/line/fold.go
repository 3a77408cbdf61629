package line

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Outcome is the effect that an event had on the row.
type Outcome uint8

// The outcomes. Those of a conflict need a decision by staff.
const (
	Applied      Outcome = iota
	NotInState           // the event does not apply in the state that the tenure had
	Pending              // the reporting operator did not serve the line then; it may turn out that it did
	Blocked              // the number was blacklisted
	NotFlagOwner         // the flag belongs to another sector regulator
	HalfPort             // the claim or release that completes the port is missing
	SameNetwork          // a port to the network that has the number already
	Voided               // withdrawn by another event
	NotYet               // it takes effect after the time of the fold
	Held                 // it waits for the regulator to confirm it
	GaveWay              // an end shortly before a port, which continues the tenure
	Superseded           // an end or a new holder that the donor reported when the port was known: conflict
	Overtaken            // the donor would lift or undo something after the port was known: conflict
	Locked               // withdraws half of a port that took effect; the other network must, too: conflict
	Revived              // a port of a number whose tenure had ended long before: a new tenure, and a conflict
)

// Conflict reports whether the outcome contradicts what somebody else reported, so
// that staff should look at it.
func (o Outcome) Conflict() bool { return o >= Superseded }

const (
	// EndGrace is how long before a port an end may lie that gives way to it: the
	// donor often deactivates the line before the clearing house reports the port.
	EndGrace = 72 * time.Hour
	// meetingTime is how far apart the two halves of a port may take effect.
	meetingTime = 30 * 24 * time.Hour
)

// Terms are the numbers of the policy on which rows depend.
type Terms struct {
	SIMDeadline, PortDeadline time.Duration // how soon after its effect a change must be reported
	Rest                      time.Duration // between two holders
}

// TermsAt returns the terms that were in effect at a time.
type TermsAt func(time.Time) Terms

// moment is a place in the order of reporting.
type moment struct {
	at  time.Time
	seq int64
}

func (m moment) compare(o moment) int { return cmp.Or(m.at.Compare(o.at), cmp.Compare(m.seq, o.seq)) }

func (m moment) before(o moment) bool { return m.compare(o) < 0 }

func later(a, b moment) moment {
	if a.before(b) {
		return b
	}
	return a
}

// fact is an event on its way through the fold.
type fact struct {
	*Event

	index     int    // in the events of the history, or implied
	order     int    // among events of the same second
	counted   moment // since when it counts: its report, or its confirmation
	decided   bool   // outcome is final: it is withdrawn or held
	outcome   Outcome
	contested bool   // withdrawn by its operator: its signal stays, marked
	voidedAt  moment // when it was withdrawn
	confirmed bool
	port      *port // that it completes
}

const implied = -1 // the index of a fact that a baseline implies

// decide sets the outcome of a fact that is not applied.
func (x *fact) decide(o Outcome) { x.outcome, x.decided = o, true }

// reported returns the moment of the report.
func (x *fact) reported() moment { return moment{x.ReportedAt, x.Seq} }

// fold computes the row of one number, in one pass over its history.
type fold struct {
	rowBuilder

	facts []*fact         // of events, in the order of their reports
	bySeq map[int64]*fact // the same
	ports []*port         // that may move the number, in the order of their effect
	line  []*fact         // everything that may apply, in the order of effect
	prior *findings       // of the pass before; none in the first
	found findings
}

// findings are what one pass learns that the next one must know from its start: an
// event gives way to a port that takes effect after it.
type findings struct {
	moved     map[int64]donor  // the ports that moved the number, by the seq of their last event
	blocked   map[int64]donor  // the ports that a blacklisting prevented
	counted   map[int64]moment // since when each end and each new holder counts
	released  map[int64]bool   // the releases of networks that had the number
	overtaken map[int64]bool   // the voids that a port has overtaken
	placed    map[int64]moment // the restatements of networks to which a port brought the line, and since when it was known
}

func noFindings() findings {
	return findings{moved: map[int64]donor{}, blocked: map[int64]donor{}, counted: map[int64]moment{}, released: map[int64]bool{}, overtaken: map[int64]bool{}, placed: map[int64]moment{}}
}

func (a *findings) equal(b *findings) bool {
	return maps.Equal(a.moved, b.moved) && maps.Equal(a.blocked, b.blocked) && maps.Equal(a.counted, b.counted) && maps.Equal(a.released, b.released) && maps.Equal(a.overtaken, b.overtaken) && maps.Equal(a.placed, b.placed)
}

// maxPasses bounds the passes over histories whose reports depend on each other in a
// circle, of which some have no result. Two are usual where there is a port.
const maxPasses = 24

// Fold returns the row that results from a history, and the outcome of each event.
// The order in which the events are passed does not matter. Events that take
// effect after until are left out; pass [Forever] for all.
func Fold(h *History, terms TermsAt, until Instant) (Row, []Outcome) {
	prior := noFindings()
	for pass := 1; ; pass++ {
		f := &fold{rowBuilder: rowBuilder{Row: NoRow(), terms: terms}, prior: &prior, found: noFindings()}
		f.run(h, until)
		if pass == maxPasses || !h.needsPasses() || prior.equal(&f.found) {
			return f.result(h)
		}
		if pass < maxPasses/3 || !f.learnLastMove() {
			prior = f.found
		}
	}
}

// learnLastMove changes, in the findings of the pass before, only the last port about
// which this pass disagrees, and reports whether there is one. Where reports depend on
// each other in a circle, learning everything at once can miss the result again and again.
func (f *fold) learnLastMove() bool {
	for _, p := range slices.Backward(f.ports) {
		was, before := f.prior.moved[p.last.Seq]
		is, now := f.found.moved[p.last.Seq]
		switch {
		case before == now && was == is:
			continue
		case now:
			f.prior.moved[p.last.Seq] = is
		default:
			delete(f.prior.moved, p.last.Seq)
		}
		return true
	}
	return false
}

// needsPasses reports whether the history has anything that works backwards.
func (h *History) needsPasses() bool {
	backwards := []Kind{Port, ClaimPort, ReleasePort, Restate}
	return slices.ContainsFunc(h.Events, func(e Event) bool { return slices.Contains(backwards, e.Kind) })
}

// run makes one pass.
func (f *fold) run(h *History, until Instant) {
	f.collect(h)
	f.decideHolds()
	f.decideVoids((*fact).byAuthority)
	f.dropHeldVoids()
	f.meetHalves()
	f.listPorts()
	f.decideVoids((*fact).byOperator)
	f.listPorts() // without those that both networks withdrew
	base := f.givenBase(h)
	f.arrange(base)
	for _, x := range f.line {
		switch {
		case x.Effective > until:
			if !x.decided {
				x.outcome = NotYet
			}
		case x.decided && x.contested:
			f.contest(x)
		case x.decided:
		default:
			before := f.Row
			f.passChurnDate(x.Effective)
			if x.outcome = f.yields(x); x.outcome == Applied {
				x.outcome = f.apply(x)
			} else {
				f.Row = before // what has no effect does not show that the date has come
			}
		}
	}
	f.placeRestatements(base)
	if until != Forever {
		f.passChurnDate(until)
	}
}

// collect turns the events into facts.
func (f *fold) collect(h *History) {
	all := make([]fact, len(h.Events))
	f.facts, f.bySeq = make([]*fact, len(h.Events)), make(map[int64]*fact, len(h.Events))
	for i := range h.Events {
		x := &all[i]
		x.Event, x.index, x.order = &h.Events[i], i, orderOf[h.Events[i].Kind]
		x.counted = x.reported()
		f.facts[i], f.bySeq[x.Seq] = x, x
	}
	slices.SortFunc(f.facts, func(a, b *fact) int { return a.counted.compare(b.counted) })
}

// decideHolds finds the events that are held, and those that a confirmation
// released: they count from the confirmation on.
func (f *fold) decideHolds() {
	for _, x := range f.facts {
		if x.Kind == Confirm {
			if of := f.bySeq[x.Target]; of != nil && !of.confirmed {
				of.confirmed = true
				if of.Hold != 0 {
					of.counted = x.counted
				}
			}
		}
	}
	for _, x := range f.facts {
		if x.Hold != 0 && !x.confirmed {
			x.decide(Held)
		}
	}
}

// arrange puts everything that may apply in the order of its effect.
func (f *fold) arrange(base *Baseline) {
	since := f.chooseBase(base)
	f.line = make([]*fact, 0, len(f.facts)+3)
	if f.base != nil {
		f.Bits |= f.base.Bits & SIMUnknown // beyond the events that it implies
		f.line = f.base.facts(f.line)
		f.placeBase()
		for i, x := range f.line {
			if x.Network == f.base.Network {
				x.counted = since[i]
			}
		}
	}
	for _, x := range f.facts {
		if x.Kind.aboutReports() {
			continue
		}
		x.contested = x.contested || x.Kind == End && !x.decided && f.endVoided(x)
		f.line = append(f.line, x)
	}
	slices.SortStableFunc(f.line, byEffect)
}

// byEffect orders events by the time of their effect.
func byEffect(a, b *fact) int {
	return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.order, b.order), a.ReportedAt.Compare(b.ReportedAt), cmp.Compare(a.Seq, b.Seq))
}

// result returns the row with what only the whole history shows, and the outcomes.
func (f *fold) result(h *History) (Row, []Outcome) {
	f.Version = int32(len(h.Events)) //nolint:gosec // a few
	if h.Base != nil {
		f.Version++
		f.Baseline = h.Base.Import
	}
	f.DoubtAt = f.doubt()
	f.Bits = f.Bits.set(OwnSnapshot, f.base != nil && f.base.Network == f.Network)
	outcomes := make([]Outcome, len(f.facts))
	for _, x := range f.facts {
		outcomes[x.index] = x.outcome
		if f.State == StateNone && x.Outside && x.outcome != Voided {
			f.Bits |= Claimed
		}
	}
	return f.Row, outcomes
}

// apply applies a fact that comes after all facts applied before.
func (f *fold) apply(x *fact) Outcome {
	f.Newest = max(f.Newest, x.Effective)
	switch {
	case x.port != nil && x.port.last == x:
		return f.applyPort(x.port)
	case x.Kind == ClaimPort || x.Kind == ReleasePort:
		return f.halfPort(x)
	}
	outcome := f.rowBuilder.apply(x)
	if x.Kind == GiveNotice && outcome == Applied {
		f.churnGivesWay = f.churnOutcome(x) != Applied
	}
	return outcome
}

// rowBuilder applies facts to a row. The fields beyond the row are needed only
// while the history is read.
type rowBuilder struct {
	Row

	terms         TermsAt
	base          *Baseline    // that counts: the first, or a restatement
	served        moment       // since when it counts that the network serves the line
	flags         []activeFlag // of this tenure, the newest last
	churnGivesWay bool         // the announced churn lies shortly before a port, which continues the tenure
}

// activeFlag is the flag of one sector regulator.
type activeFlag struct {
	at    Instant
	level Code
	by    int32
}

// apply applies an event that is not part of a port.
func (b *rowBuilder) apply(x *fact) Outcome {
	e := x.Event
	b.Newest = max(b.Newest, e.Effective)
	if !b.mayReport(x) {
		return Pending
	}
	if !e.applies(b.State) {
		return NotInState
	}
	if x.index == implied && e.Kind == Assign && b.State.Ongoing() && b.PortAt != Never && b.Network == e.Network && b.BlackAt == Never {
		b.transfer(x) // a new holder of a line that was ported in
	} else if o := b.applyEffect(x); o != Applied {
		return o
	}
	if to := e.Kind.becomes(b.State, e.Authority); to != b.State || e.Kind == Assign || e.Kind == Transfer {
		b.State, b.StateSince = to, e.Effective
		b.Bits = b.Bits.set(EndDay, to == StateEnded && e.Day)
	}
	if e.Authority == Operator && e.Network != 0 {
		b.Network = e.Network
	}
	return Applied
}

// mayReport reports whether the line was with the reporting operator. After the
// end of a tenure the number is back with the network of its range; that was
// checked when the event was accepted.
func (b *rowBuilder) mayReport(x *fact) bool {
	switch {
	case x.Authority != Operator || x.index == implied && (x.Network == 0 || x.Kind == Assign):
		return true
	case b.State.Ongoing() || b.State == StateEnded && x.Kind == Reinstate:
		return b.Network == 0 && !x.Outside || x.Network == b.Network
	default:
		return !x.Outside
	}
}

// passChurnDate ends the tenure on the churn date that was announced.
func (b *rowBuilder) passChurnDate(now Instant) {
	if b.State == StateNoticed && b.Until != Never && now >= b.Until && !b.churnGivesWay {
		b.State, b.StateSince, b.Until, b.EndedAfter = StateEnded, b.Until, Never, Never
		b.Bits &^= EndDay | EndContested
	}
}
