package line

import (
	"cmp"
	"slices"

	"github.com/lineproof/lineproof/internal/numbering"
)

// Outcome is what became of an event when the row was made.
type Outcome uint8

// The outcomes.
const (
	Applied    Outcome = iota
	NotInState         // the tenure was in a state in which the event means nothing
	NotHolder          // its operator did not hold the number then
	Blocked            // the number was blacklisted
	NotTheirs          // somebody else's flag
	HalfPort           // the other half is missing
	Withdrawn          // voided
	NotYet             // it takes effect later than the moment in question
)

// folding is a row in the making. What it knows beyond the row is looked at only
// when another half of a port is told, or a flag is taken back.
type folding struct {
	Row

	claims   []half      // of the tenure, that no release has met
	released half        // the last one, that no claim has met
	settled  int64       // the seq of the half that has just been met by the other
	flags    []suspicion // of the tenure, the newest last
}

// half is what one of two networks said of a port.
type half struct {
	seq      int64
	from, to numbering.Network // from is 0 in a claim: it does not say
}

// suspicion is what one regulator suspects.
type suspicion struct {
	at    Instant
	level Code
	by    int32
}

// step is an event on its way into the row.
type step struct {
	*Event

	rank  int // its place among those of the same second
	given int // its place among the events that were given; -1 when a baseline implies it
}

// Fold returns the row that a baseline and events make, in whatever order they
// are given, and what became of each event. Events later than until do not
// count yet; pass the greatest instant for all.
func Fold(base *Baseline, events []Event, until Instant) (Row, []Outcome) {
	f := folding{Row: NoRow()}
	steps := make([]step, 0, len(events)+3)
	if base != nil {
		steps = base.steps(steps)
		f.Version, f.Baseline = 1, base.Import
	}
	for i := range events {
		steps = append(steps, step{&events[i], ranks[events[i].Kind], i})
	}
	f.Version += int32(len(events)) //nolint:gosec // a few
	slices.SortStableFunc(steps, compare)

	outcomes, void := make([]Outcome, len(events)), voided(events)
	for _, s := range steps {
		var o Outcome
		switch {
		case s.given >= 0 && void[s.Seq]:
			o = Withdrawn
		case s.Effective > until:
			o = NotYet
		default:
			o = f.apply(s.Event)
		}
		if s.given >= 0 {
			outcomes[s.given] = o
		}
		if f.settled != 0 {
			i := slices.IndexFunc(events, func(other Event) bool { return other.Seq == f.settled })
			outcomes[i], f.settled = Applied, 0
		}
	}
	return f.Row, outcomes
}

// compare puts events into the order in which they took effect.
func compare(a, b step) int {
	return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.rank, b.rank), cmp.Compare(a.Seq, b.Seq))
}

// voided returns the seqs of the events that others withdraw.
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

// steps appends what the baseline implies. Within a second it stays as the
// baseline has it: a tenure may begin and end on the same date.
func (b *Baseline) steps(to []step) []step {
	implied := b.implied(make([]Event, 0, 3))
	last := step{Event: &Event{Effective: Never}}
	for i := range implied {
		s := step{&implied[i], ranks[implied[i].Kind], -1}
		if s.Effective == last.Effective {
			s.rank = max(s.rank, last.rank)
		}
		to, last = append(to, s), s
	}
	return to
}

// implied appends the events that would have made what the baseline says, in
// the order in which they take effect. Each of them does: a state is not older
// than its tenure, and no SIM changes after the end.
func (b *Baseline) implied(to []Event) []Event {
	tell := func(k Kind, at Instant, code Code) {
		to = append(to, Event{Kind: k, Effective: at, By: Operator, Network: b.Network, Code: code, Until: Never, After: Never})
	}
	since, sim := max(b.StateSince, b.Tenure), b.SIM
	if b.State == StateEnded {
		sim = min(sim, since)
	}
	if b.Tenure != Never {
		tell(Assign, b.Tenure, 0)
	}
	swapped := sim > b.Tenure // an older SIM is that of the tenure's first day
	if swapped && sim <= since {
		tell(ChangeSIM, sim, 0)
	}
	switch b.State {
	case StateInactive:
		tell(Deactivate, since, 0)
	case StateParked:
		tell(Park, since, 0)
	case StateNoticed:
		tell(GiveNotice, since, 0)
	case StateBarred:
		tell(Bar, since, ReasonOther)
	case StateEnded:
		tell(End, since, ReasonChurned)
	default:
		if len(to) == 0 {
			tell(Use, since, 0) // all that is known is that it is in use
		}
	}
	if swapped && sim > since {
		tell(ChangeSIM, sim, 0)
	}
	return to
}

// Quick returns the row after an event that is newer than everything the row
// was made of, without looking at what that was. ok is false when it cannot:
// the event is not the newest, or it needs the others.
func (r *Row) Quick(e *Event) (next Row, outcome Outcome, ok bool) {
	if e.Effective <= r.Newest || e.Kind == Void || e.Kind == ClaimPort || e.Kind == ReleasePort || e.Kind == Unflag {
		return *r, Applied, false
	}
	f := folding{Row: *r}
	outcome = f.apply(e)
	f.Version++
	return f.Row, outcome, true
}

// apply lets an event that comes after all the others take effect.
func (f *folding) apply(e *Event) Outcome {
	if e.Kind == Void {
		return Applied // what it withdraws was left out already
	}
	f.Newest = max(f.Newest, e.Effective)
	if !e.Kind.applies(f.State) {
		return NotInState
	}
	if e.By == Operator && e.Kind != ClaimPort {
		// After the end of a tenure the number is its range's again; who holds
		// the range was asked when the event was told.
		if f.State != StateNone && e.Network != f.Network && (f.State != StateEnded || e.Kind == Reinstate) {
			return NotHolder
		}
	}
	if o := f.effect(e); o != Applied {
		return o
	}
	if to := e.Kind.becomes(f.State, e.By); to != f.State || e.Kind == Assign {
		f.State, f.StateSince = to, e.Effective
	}
	if e.By == Operator && e.Kind != ClaimPort && e.Kind != ReleasePort {
		f.Network = e.Network
	}
	return Applied
}
