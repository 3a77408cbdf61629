package line_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/policy"
)

// A line is NORMAL only if it has a tenure and its operator has supplied within the
// freshness: an unknown line is never shown as NORMAL.
func TestUnknownIsNeverShownAsNormal(t *testing.T) {
	t.Parallel()

	seen := map[line.Status]int{}
	now := 1000 * hour
	rapid.Check(t, func(t *rapid.T) {
		p, row := aPolicy(t), anyRow(t, now)
		if rapid.IntRange(0, 3).Draw(t, "adverse") > 0 { // most have nothing adverse
			row = line.NoRow()
			if rapid.Bool().Draw(t, "in use") {
				row.State, row.Network = line.StateActive, rapid.SampledFrom([]numbering.Network{home, other}).Draw(t, "with")
			}
		}
		supplies := map[numbering.Network]line.Coverage{}
		for _, n := range []numbering.Network{home, other} {
			c := line.Coverage{}
			if rapid.Bool().Draw(t, "supplies") {
				c.Through = now.Time().Add(-time.Duration(rapid.IntRange(0, 240).Draw(t, "hours ago")) * time.Hour)
				c.KnownSince = line.Instant(0).Time()
				if rapid.Bool().Draw(t, "complete") {
					c.CompleteSince = c.KnownSince
				}
			}
			supplies[n] = c
		}
		facts := &line.Facts{
			Row: row, Planned: rapid.Bool().Draw(t, "planned"), Coverage: func(n numbering.Network) line.Coverage { return supplies[n] },
		}
		if facts.Planned && rapid.Bool().Draw(t, "allocated") {
			facts.Allocated, facts.Holder = true, home
		}
		view := line.At(facts, p, now.Time())
		seen[view.Status]++
		fresh := func(n numbering.Network) bool {
			through := supplies[n].Through
			return !through.IsZero() && now.Time().Sub(through) < p.Freshness()
		}
		switch view.Status {
		case line.Normal:
			if row.State != line.StateActive || !fresh(row.Network) {
				t.Fatalf("NORMAL in state %s, supply %+v", row.State, supplies[row.Network])
			}
		case line.Unallocated:
			never := row.State == line.StateNone
			if byRange := view.Reason == line.ReasonRange && facts.Planned && !facts.Allocated; !never || !byRange &&
				(view.Reason != line.ReasonNumber || !fresh(home) || supplies[home].CompleteSince.IsZero()) {
				t.Fatalf("UNALLOCATED (%s) in state %s, supply %+v", view.Reason, row.State, supplies[home])
			}
		case line.Unknown:
			if (view.Reason == line.ReasonStale) == supplies[view.Network].Through.IsZero() && row.State == line.StateActive {
				t.Fatalf("UNKNOWN (%s), supply %+v", view.Reason, supplies[view.Network])
			}
		default:
			if len(view.Signals) == 0 {
				t.Fatalf("%s without a signal", view.Status)
			}
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
		stale := line.At(factsOf(row, supplied(now.Time().Add(-p.Freshness()))), p, now.Time())
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

// The supply is stale from the moment at which its freshness ends.
func TestSupplyBecomesStaleByTheClock(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	r := fold(nil, numbered(event(line.Use, 0)))
	through := line.Instant(0).Time().Add(400 * 24 * time.Hour)
	facts := factsOf(r, supplied(through))
	end := through.Add(p.Freshness())
	if got := line.At(facts, &p, end.Add(-time.Nanosecond)); got.Status != line.Normal {
		t.Errorf("while the supply is fresh the line is %s", got.Status)
	}
	if got := line.At(facts, &p, end); got.Status != line.Unknown || got.Reason != line.ReasonStale {
		t.Errorf("when it is stale the line is %s (%s)", got.Status, got.Reason)
	}
}

// The status of a number without signals, case by case.
func TestStatusWithoutSignals(t *testing.T) {
	t.Parallel()

	now := 100 * 24 * hour
	fresh, old := supplied(now.Time()), supplied(now.Time().Add(-30*24*time.Hour))
	partial := func(numbering.Network) line.Coverage {
		return line.Coverage{KnownSince: line.Instant(0).Time(), Through: now.Time()}
	}
	only := func(n numbering.Network) func(numbering.Network) line.Coverage {
		return func(network numbering.Network) line.Coverage {
			if network == n {
				return fresh(n)
			}
			return line.Coverage{}
		}
	}
	inUse, elsewhere := fold(nil, numbered(event(line.Use, 0))), fold(nil, numbered(event(line.Port, 0, to(other))))
	ended := fold(nil, numbered(event(line.Port, 0, to(other)), event(line.End, 1, from(other))))
	for name, test := range map[string]struct {
		row       line.Row
		coverage  func(numbering.Network) line.Coverage
		planned   bool
		allocated bool
		status    line.Status
		reason    line.Reason
		network   numbering.Network
	}{
		"in use":                                       {inUse, fresh, true, true, line.Normal, "", home},
		"in use, without a plan":                       {inUse, fresh, false, false, line.Normal, "", home},
		"in use, in a range that was withdrawn":        {inUse, fresh, true, false, line.Normal, "", home},
		"in use, the supply is old":                    {inUse, old, true, true, line.Unknown, line.ReasonStale, home},
		"in use, its network never supplied":           {inUse, only(other), true, true, line.Unknown, line.ReasonNoSupply, home},
		"ported, the recipient supplies":               {elsewhere, only(other), true, true, line.Normal, "", other},
		"ported, only the donor supplies":              {elsewhere, only(home), true, true, line.Unknown, line.ReasonNoSupply, other},
		"ended after a port, back with its range":      {ended, only(other), true, true, line.Quarantined, "", home},
		"never in a complete supply":                   {line.NoRow(), fresh, true, true, line.Unallocated, line.ReasonNumber, home},
		"never in an incomplete supply":                {line.NoRow(), partial, true, true, line.Unknown, line.ReasonNoSupply, home},
		"never supplied, and the supply is old":        {line.NoRow(), old, true, true, line.Unknown, line.ReasonStale, home},
		"never supplied, and no network supplies":      {line.NoRow(), noSupply, true, true, line.Unknown, line.ReasonNoSupply, home},
		"never supplied, without a coverage function":  {line.NoRow(), nil, true, true, line.Unknown, line.ReasonNoSupply, home},
		"never supplied, in no range":                  {line.NoRow(), fresh, true, false, line.Unallocated, line.ReasonRange, 0},
		"never supplied, without a plan":               {line.NoRow(), fresh, false, false, line.Unknown, line.ReasonNoSupply, 0},
		"released by the regulator, never supplied":    {fold(nil, numbered(event(line.Blacklist, 0), event(line.Release, 1))), fresh, true, true, line.Unallocated, line.ReasonNumber, home},
		"barred by the regulator before any supply":    {fold(nil, numbered(event(line.Bar, 0, ordered))), noSupply, true, true, line.Barred, "", home},
		"blacklisted in a range that is not allocated": {fold(nil, numbered(event(line.Blacklist, 0))), noSupply, true, false, line.Blacklisted, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Defaults()
			facts := &line.Facts{Row: test.row, Planned: test.planned, Allocated: test.allocated, Coverage: test.coverage}
			if test.allocated {
				facts.Holder = home
			}
			got := line.At(facts, &p, now.Time())
			if got.Status != test.status || got.Reason != test.reason || got.Network != test.network {
				t.Errorf("%s (%s) with network %d, not %s (%s) with %d", got.Status, got.Reason, got.Network, test.status, test.reason, test.network)
			}
		})
	}
}
