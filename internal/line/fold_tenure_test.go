package line_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
)

// aTenure draws the events of one tenure at home, in order: it has started and not
// ended, and all of its events are before the instant that it returns.
func aTenure(t *rapid.T) (events []line.Event, over line.Instant) {
	events = append(events, event(line.Assign, 0))
	for range rapid.IntRange(0, 10).Draw(t, "events") {
		e := anEvent(t, 0)
		if aPort(&e) || slices.Contains([]line.Kind{line.Assign, line.Transfer, line.End, line.Reinstate}, e.Kind) {
			continue
		}
		if e.Authority == line.Operator {
			e.Network, e.Outside = home, false
		}
		if e.Kind == line.GiveNotice {
			e.Until = 400 * day
		}
		e.Effective++
		events = append(events, e)
	}
	return numbered(events...), 40
}

// marks returns the flags and bars of a row.
func marks(r *line.Row) []any {
	return []any{r.BarAt, r.BarReason, r.HolderBarAt, r.HolderBarReason, r.NumberBarAt, r.NumberBarReason, r.MediumAt, r.HighAt, r.VeryHighAt}
}

// Flags and the operator's bar are not shown while the number is quarantined, and a
// tenure that starts after the rest has nothing of the last one but the regulator's
// bar on the number. A reinstatement restores everything.
func TestFlagsAndBarsEndWithTheTenure(t *testing.T) {
	t.Parallel()

	marked := 0
	rapid.Check(t, func(t *rapid.T) {
		events, over := aTenure(t)
		before := fold(nil, events)
		if before.MediumAt != line.Never || before.BarAt != line.Never || before.HolderBarAt != line.Never {
			marked++
		}

		ended := fold(nil, numbered(append(events, event(line.End, over))...))
		for _, s := range viewOf(ended, over+1).Signals {
			if s.Status != line.Blacklisted && s.Status != line.Quarantined && s.Source != line.Regulator {
				t.Fatalf("after the end of the tenure %s is still shown", s.Status)
			}
		}

		back := fold(nil, numbered(append(events, event(line.End, over), event(line.Reinstate, over+1))...))
		if diff := cmp.Diff(marks(&before), marks(&back)); diff != "" {
			t.Fatalf("after the reinstatement (-before the end +after):\n%s", diff)
		}
		if back.Tenure != before.Tenure || back.SIM != before.SIM || back.State != line.StateActive {
			t.Fatalf("the reinstatement restored %+v of %+v", back, before)
		}

		again := numbered(append(events, event(line.Release, over), event(line.End, over), event(line.Assign, over+rest))...)
		row, clean := fold(nil, again), line.NoRow()
		clean.Network, clean.State, clean.StateSince, clean.Tenure = home, line.StateActive, over+rest, over+rest
		clean.NumberBarAt, clean.NumberBarReason = before.NumberBarAt, before.NumberBarReason
		if diff := sameLine(clean, row); diff != "" {
			t.Fatalf("the next tenure does not start clean (-clean +got):\n%s", diff)
		}
	})
	if marked == 0 {
		t.Error("none of the tenures had a flag or a bar")
	}
}

// A number stays blacklisted after the end of the tenure, and no new tenure starts
// until it is released.
func TestBlacklistingContinuesAfterTheTenure(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		events, over := aTenure(t)
		events = append(events, event(line.Blacklist, over), event(line.End, over+1))
		rested := fold(nil, numbered(events...))
		if view := viewOf(rested, over+2); rested.BlackAt != over || view.Status != line.Blacklisted {
			t.Fatalf("after the end of the tenure the number is %s", view.Status)
		}

		events = append(events, event(line.Assign, over+2))
		blocked, outcomes := foldUntil(nil, numbered(events...), line.Forever)
		if diff := sameLine(rested, blocked); diff != "" || outcomes[len(outcomes)-1] != line.Blocked {
			t.Fatalf("a tenure started, outcome %d (-before +after):\n%s", outcomes[len(outcomes)-1], diff)
		}

		events = append(events, event(line.Release, over+3), event(line.Assign, over+3))
		free := fold(nil, numbered(events...))
		if free.State != line.StateActive || free.Tenure != over+3 || free.BlackAt != line.Never {
			t.Fatalf("after the release: %+v", free)
		}
	})
}

// A blacklisted line that runs gets no new holder, either.
func TestBlacklistedLineIsNotTransferred(t *testing.T) {
	t.Parallel()

	row, outcomes := rowOf(event(line.Assign, 0), event(line.Blacklist, day), event(line.Transfer, 2*day), event(line.Assign, 3*day))
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Blocked, line.Blocked)
	if row.Tenure != 0 {
		t.Errorf("a tenure started at %d", row.Tenure)
	}
}

// TRANSFERRED passes the port, the flags and the regulator's bars on to the new holder.
// The operator's bar, the SIM and what is contested stay behind.
func TestTransferPassesOnPortFlagsAndTheRegulatorsBars(t *testing.T) {
	t.Parallel()

	events := []line.Event{
		event(line.Assign, 0, first), event(line.Port, day, to(other)), event(line.ChangeSIM, 2*day, from(other)), event(line.ChangeSIM, 3*day, from(other)),
		event(line.Bar, 4*day, from(other), code(line.ReasonDebt)), event(line.Bar, 5*day, ordered, code(line.ReasonNIN)),
		event(line.Bar, 6*day, ordered, onNumber, code(line.ReasonCourt)), event(line.Flag, 7*day, by(1), code(line.LevelMedium)),
		event(line.Flag, 8*day, by(2), code(line.LevelVeryHigh)), void(4, 9*day, from(other)), event(line.Park, 9*day, from(other)),
	}
	before, _ := rowOf(events...)
	if before.ContestedSIM != 3*day || before.Bits != line.FirstHolder || before.BarAt != 4*day {
		t.Fatalf("before the transfer: %+v", before)
	}
	want := before
	want.Version, want.Newest, want.Tenure, want.StateSince, want.State = before.Version+1, 10*day, 10*day, 10*day, line.StateActive
	want.SIM, want.ContestedSIM = line.Never, line.Never
	want.BarAt, want.BarReason, want.Bits = line.Never, 0, 0
	row, outcomes := rowOf(append(events, event(line.Transfer, 10*day, from(other)))...)
	if got := outcomes[len(outcomes)-1]; got != line.Applied {
		t.Fatalf("the outcome of the transfer is %d", got)
	}
	expect(t, row, want)
}

