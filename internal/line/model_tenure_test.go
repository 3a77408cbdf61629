package line_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
)

// aTenure draws the life of one tenure at home, told in time: it has begun, has
// not ended, and everything about it is over before the instant that it returns.
func aTenure(t *rapid.T) (events []line.Event, over line.Instant) {
	events = append(events, event(line.Assign, 0))
	for range rapid.IntRange(0, 10).Draw(t, "events") {
		e := anEvent(t, 0)
		if slices.Contains([]line.Kind{line.Assign, line.End, line.Reinstate, line.Port, line.ClaimPort, line.ReleasePort}, e.Kind) {
			continue
		}
		if e.By == line.Operator {
			e.Network = home
		}
		e.Effective++
		events = append(events, e)
	}
	return told(events...), 40
}

// marks are the flags and bars of a row.
func marks(r *line.Row) []any {
	return []any{r.BarAt, r.BarReason, r.OrderAt, r.OrderReason, r.FlagAt, r.FlagLevel, r.FlagBy}
}

// Flags and bars, the regulator's included, die with the tenure: nothing of them
// is shown while the number rests, and the next holder begins without them. An
// appeal that gives the number back brings them back.
func TestMarksDieWithTheTenure(t *testing.T) {
	t.Parallel()

	marked := 0
	rapid.Check(t, func(t *rapid.T) {
		events, over := aTenure(t)
		before := fold(nil, events)
		if before.FlagAt != line.Never || before.BarAt != line.Never || before.OrderAt != line.Never {
			marked++
		}

		ended := fold(nil, told(append(events, event(line.End, over))...))
		for _, s := range viewOf(ended, over+1).Signals {
			if s.Status != line.Blacklisted && s.Status != line.Quarantined {
				t.Fatalf("after the end of the tenure %s is still shown", s.Status)
			}
		}

		back := fold(nil, told(append(events, event(line.End, over), event(line.Reinstate, over+1))...))
		if diff := cmp.Diff(marks(&before), marks(&back)); diff != "" {
			t.Fatalf("after the appeal (-before the end +after):\n%s", diff)
		}
		if back.Tenure != before.Tenure || back.SIM != before.SIM || back.State != line.StateActive {
			t.Fatalf("the appeal gave back %+v of %+v", back, before)
		}

		again := told(append(events, event(line.Release, over), event(line.End, over), event(line.Assign, over+1))...)
		row, fresh := fold(nil, again), line.NoRow()
		fresh.Network, fresh.State, fresh.StateSince, fresh.Tenure = home, line.StateActive, over+1, over+1
		if diff := sameLine(fresh, row); diff != "" {
			t.Fatalf("the next tenure does not begin afresh (-fresh +got):\n%s", diff)
		}
	})
	if marked == 0 {
		t.Error("none of the tenures had a flag or a bar")
	}
}

// A number that is blacklisted stays so beyond the tenure, and no new tenure
// begins until it is released.
func TestBlacklistingOutlivesTheTenure(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		events, over := aTenure(t)
		events = append(events, event(line.Blacklist, over), event(line.End, over+1))
		rested := fold(nil, told(events...))
		if view := viewOf(rested, over+2); rested.BlackAt != over || view.Status != line.Blacklisted {
			t.Fatalf("after the end of the tenure the number is %s", view.Status)
		}

		events = append(events, event(line.Assign, over+2))
		blocked, outcomes := line.Fold(nil, told(events...), always)
		if diff := sameLine(rested, blocked); diff != "" || outcomes[len(outcomes)-1] != line.Blocked {
			t.Fatalf("a tenure began, outcome %d (-before +after):\n%s", outcomes[len(outcomes)-1], diff)
		}

		events = append(events, event(line.Release, over+3), event(line.Assign, over+3))
		free := fold(nil, told(events...))
		if free.State != line.StateActive || free.Tenure != over+3 || free.BlackAt != line.Never {
			t.Fatalf("after the release: %+v", free)
		}
	})
}

