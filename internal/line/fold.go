package line

import (
	"cmp"
	"slices"

	"github.com/lineproof/lineproof/internal/numbering"
)

// Outcome is the effect that an event had on the row.
type Outcome uint8

// The outcomes.
const (
	Applied      Outcome = iota
	NotInState           // the event does not apply in the state that the tenure had
	NotHolder            // the number was not with the reporting operator then
	Blocked              // the number was blacklisted
	NotFlagOwner         // the flag belongs to another sector regulator
	HalfPort             // the claim or release that completes the port is missing
	Voided               // withdrawn by another event
	NotYet               // it takes effect after the time of the fold
)

// rowBuilder applies events to a row. The fields beyond the row are needed only to
// match the halves of a port and to withdraw a flag.
type rowBuilder struct {
	Row

	claims     []portHalf   // of this tenure, not yet matched by a release
	released   portHalf     // the last one, not yet matched by a claim
	matchedSeq int64        // the seq of the earlier half of a port that was just matched; else 0
	flags      []activeFlag // of this tenure, the newest last
}

// portHalf is the claim or the release of a port.
type portHalf struct {
	seq      int64
	from, to numbering.Network // from is 0 in a claim, which does not name the donor
}

// activeFlag is the flag of one sector regulator.
type activeFlag struct {
	at    Instant
	level Code
	by    int32
}

// orderedEvent is an event with its order in the fold.
type orderedEvent struct {
	*Event

	order int // among events of the same second
	index int // in the events passed to Fold; -1 when the baseline implies it
}

// Fold returns the row that results from a baseline and events, and the outcome of
// each event. The order in which the events are passed does not matter. Events
// that take effect after until are left out; pass [Forever] for all.
func Fold(base *Baseline, events []Event, until Instant) (Row, []Outcome) {
	b := rowBuilder{Row: NoRow()}
	ordered := make([]orderedEvent, 0, len(events)+3)
	if base != nil {
		ordered = base.orderedEvents(ordered)
		b.Version, b.Baseline = 1, base.Import
	}
	for i := range events {
		ordered = append(ordered, orderedEvent{&events[i], orderOf[events[i].Kind], i})
	}
	b.Version += int32(len(events)) //nolint:gosec // a few
	slices.SortStableFunc(ordered, byEffect)

	outcomes, void := make([]Outcome, len(events)), voided(events)
	for _, e := range ordered {
		var o Outcome
		switch {
		case e.index >= 0 && void[e.Seq]:
			o = Voided
		case e.Effective > until:
			o = NotYet
		default:
			o = b.apply(e.Event)
		}
		if e.index >= 0 {
			outcomes[e.index] = o
		}
		if b.matchedSeq != 0 {
			i := slices.IndexFunc(events, func(other Event) bool { return other.Seq == b.matchedSeq })
			outcomes[i], b.matchedSeq = Applied, 0
		}
	}
	return b.Row, outcomes
}

// byEffect orders events by the time of their effect.
func byEffect(a, b orderedEvent) int {
	return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.order, b.order), cmp.Compare(a.Seq, b.Seq))
}

// voided returns the seqs of the events that other events withdraw.
func voided(events []Event) map[int64]bool {
	var void map[int64]bool
	for i := range events {
		if events[i].Kind == Void {
			if void == nil {
				void = make(map[int64]bool)
			}
			void[events[i].Voids] = true
		}
	}
	return void
}

// orderedEvents appends the events that the baseline implies. Within a second they
// keep their own order: a tenure may start and end on the same date.
func (b *Baseline) orderedEvents(to []orderedEvent) []orderedEvent {
	implied := b.impliedEvents(make([]Event, 0, 3))
	last := orderedEvent{Event: &Event{Effective: Never}}
	for i := range implied {
		s := orderedEvent{&implied[i], orderOf[implied[i].Kind], -1}
		if s.Effective == last.Effective {
			s.order = max(s.order, last.order)
		}
		to, last = append(to, s), s
	}
	return to
}

// impliedEvents appends the events that would have led to the baseline, in the
// order of their effect. Each of them applies, because a state is taken to be no
// older than its tenure, and a SIM change no later than the end of the tenure.
func (b *Baseline) impliedEvents(to []Event) []Event {
	add := func(k Kind, at Instant, code Code) {
		to = append(to, Event{Kind: k, Effective: at, Authority: Operator, Network: b.Network, Code: code, Until: Never, EndedAfter: Never})
	}
	since, sim := max(b.StateSince, b.Tenure), b.SIM
	if b.State == StateEnded {
		sim = min(sim, since)
	}
	if b.Tenure != Never {
		add(Assign, b.Tenure, 0)
	}
	swapped := sim > b.Tenure // an earlier SIM change belongs to the start of the tenure
	if swapped && sim <= since {
		add(ChangeSIM, sim, 0)
	}
	switch b.State {
	case StateInactive:
		add(Deactivate, since, 0)
	case StateParked:
		add(Park, since, 0)
	case StateNoticed:
		add(GiveNotice, since, 0)
	case StateBarred:
		add(Bar, since, ReasonOther)
	case StateEnded:
		add(End, since, ReasonChurned)
	default:
		if len(to) == 0 {
			add(Use, since, 0) // nothing is known but that the line is in use
		}
	}
	if swapped && sim > since {
		add(ChangeSIM, sim, 0)
	}
	return to
}

// ApplyNewest returns the row after an event that is newer than all events behind
// the row, without reading those. ok is false when that is not possible: the
// event is not the newest, or its effect depends on the others.
func (r *Row) ApplyNewest(e *Event) (next Row, outcome Outcome, ok bool) {
	if e.Effective <= r.Newest || e.Kind == Void || e.Kind == ClaimPort || e.Kind == ReleasePort || e.Kind == Unflag {
		return *r, Applied, false
	}
	b := rowBuilder{Row: *r}
	outcome = b.apply(e)
	b.Version++
	return b.Row, outcome, true
}

// apply applies an event that comes after all events applied before.
func (b *rowBuilder) apply(e *Event) Outcome {
	if e.Kind == Void {
		return Applied // Fold has left out the withdrawn event
	}
	b.Newest = max(b.Newest, e.Effective)
	if !e.Kind.applies(b.State) {
		return NotInState
	}
	if e.Authority == Operator && e.Kind != ClaimPort {
		// After the end of a tenure the number is back with the network of its
		// range; that was checked when the event was accepted.
		if b.State != StateNone && e.Network != b.Network && (b.State != StateEnded || e.Kind == Reinstate) {
			return NotHolder
		}
	}
	if o := b.applyEffect(e); o != Applied {
		return o
	}
	if to := e.Kind.becomes(b.State, e.Authority); to != b.State || e.Kind == Assign {
		b.State, b.StateSince = to, e.Effective
	}
	if e.Authority == Operator && e.Kind != ClaimPort && e.Kind != ReleasePort {
		b.Network = e.Network
	}
	return Applied
}
