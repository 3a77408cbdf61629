package line

import (
	"cmp"
	"slices"
	"time"
)

// Known returns the part of the history that made a version of the row. The version
// counts the reports, a baseline included, so the first reports made it, as many as
// it counts. ok is false if the history has no such version.
func (h *History) Known(version int64) (known *History, ok bool) {
	h.sortByReport()
	known = &History{}
	if version == 0 {
		return known, true
	}
	if h.Base != nil {
		known.Base = h.Base
		version--
	}
	n := int(min(max(version, 0), int64(len(h.Events))))
	known.Events = h.Events[:n:n]
	return known, version == int64(n)
}

// sortByReport puts the events in the order of their reports.
func (h *History) sortByReport() {
	byReport := func(a, b Event) int { return cmp.Or(a.ReportedAt.Compare(b.ReportedAt), cmp.Compare(a.Seq, b.Seq)) }
	if !slices.IsSortedFunc(h.Events, byReport) {
		slices.SortStableFunc(h.Events, byReport)
	}
}

// Hindsight returns the history that a number would have had at a time if everything
// that is known now had been reported by then: what was known, and of what was
// reported later the part that had taken effect. Known is a result of [History.Known].
//
// A bare date had taken effect if its day had begun, because the service accepts it
// from then on. A void or a confirmation belongs to its event. Of a snapshot that was
// reported later, what it says about a later time is left out.
func (h *History) Hindsight(known *History, at time.Time, zone *time.Location) *History {
	until := InstantOf(at)
	then := &History{Base: known.Base, Events: known.Events}
	if then.Base == nil && h.Base != nil {
		then.Base = h.Base.until(until, nil, zone)
	}
	for i := len(known.Events); i < len(h.Events); i++ {
		e := h.Events[i]
		switch {
		case e.Kind == Void || e.Kind == Confirm:
			if !slices.ContainsFunc(then.Events, func(of Event) bool { return of.Seq == e.Target }) {
				continue
			}
		case e.Restates():
			if e.Base = e.Base.until(until, then.Base, zone); e.Base == nil {
				continue
			}
		default:
			if e.earliest(zone) > until {
				continue
			}
		}
		then.Events = append(then.Events, e) // a copy: known.Events has no free capacity
	}
	return then
}

// earliest returns the first second at which the event can have taken effect.
func (e *Event) earliest(zone *time.Location) Instant {
	if e.Day {
		return DayStart(e.Effective, zone)
	}
	return e.Effective
}

// until returns what the baseline says about the time up to an instant, or nil if its
// tenure began later. For the state before that which it names, the baseline before
// it counts; without one the line was active.
func (b *Baseline) until(at Instant, before *Baseline, zone *time.Location) *Baseline {
	later := func(i Instant, day Bits) bool {
		if i != Never && b.Bits.has(day) {
			i = DayStart(i, zone)
		}
		return i > at
	}
	if later(b.Tenure, TenureDay) {
		return nil
	}
	cut := *b
	if later(b.SIM, SIMDay) {
		cut.SIM, cut.Bits = Never, cut.Bits&^SIMDay|SIMUnknown
	}
	if later(b.StateSince, EndDay) {
		cut.State, cut.StateSince, cut.Until, cut.Bits = StateActive, b.Tenure, Never, cut.Bits&^EndDay
		if before != nil && before.StateSince <= at {
			cut.State, cut.StateSince, cut.Until, cut.Bits = before.State, before.StateSince, before.Until, cut.Bits|before.Bits&EndDay
		}
	}
	return &cut
}
