package linemodel

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

// implication is an event that a snapshot implies, and when it was reported.
type implication struct {
	event line.Event
	known moment
	// simUnknown says of the start of a tenure that nobody knows whether the SIM has
	// changed since.
	simUnknown bool
}

// imply reads a snapshot's row as the few events that would have produced it.
func imply(b *line.Baseline) (all []implication) {
	since := max(b.StateSince, b.Tenure)
	add := func(k line.Kind, at line.Instant, day bool) *implication {
		all = append(all, implication{event: line.Event{
			Kind: k, Effective: at, Day: day, Authority: line.Operator, Network: b.Network, Until: line.Never, EndedAfter: line.Never,
		}})
		return &all[len(all)-1]
	}
	if b.Tenure != line.Never {
		start := add(line.Assign, b.Tenure, b.Bits&line.TenureDay != 0)
		start.simUnknown = b.Bits&line.SIMUnknown != 0
	}
	sim := b.SIM
	if b.State == line.StateEnded {
		sim = min(sim, since)
	}
	if sim > b.Tenure { // an earlier one is the SIM that the holder began with
		add(line.ChangeSIM, sim, b.Bits&line.SIMDay != 0)
	}
	switch b.State {
	case line.StateInactive:
		add(line.Deactivate, since, false)
	case line.StateParked:
		add(line.Park, since, false)
	case line.StateNoticed:
		add(line.GiveNotice, since, false).event.Until = max(b.Until, since+1, sim+1)
	case line.StateBarred:
		add(line.Bar, since, false).event.Code = line.ReasonOther
	case line.StateEnded:
		add(line.End, since, b.Bits&line.EndDay != 0).event.Code = line.ReasonChurned
	case line.StateActive, line.StateNone:
		// A tenure, or an earlier change of the SIM, implies that the line is in use.
		if b.Tenure == line.Never && (sim == line.Never || sim > since) {
			add(line.Use, since, false)
		}
	}
	return all
}

// snapshot returns what the snapshots say by now: the baseline, or the restatement
// that replaced it last. What a restatement adds or moves later was reported with it.
func snapshot(base *line.Baseline, r *reports) (*line.Baseline, []implication) {
	var said []implication
	if base != nil {
		said = imply(base)
	}
	var restatements []*line.Event
	for i := range r.events {
		e := &r.events[i]
		if gone, _ := r.withdrawn(e); e.Kind == line.Restate && e.Base != nil && !gone && !r.held(e) && !r.pending(e) {
			restatements = append(restatements, e)
		}
	}
	counts := func(e *line.Event) moment { return latest(r.counts(e), r.ported[e.Seq]) }
	slices.SortFunc(restatements, func(a, b *line.Event) int { return counts(a).compare(counts(b)) })
	for _, e := range restatements {
		latest := merge(base, e.Base)
		next := imply(latest)
		for i := range next {
			next[i].known = restatedAt(said, &next[i].event, counts(e))
		}
		base, said = latest, next
	}
	return base, said
}

// merge returns what is known after a later snapshot: what that does not know stays.
func merge(earlier, later *line.Baseline) *line.Baseline {
	known := *later
	if earlier == nil {
		return &known
	}
	if known.Tenure == line.Never {
		known.Tenure = earlier.Tenure
		known.Bits |= earlier.Bits & line.TenureDay
	}
	if known.Bits&line.SIMUnknown != 0 {
		known.SIM = earlier.SIM
		known.Bits &^= line.SIMUnknown | line.SIMDay
		known.Bits |= earlier.Bits & (line.SIMUnknown | line.SIMDay)
	}
	return &known
}

// restatedAt returns when a restated fact was reported: with the restatement where it
// adds a change or moves it later, and otherwise as before.
func restatedAt(said []implication, e *line.Event, now moment) moment {
	for _, s := range said {
		switch {
		case s.event.Kind != e.Kind:
		case s.event.Effective == e.Effective:
			return s.known
		case s.event.Effective > e.Effective:
			return moment{}
		}
	}
	return now
}
