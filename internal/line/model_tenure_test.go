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
		if slices.Contains([]line.Kind{line.Assign, line.End, line.Reinstate, line.Port, line.ClaimPort, line.ReleasePort}, e.Kind) {
			continue
		}
		if e.Authority == line.Operator {
			e.Network = home
		}
		e.Effective++
		events = append(events, e)
	}
	return numbered(events...), 40
}

// marks returns the flags and bars of a row.
func marks(r *line.Row) []any {
	return []any{r.BarAt, r.BarReason, r.OrderAt, r.OrderReason, r.FlagAt, r.FlagLevel, r.FlagBy}
}

// Flags and bars, including the regulator's, end with the tenure: they are not shown
// while the number is quarantined, and the next tenure starts without them. A
// reinstatement restores them.
func TestFlagsAndBarsEndWithTheTenure(t *testing.T) {
	t.Parallel()

	marked := 0
	rapid.Check(t, func(t *rapid.T) {
		events, over := aTenure(t)
		before := fold(nil, events)
		if before.FlagAt != line.Never || before.BarAt != line.Never || before.OrderAt != line.Never {
			marked++
		}

		ended := fold(nil, numbered(append(events, event(line.End, over))...))
		for _, s := range viewOf(ended, over+1).Signals {
			if s.Status != line.Blacklisted && s.Status != line.Quarantined {
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

		again := numbered(append(events, event(line.Release, over), event(line.End, over), event(line.Assign, over+1))...)
		row, fresh := fold(nil, again), line.NoRow()
		fresh.Network, fresh.State, fresh.StateSince, fresh.Tenure = home, line.StateActive, over+1, over+1
		if diff := sameLine(fresh, row); diff != "" {
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
		blocked, outcomes := line.Fold(nil, numbered(events...), always)
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

// A bar is lifted by the authority that set it, or by a higher one.
func TestBarsAreLiftedBySameOrHigherAuthority(t *testing.T) {
	t.Parallel()

	assigned := event(line.Assign, 0)
	mine, orders := event(line.Bar, 5, code(line.ReasonDebt)), event(line.Bar, 6, ordered, code(line.ReasonCourt))
	for name, test := range map[string]struct {
		events       []line.Event
		bar, ordered bool
	}{
		"the operator lifts its own":                      {[]line.Event{assigned, mine, event(line.Unbar, 7)}, false, false},
		"the operator cannot lift the order":              {[]line.Event{assigned, orders, event(line.Unbar, 7)}, false, true},
		"the operator lifts only its own":                 {[]line.Event{assigned, mine, orders, event(line.Unbar, 7)}, false, true},
		"the regulator lifts both":                        {[]line.Event{assigned, mine, orders, event(line.Unbar, 7, ordered)}, false, false},
		"another network cannot lift anything":            {[]line.Event{assigned, mine, event(line.Unbar, 7, from(other))}, true, false},
		"a bar stays with a line that is ported":          {[]line.Event{assigned, mine, event(line.Port, 7, to(other))}, true, false},
		"the recipient may lift the bar of a ported line": {[]line.Event{assigned, mine, event(line.Port, 7, to(other)), event(line.Unbar, 8, from(other))}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fold(nil, numbered(test.events...))
			if (r.BarAt != line.Never) != test.bar || (r.OrderAt != line.Never) != test.ordered {
				t.Errorf("the operator's bar is %v, the order %v", r.BarAt != line.Never, r.OrderAt != line.Never)
			}
		})
	}
}

// A flag is withdrawn only by the supplier that set it or by the regulator. Another
// supplier cannot remove it by setting and withdrawing a flag of its own.
func TestFlagsAreWithdrawnByTheirOwner(t *testing.T) {
	t.Parallel()

	assigned, first := event(line.Assign, 0), event(line.Flag, 5, by(1), code(line.LevelVeryHigh))
	second := event(line.Flag, 6, by(2), code(line.LevelMedium))
	for name, test := range map[string]struct {
		events  []line.Event
		by      int32
		outcome line.Outcome // of the last event
	}{
		"by its owner":                                     {[]line.Event{assigned, first, event(line.Unflag, 7, by(1))}, 0, line.Applied},
		"not by another":                                   {[]line.Event{assigned, first, event(line.Unflag, 7, by(2))}, 1, line.NotFlagOwner},
		"by the regulator":                                 {[]line.Event{assigned, first, event(line.Unflag, 7, ordered, by(9))}, 0, line.Applied},
		"the newest flag is shown":                         {[]line.Event{assigned, first, second}, 2, line.Applied},
		"withdrawing the newest shows the older one":       {[]line.Event{assigned, first, second, event(line.Unflag, 7, by(2))}, 1, line.Applied},
		"withdrawing an older one changes nothing visible": {[]line.Event{assigned, first, second, event(line.Unflag, 7, by(1))}, 2, line.Applied},
		"the regulator withdraws all flags":                {[]line.Event{assigned, first, second, event(line.Unflag, 7, ordered, by(9))}, 0, line.Applied},
		"flagging twice by one regulator is one flag":      {[]line.Event{assigned, first, event(line.Flag, 6, by(1)), event(line.Unflag, 7, by(1))}, 0, line.Applied},
		"no flag of the previous tenure is left":           {[]line.Event{assigned, first, event(line.Assign, 6), second, event(line.Unflag, 7, by(2))}, 0, line.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, outcomes := line.Fold(nil, numbered(test.events...), always)
			if got := outcomes[len(outcomes)-1]; r.FlagBy != test.by || (r.FlagAt == line.Never) != (test.by == 0) || got != test.outcome {
				t.Errorf("flagged by %d at %d, outcome %d; want by %d, outcome %d", r.FlagBy, r.FlagAt, got, test.by, test.outcome)
			}
		})
	}
}

// The first event of an operator about a number implies a tenure of unknown start; an
// event of another authority does not.
func TestFirstEventOfAnOperatorImpliesATenure(t *testing.T) {
	t.Parallel()

	for _, kind := range line.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			if kind == line.Void {
				return // it needs an earlier event
			}
			e := event(kind, 5, to(other))
			row, outcomes := line.Fold(nil, numbered(e), always)
			half := kind == line.ClaimPort || kind == line.ReleasePort
			switch hasState := row.State != line.StateNone; {
			case kind == line.Reinstate:
				if hasState || outcomes[0] != line.NotInState {
					t.Errorf("a reinstatement without an end gives the state %s, outcome %d", row.State, outcomes[0])
				}
			case half:
				if hasState || outcomes[0] != line.HalfPort {
					t.Errorf("half of a port gives the state %s, outcome %d", row.State, outcomes[0])
				}
			case kind == line.Port:
				if !hasState || row.Network != other {
					t.Errorf("the port leaves the number %s, with network %d", row.State, row.Network)
				}
			case hasState != (e.Authority == line.Operator):
				t.Errorf("the state is %s", row.State)
			case hasState && (row.Network != home || kind != line.Assign && row.Tenure != line.Never):
				t.Errorf("the tenure is with network %d since %d", row.Network, row.Tenure)
			}
		})
	}
}
