package line_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// aSpan draws what one topic covers.
func aSpan(t *rapid.T, now line.Instant) (s line.Span) {
	if rapid.IntRange(0, 7).Draw(t, "supplies") < 7 {
		s.Through = now.Time().Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "hours ago")) * time.Hour)
		s.KnownSince = line.Instant(0).Time()
		if rapid.IntRange(0, 3).Draw(t, "complete") < 3 {
			s.CompleteSince = s.KnownSince
		}
		s.Doubtful = rapid.IntRange(0, 19).Draw(t, "doubtful") == 9
	}
	return s
}

// judge says whether every topic that a policy requires was supplied, and is fresh.
func judge(required map[*line.Span]time.Duration, now line.Instant) (supplied, fresh bool) {
	supplied, fresh = true, true
	for span, lasts := range required {
		if lasts > 0 {
			supplied = supplied && !span.Through.IsZero()
			fresh = fresh && !span.Doubtful && now.Time().Sub(span.Through) < lasts
		}
	}
	return supplied, supplied && fresh
}

// A line is NORMAL only if it has a tenure, every required topic is fresh, its range is
// allocated and nothing is in doubt: an unknown line is never shown as NORMAL.
func TestUnknownIsNeverShownAsNormal(t *testing.T) {
	t.Parallel()

	seen := map[line.Status]int{}
	now := 1000 * hour
	rapid.Check(t, func(t *rapid.T) {
		p, row := aPolicy(t), anyRow(t, now)
		p.LifecycleFreshnessHours = rapid.SampledFrom([]int{168, 168, 36}).Draw(t, "lifecycle")
		p.SIMFreshnessHours = rapid.SampledFrom([]int{36, 36, 0}).Draw(t, "sim")
		if rapid.IntRange(0, 7).Draw(t, "quiet") < 7 { // most have nothing adverse
			row = line.NoRow()
			if rapid.Bool().Draw(t, "in use") {
				row.State, row.Network = line.StateActive, rapid.SampledFrom([]numbering.Network{home, other}).Draw(t, "with")
				row.DoubtAt = rapid.SampledFrom([]line.Instant{line.Never, line.Never, now - hour}).Draw(t, "doubt")
			} else {
				row.Bits = rapid.SampledFrom([]line.Bits{0, 0, line.Claimed}).Draw(t, "claimed")
			}
		}
		ports := aSpan(t, now)
		supplies := map[numbering.Network]*line.Coverage{
			0:     {},
			home:  {Lifecycle: aSpan(t, now), SIM: aSpan(t, now), Ports: ports},
			other: {Lifecycle: aSpan(t, now), SIM: aSpan(t, now), Ports: ports},
		}
		facts := &line.Facts{
			Row: row, Planned: rapid.IntRange(0, 3).Draw(t, "planned") < 3, Coverage: func(n numbering.Network) line.Coverage { return *supplies[n] },
		}
		if facts.Planned && rapid.IntRange(0, 3).Draw(t, "allocated") < 3 {
			facts.Allocated, facts.Holder = true, home
		}
		view := line.At(facts, p, now.Time())
		seen[view.Status]++
		c := supplies[view.Network]
		supplied, fresh := judge(map[*line.Span]time.Duration{&c.Lifecycle: p.LifecycleFreshness(), &c.SIM: p.SIMFreshness(), &c.Ports: p.PortFreshness(!c.Ports.CompleteSince.IsZero())}, now)
		complete, known := !c.Lifecycle.CompleteSince.IsZero(), row.State != line.StateNone
		withdrawn := facts.Planned && !facts.Allocated
		var right bool
		switch {
		case view.Status == line.Normal:
			right = row.State == line.StateActive && supplied && fresh && !withdrawn && row.DoubtAt == line.Never && view.Reason == ""
		case view.Status == line.Unallocated && view.Reason == line.ReasonRange:
			right = !known && withdrawn
		case view.Status == line.Unallocated:
			right = view.Reason == line.ReasonNumber && !known && supplied && fresh && complete && row.Bits&line.Claimed == 0
		case view.Status != line.Unknown:
			right = len(view.Signals) > 0
		case view.Reason == line.ReasonRange:
			right = known && withdrawn
		case view.Reason == line.ReasonNoSupply:
			right = !withdrawn && (!supplied || !known && !complete)
		case view.Reason == line.ReasonStale:
			right = !withdrawn && supplied && !fresh
		default:
			right = view.Reason == line.ReasonDisputed && fresh && (row.DoubtAt != line.Never || row.Bits&line.Claimed != 0)
		}
		if !right {
			t.Fatalf("%s (%s) in state %s, planned %v, allocated %v, supply %+v", view.Status, view.Reason, row.State, facts.Planned, facts.Allocated, c)
		}
	})
	for _, s := range []line.Status{line.Normal, line.Unallocated, line.Unknown} {
		if seen[s] == 0 {
			t.Errorf("no case had the status %s", s)
		}
	}
}

// When a supply becomes stale, adverse statuses stay; only NORMAL, and UNALLOCATED for
// a number that was never assigned, become UNKNOWN.
func TestAdverseSignalsStayWhenTheSupplyIsStale(t *testing.T) {
	t.Parallel()

	now := 1000 * hour
	rapid.Check(t, func(t *rapid.T) {
		p, row := aPolicy(t), anyRow(t, now)
		fresh := line.At(factsOf(row, supplied(now.Time())), p, now.Time())
		stale := line.At(factsOf(row, supplied(now.Time().Add(-slices.Min(requiredFor(p))))), p, now.Time())
		if !slices.Equal(fresh.Signals, stale.Signals) || fresh.Network != stale.Network {
			t.Fatalf("fresh %+v, stale %+v", fresh, stale)
		}
		switch fresh.Status {
		case line.Normal, line.Unallocated:
			if stale.Status != line.Unknown || stale.Reason != line.ReasonStale {
				t.Fatalf("%s became %s (%s)", fresh.Status, stale.Status, stale.Reason)
			}
		default:
			if stale.Status != fresh.Status {
				t.Fatalf("%s became %s", fresh.Status, stale.Status)
			}
		}
	})
}
