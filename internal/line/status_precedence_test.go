package line_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/policy"
)

// applicable reports for every adverse status whether it applies. It is an independent
// implementation of the table in docs/reference/line-status.md, one line each.
func applicable(r *line.Row, p *policy.Policy, now line.Instant) map[line.Status]bool {
	runs := r.State != line.StateNone && r.State != line.StateEnded
	within := func(since line.Instant, hours int) bool {
		return since != line.Never && int64(now) < int64(since)+int64(hours)*3600
	}
	notice := r.State == line.StateNoticed
	date := r.Until != line.Never && now >= r.Until
	return map[line.Status]bool{
		line.Blacklisted:  r.BlackAt != line.Never,
		line.Barred:       r.State != line.StateEnded && (r.BarAt != line.Never || r.OrderAt != line.Never),
		line.Flagged:      r.State != line.StateEnded && within(r.FlagAt, 24*p.FlaggedDays),
		line.Quarantined:  r.State == line.StateEnded || notice && date,
		line.Recycled:     runs && within(r.Tenure, 24*p.RecycledDays),
		line.Swapped:      runs && (within(r.SIM, p.SwappedHours) || within(r.PortAt, p.PortedHours)),
		line.Ported:       runs && within(r.PortAt, p.PortedHours),
		line.PendingChurn: notice && !date,
		line.Parked:       r.State == line.StateParked,
		line.Inactive:     r.State == line.StateInactive,
		line.Normal:       false,
		line.Unallocated:  false,
		line.Unknown:      false,
	}
}

// The status is the first that applies in the order of precedence. Among a new tenure,
// a new SIM and a new network it is the most recent change, or the first in this order
// if they are equal. The SWAPPED signal of a port is never the status.
func TestStatusIsTheFirstByPrecedence(t *testing.T) {
	t.Parallel()

	now := 1000 * hour
	rapid.Check(t, func(t *rapid.T) {
		p, row := aPolicy(t), anyRow(t, now)
		view := line.At(factsOf(row, supplied(now.Time())), p, now.Time())

		applies := applicable(&row, p, now)
		var want line.Status
		for _, s := range line.Statuses {
			if applies[s] {
				want = s
				break
			}
		}
		switch want {
		case line.Recycled, line.Swapped, line.Ported:
			latest := line.Never
			for _, c := range []struct {
				status  line.Status
				at      line.Instant
				applies bool
			}{
				{line.Recycled, row.Tenure, applies[line.Recycled]},
				{line.Swapped, row.SIM, now < row.SIM.Add(p.Swapped()) && row.SIM != line.Never},
				{line.Ported, row.PortAt, applies[line.Ported]},
			} {
				if c.applies && c.at > latest {
					want, latest = c.status, c.at
				}
			}
		case "":
			want = line.Normal
			if row.State == line.StateNone {
				want = line.Unallocated
			}
		default: // the order of the table decides
		}
		if view.Status != want {
			t.Fatalf("the line is %s, not %s", view.Status, want)
		}
		for s, applies := range applies {
			if shown := slices.ContainsFunc(view.Signals, func(g line.Signal) bool { return g.Status == s }); shown != applies {
				t.Fatalf("%s applies: %v, and is a signal: %v", s, applies, shown)
			}
		}
		if !slices.IsSortedFunc(view.Signals, func(a, b line.Signal) int {
			return slices.Index(line.Statuses, a.Status) - slices.Index(line.Statuses, b.Status)
		}) {
			t.Fatalf("the signals are out of order: %v", view.Signals)
		}
	})
}

// Cases in which the most recent change decides.
func TestMostRecentChangeIsTheStatus(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		tenure, sim, port line.Instant
		want              line.Status
	}{
		"a new tenure":                        {100, line.Never, line.Never, line.Recycled},
		"a new SIM":                           {line.Never, 100, line.Never, line.Swapped},
		"a new network":                       {line.Never, line.Never, 100, line.Ported},
		"a SIM after the tenure":              {100, 101, line.Never, line.Swapped},
		"a network after the tenure":          {100, line.Never, 101, line.Ported},
		"a network after the SIM":             {99, 100, 101, line.Ported},
		"a SIM after the network":             {99, 101, 100, line.Swapped},
		"tenure and SIM at once":              {100, 100, line.Never, line.Recycled},
		"tenure and network at once":          {100, line.Never, 100, line.Recycled},
		"SIM and network at once":             {line.Never, 100, 100, line.Swapped},
		"SIM and network, after the tenure":   {99, 100, 100, line.Swapped},
		"all at once":                         {100, 100, 100, line.Recycled},
		"a network, and a SIM long before it": {line.Never, -240 * hour, 100, line.Ported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := line.NoRow()
			r.State, r.Network, r.Tenure, r.SIM, r.PortAt = line.StateActive, home, test.tenure, test.sim, test.port
			if got := viewOf(r, 200).Status; got != test.want {
				t.Errorf("the line is %s, not %s", got, test.want)
			}
		})
	}
}