// TRANSFERRED applies to running tenures only, and is the word of the network that
// serves the line.
func TestTransferNeedsARunningTenure(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		events []line.Event
		want   line.Outcome
	}{
		"no tenure known":       {[]line.Event{event(line.Transfer, day)}, line.Applied},
		"an ended one":          {[]line.Event{event(line.Assign, 0), event(line.End, 1), event(line.Transfer, day)}, line.NoEffect},
		"a parked one":          {[]line.Event{event(line.Assign, 0), event(line.Park, 1), event(line.Transfer, day)}, line.Applied},
		"of another network":    {[]line.Event{event(line.Assign, 0), event(line.Transfer, day, from(other), outside)}, line.Waiting},
		"by the port recipient": {[]line.Event{event(line.Assign, 0), event(line.Port, 1, to(other)), event(line.Transfer, day, from(other))}, line.Applied},
	} {
		if _, outcomes := rowOf(test.events...); outcomes[len(outcomes)-1] != test.want {
			t.Errorf("%s: the outcome is %d", name, outcomes[len(outcomes)-1])
		}
	}
}

// From an announced churn date on the tenure counts as ended, at that date: what comes
// later applies to a number whose tenure has ended.
func TestAnnouncedChurnEndsTheTenureAtItsDate(t *testing.T) {
	t.Parallel()

	const date = 30 * day
	for name, test := range map[string]struct {
		event   line.Event
		outcome line.Outcome
		state   line.State
		since   line.Instant
		until   line.Instant
	}{
		"used a second before": {event(line.Use, date-1), line.Applied, line.StateActive, date - 1, line.Never},
		"used at the date":     {event(line.Use, date), line.Applied, line.StateActive, date, line.Never},
		"ended later":          {event(line.End, date+hour), line.NoEffect, line.StateEnded, date, line.Never},
		"a second notice":      {event(line.GiveNotice, date+hour, until(60*day)), line.Applied, line.StateNoticed, date + hour, 60 * day},
		"a later date instead": {event(line.GiveNotice, date-hour, until(60*day)), line.Applied, line.StateNoticed, date - hour, 60 * day},
		"reinstated":           {event(line.Reinstate, date+hour), line.Applied, line.StateActive, date + hour, line.Never},
		"assigned again":       {event(line.Assign, date+rest), line.Applied, line.StateActive, date + rest, line.Never},
		"a flag":               {event(line.Flag, date+hour, code(line.LevelHigh)), line.NoEffect, line.StateEnded, date, line.Never},
		"nothing before it":    {event(line.Flag, date-hour, code(line.LevelHigh)), line.Applied, line.StateNoticed, hour, date},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, outcomes := rowOf(event(line.Assign, 0), event(line.GiveNotice, hour, until(date)), test.event)
			if outcomes[2] != test.outcome || row.State != test.state || row.StateSince != test.since || row.Until != test.until {
				t.Errorf("outcome %d, %s since %d, until %d", outcomes[2], row.State, row.StateSince, row.Until)
			}
		})
	}
}

// A first holder is marked only if the mark was granted and nothing is known about an
// earlier tenure. The next holder is not a first one.
func TestFirstHolderIsMarked(t *testing.T) {
	t.Parallel()

	base := &line.Baseline{Import: 7, Network: home, Tenure: 0, SIM: line.Never, State: line.StateEnded, StateSince: day, Until: line.Never}
	for name, test := range map[string]struct {
		base   *line.Baseline
		events []line.Event
		first  bool
	}{
		"marked":                            {nil, []line.Event{event(line.Assign, 5*day, first)}, true},
		"not marked":                        {nil, []line.Event{event(line.Assign, 5*day)}, false},
		"something earlier turns up":        {nil, []line.Event{event(line.Assign, 5*day, first), event(line.Use, day, reported(6*day))}, false},
		"a snapshot had an earlier tenure":  {base, []line.Event{event(line.Assign, 200*day, first)}, false},
		"the next holder":                   {nil, []line.Event{event(line.Assign, 5*day, first), event(line.End, 6*day), event(line.Assign, 200*day)}, false},
		"the next holder by a transfer":     {nil, []line.Event{event(line.Assign, 5*day, first), event(line.Transfer, 6*day)}, false},
		"the next holder, wrongly marked":   {nil, []line.Event{event(line.Assign, 5*day, first), event(line.Assign, 6*day, first)}, false},
		"the same holder after a port":      {nil, []line.Event{event(line.Assign, 5*day, first), event(line.Port, 6*day, to(other))}, true},
		"the same holder got it back":       {nil, []line.Event{event(line.Assign, 5*day, first), event(line.End, 6*day), event(line.Reinstate, 7*day)}, true},
		"a port began the tenure after all": {nil, []line.Event{event(line.Assign, 5*day, first), event(line.End, 6*day), event(line.Port, 10*day, to(other))}, false},
	} {
		if row := fold(test.base, numbered(test.events...)); (row.Bits&line.FirstHolder != 0) != test.first {
			t.Errorf("%s: a first holder: %v", name, !test.first)
		}
	}
}