// Who may lift a bar: whoever set it, or a higher authority.
func TestBarsAreLiftedBySameOrHigherAuthority(t *testing.T) {
	t.Parallel()

	begun := event(line.Assign, 0)
	mine, orders := event(line.Bar, 5, code(line.ReasonDebt)), event(line.Bar, 6, ordered, code(line.ReasonCourt))
	for name, test := range map[string]struct {
		events       []line.Event
		bar, ordered bool
	}{
		"the operator lifts its own":             {[]line.Event{begun, mine, event(line.Unbar, 7)}, false, false},
		"the operator cannot lift the order":     {[]line.Event{begun, orders, event(line.Unbar, 7)}, false, true},
		"the operator lifts only its own":        {[]line.Event{begun, mine, orders, event(line.Unbar, 7)}, false, true},
		"the regulator lifts both":               {[]line.Event{begun, mine, orders, event(line.Unbar, 7, ordered)}, false, false},
		"another network cannot lift anything":   {[]line.Event{begun, mine, event(line.Unbar, 7, from(away))}, true, false},
		"a bar stays with a line that is ported": {[]line.Event{begun, mine, event(line.Port, 7, to(away))}, true, false},
		"of which the recipient may lift it":     {[]line.Event{begun, mine, event(line.Port, 7, to(away)), event(line.Unbar, 8, from(away))}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fold(nil, told(test.events...))
			if (r.BarAt != line.Never) != test.bar || (r.OrderAt != line.Never) != test.ordered {
				t.Errorf("the operator's bar is %v, the order %v", r.BarAt != line.Never, r.OrderAt != line.Never)
			}
		})
	}
}

// A flag is taken back by whoever set it, or by the regulator, and by nobody
// else: not by flagging the line oneself and taking that back.
func TestFlagsAreTakenBackByWhoeverSetThem(t *testing.T) {
	t.Parallel()

	begun, first := event(line.Assign, 0), event(line.Flag, 5, by(1), code(line.LevelVeryHigh))
	second := event(line.Flag, 6, by(2), code(line.LevelMedium))
	for name, test := range map[string]struct {
		events  []line.Event
		by      int32
		outcome line.Outcome // of the last event
	}{
		"by whoever set it":                       {[]line.Event{begun, first, event(line.Unflag, 7, by(1))}, 0, line.Applied},
		"not by another":                          {[]line.Event{begun, first, event(line.Unflag, 7, by(2))}, 1, line.NotTheirs},
		"by the regulator":                        {[]line.Event{begun, first, event(line.Unflag, 7, ordered, by(9))}, 0, line.Applied},
		"the newest flag is shown":                {[]line.Event{begun, first, second}, 2, line.Applied},
		"whose end brings the older back":         {[]line.Event{begun, first, second, event(line.Unflag, 7, by(2))}, 1, line.Applied},
		"an older one goes without a trace":       {[]line.Event{begun, first, second, event(line.Unflag, 7, by(1))}, 2, line.Applied},
		"the regulator takes all of them back":    {[]line.Event{begun, first, second, event(line.Unflag, 7, ordered, by(9))}, 0, line.Applied},
		"one regulator's flag is one, told twice": {[]line.Event{begun, first, event(line.Flag, 6, by(1)), event(line.Unflag, 7, by(1))}, 0, line.Applied},
		"no flag is left of the tenure before":    {[]line.Event{begun, first, event(line.Assign, 6), second, event(line.Unflag, 7, by(2))}, 0, line.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, outcomes := line.Fold(nil, told(test.events...), always)
			if got := outcomes[len(outcomes)-1]; r.FlagBy != test.by || (r.FlagAt == line.Never) != (test.by == 0) || got != test.outcome {
				t.Errorf("flagged by %d at %d, outcome %d; want by %d, outcome %d", r.FlagBy, r.FlagAt, got, test.by, test.outcome)
			}
		})
	}
}

// An operator's first word about a number implies a tenure of unknown start;
// another authority's does not.
func TestFirstWordOfAnOperatorImpliesATenure(t *testing.T) {
	t.Parallel()

	for _, kind := range line.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			if kind == line.Void {
				return // nothing could have been told before
			}
			e := event(kind, 5, to(away))
			row, outcomes := line.Fold(nil, told(e), always)
			half := kind == line.ClaimPort || kind == line.ReleasePort
			switch spoken := row.State != line.StateNone; {
			case kind == line.Reinstate:
				if spoken || outcomes[0] != line.NotInState {
					t.Errorf("an appeal without an end makes the state %s, outcome %d", row.State, outcomes[0])
				}
			case half:
				if spoken || outcomes[0] != line.HalfPort {
					t.Errorf("half of a port makes the state %s, outcome %d", row.State, outcomes[0])
				}
			case kind == line.Port:
				if !spoken || row.Network != away {
					t.Errorf("the port leaves the number %s, with network %d", row.State, row.Network)
				}
			case spoken != (e.By == line.Operator):
				t.Errorf("the state is %s", row.State)
			case spoken && (row.Network != home || kind != line.Assign && row.Tenure != line.Never):
				t.Errorf("the tenure is with network %d since %d", row.Network, row.Tenure)
			}
		})
	}
}