// Every signal has its start, its end by the clock, and its source.
func TestSignalsHaveSinceUntilAndSource(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	r := line.NoRow()
	r.State, r.StateSince, r.Until, r.Network, r.Tenure, r.SIM, r.PortAt = line.StateNoticed, 50, 90*hour, home, 10, 20, 30
	r.BarAt, r.BarReason, r.OrderAt, r.OrderReason, r.FlagAt, r.FlagLevel, r.BlackAt = 41, line.ReasonDebt, 42, line.ReasonCourt, 43, line.LevelHigh, 44
	want := []line.Signal{
		{Status: line.Blacklisted, Since: 44, Until: line.Never, Source: line.Regulator},
		{Status: line.Barred, Since: 42, Until: line.Never, Source: line.Regulator},
		{Status: line.Barred, Since: 41, Until: line.Never, Source: line.Operator},
		{Status: line.Flagged, Since: 43, Until: line.Instant(43).Add(p.Flagged()), Source: line.Sector, Level: line.LevelHigh},
		{Status: line.Recycled, Since: 10, Until: line.Instant(10).Add(p.Recycled()), Source: line.Operator},
		{Status: line.Swapped, Since: 20, Until: line.Instant(20).Add(p.Swapped()), Source: line.Operator},
		{Status: line.Swapped, Since: 30, Until: line.Instant(30).Add(p.Ported()), Source: line.ClearingHouse},
		{Status: line.Ported, Since: 30, Until: line.Instant(30).Add(p.Ported()), Source: line.ClearingHouse},
		{Status: line.PendingChurn, Since: 50, Until: 90 * hour, Source: line.Operator},
	}
	if got := viewOf(r, 60).Signals; !slices.Equal(got, want) {
		t.Errorf("the signals are\n%v, not\n%v", got, want)
	}
}

// Windows end by the clock: the same row has different statuses in the second before
// the end and at the end.
func TestWindowsEndByTheClock(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		p, since := aPolicy(t), instant(t, "since")
		for _, window := range []struct {
			status line.Status
			at     func(*line.Row) *line.Instant
			lasts  time.Duration
		}{
			{line.Recycled, func(r *line.Row) *line.Instant { return &r.Tenure }, p.Recycled()},
			{line.Swapped, func(r *line.Row) *line.Instant { return &r.SIM }, p.Swapped()},
			{line.Ported, func(r *line.Row) *line.Instant { return &r.PortAt }, p.Ported()},
			{line.Flagged, func(r *line.Row) *line.Instant { return &r.FlagAt }, p.Flagged()},
		} {
			status := window.status
			r := line.NoRow()
			r.State, r.Network = line.StateActive, home
			*window.at(&r) = since
			end := since.Time().Add(window.lasts)
			facts := factsOf(r, supplied(end))
			if got := line.At(facts, p, end.Add(-time.Second)).Status; got != status {
				t.Fatalf("a second before the window of %s ends the line is %s", status, got)
			}
			if got := line.At(facts, p, end.Add(-time.Nanosecond)).Status; got != status {
				t.Fatalf("an instant before the window of %s ends the line is %s", status, got)
			}
			if got := line.At(facts, p, end); got.Status != line.Normal || len(got.Signals) > 0 {
				t.Fatalf("when the window of %s has ended the line is %s", status, got.Status)
			}
			if facts.Row != r {
				t.Fatalf("computing the status has changed the row to %+v", facts.Row)
			}
		}
	})
}

// From the announced date on a line counts as churned by the clock, until the operator
// reports otherwise.
func TestAnnouncedChurnTakesEffectByTheClock(t *testing.T) {
	t.Parallel()

	date := 30 * 24 * hour
	events := []line.Event{event(line.Use, 0), event(line.GiveNotice, hour, until(date))}
	r := fold(nil, numbered(events...))
	if got := viewOf(r, date-1); got.Status != line.PendingChurn || got.Signals[0].Until != date {
		t.Errorf("before the date the line is %s", got.Status)
	}
	if got := viewOf(r, date); got.Status != line.Quarantined || got.Signals[0].Since != date {
		t.Errorf("on the date the line is %s", got.Status)
	}
	if got := viewOf(fold(nil, numbered(append(events, event(line.Use, date+hour))...)), date+hour); got.Status != line.Normal {
		t.Errorf("used after the date, the line is %s", got.Status)
	}
	if got := viewOf(fold(nil, numbered(append(events, event(line.End, date+hour))...)), date+hour); got.Status != line.Quarantined || got.Signals[0].Since != date+hour {
		t.Errorf("ended after the date, the line is %s", got.Status)
	}
}
