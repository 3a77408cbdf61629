package line_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
)

// outcomesBySeq returns the outcomes by the seqs of the events.
func outcomesBySeq(events []line.Event, outcomes []line.Outcome) map[int64]line.Outcome {
	bySeq := map[int64]line.Outcome{}
	for i := range events {
		bySeq[events[i].Seq] = outcomes[i]
	}
	return bySeq
}

// The row and the outcomes do not depend on the order in which events are processed.
func TestOrderOfProcessingDoesNotMatter(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events, until := anyBaseline(t), anyHistory(t), instant(t, "until")
		mixed := rapid.Permutation(events).Draw(t, "mixed")
		for _, until := range []line.Instant{until, line.Forever} {
			row, outcomes := foldUntil(base, events, until)
			row2, outcomes2 := foldUntil(base, mixed, until)
			if diff := cmp.Diff(row, row2); diff != "" {
				t.Fatalf("the row (-in order +mixed):\n%s", diff)
			}
			if diff := cmp.Diff(outcomesBySeq(events, outcomes), outcomesBySeq(mixed, outcomes2)); diff != "" {
				t.Fatalf("the outcomes (-in order +mixed):\n%s", diff)
			}
		}
	})
}

// An event that the regulator voids leaves the row as if it had never been reported,
// except for the version.
func TestVoidByTheRegulatorLeavesNothing(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events, of := anyBaseline(t), anyHistory(t), anEvent(t, 100)
		v := withdrawal(&of, 101)
		ordered(&v)
		v.Hold = 0
		row, outcomes := foldUntil(base, append(slices.Clone(events), of, v), line.Forever)
		never := fold(base, events)
		never.Version += 2
		if diff := cmp.Diff(never, row); diff != "" {
			t.Fatalf("the row (-never reported +voided):\n%s", diff)
		}
		if got := outcomes[len(events)]; got != line.Voided {
			t.Fatalf("the voided event has outcome %d", got)
		}
	})
}

// An operator's void leaves nothing, either, if the event was neither a change, nor an
// end, nor part of a port.
func TestVoidOfWhatIsNoChangeLeavesNothing(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events, of := anyBaseline(t), without(anyHistory(t), aPort), anEvent(t, 100)
		switch of.Kind {
		case line.ChangeSIM, line.Assign, line.Transfer, line.End, line.Port, line.ClaimPort, line.ReleasePort:
			return
		default:
		}
		row, outcomes := foldUntil(base, append(slices.Clone(events), of, withdrawal(&of, 101)), line.Forever)
		never := fold(base, events)
		never.Version += 2
		if diff := cmp.Diff(never, row); diff != "" {
			t.Fatalf("the row (-never reported +voided):\n%s", diff)
		}
		if got := outcomes[len(events)]; got != line.Voided {
			t.Fatalf("the voided event has outcome %d", got)
		}
	})
}

// An operator that withdraws its only event about a number has no tenure of it.
func TestWithdrawalImpliesNoTenure(t *testing.T) {
	t.Parallel()

	for _, kind := range []line.Kind{line.Assign, line.ChangeSIM, line.Use, line.Bar} {
		if row, _ := rowOf(event(kind, 10), void(1, 11)); row.State != line.StateNone || row.Network != 0 || row.Tenure != line.Never {
			t.Errorf("after the void of %s the line is %s, with network %d since %d", kind, row.State, row.Network, row.Tenure)
		}
	}
}

// Where there is no port, Fold until a time is the fold of the events up to that time.
// (An end gives way to a port even if that port took effect after the time.)
func TestFoldUntilLeavesOutLaterEvents(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		events := without(anyHistory(t), func(e *line.Event) bool { return aPort(e) || e.Hold != 0 || e.Outside })
		until := instant(t, "until")
		row, outcomes := foldUntil(nil, events, until)
		isLate := func(e *line.Event) bool { return e.Effective > until && e.Kind != line.Void && e.Kind != line.Confirm }
		want, _ := foldUntil(nil, without(events, isLate), until)
		want.Version = int32(len(events))
		if diff := cmp.Diff(want, row); diff != "" {
			t.Fatalf("the row (-early events +until):\n%s", diff)
		}
		for i := range events {
			late := isLate(&events[i])
			if late && outcomes[i] != line.NotYet && outcomes[i] != line.Voided || !late && outcomes[i] == line.NotYet {
				t.Fatalf("event %d, effective %d, until %d: outcome %d", events[i].Seq, events[i].Effective, until, outcomes[i])
			}
		}
	})
}

// Fold does not change its arguments.
func TestFoldDoesNotChangeTheEvents(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		before := slices.Clone(events)
		fold(base, events)
		if diff := cmp.Diff(before, events); diff != "" {
			t.Fatalf("the events (-before +after):\n%s", diff)
		}
	})
}

// The first event of an operator about a number implies a tenure of unknown start; an
// event of another authority does not, and neither does one about other reports.
func TestFirstEventOfAnOperatorImpliesATenure(t *testing.T) {
	t.Parallel()

	for _, kind := range line.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			e := event(kind, 5, to(other))
			if kind == line.Restate {
				e.Base = &line.Baseline{Network: home, State: line.StateActive, Tenure: line.Never, SIM: line.Never, StateSince: 5, Until: line.Never}
			}
			row, outcomes := rowOf(e)
			hasState := row.State != line.StateNone
			switch kind {
			case line.Void, line.Confirm:
				if hasState || row.Newest != line.Never {
					t.Errorf("the state is %s", row.State)
				}
			case line.Reinstate:
				if hasState || outcomes[0] != line.NoEffect {
					t.Errorf("the state is %s, the outcome %d", row.State, outcomes[0])
				}
			case line.ClaimPort, line.ReleasePort:
				if hasState || outcomes[0] != line.Waiting {
					t.Errorf("half of a port gives the state %s, outcome %d", row.State, outcomes[0])
				}
			case line.Port:
				if !hasState || row.Network != other {
					t.Errorf("the port leaves the number %s, with network %d", row.State, row.Network)
				}
			default:
				if hasState != (e.Authority == line.Operator) {
					t.Errorf("the state is %s", row.State)
				}
				if hasState && (row.Network != home || kind != line.Assign && kind != line.Transfer && row.Tenure != line.Never) {
					t.Errorf("the tenure is with network %d since %d", row.Network, row.Tenure)
				}
			}
		})
	}
}

// Events of the same second apply in the order of the table, whichever was reported
// first, and events of one kind in the order of their reports.
func TestEventsOfOneSecondApplyInTheOrderOfTheTable(t *testing.T) {
	t.Parallel()

	const at = 100
	used := event(line.Use, 0)
	for _, one := range line.Kinds() {
		for _, two := range line.Kinds() {
			a, b := event(one, at, code(line.LevelHigh)), event(two, at, code(line.LevelHigh))
			if aboutReports := func(k line.Kind) bool { return k == line.Void || k >= line.Confirm }; one == two || aboutReports(one) || aboutReports(two) || aPort(&a) || aPort(&b) {
				continue // what a donor reports depends on whether the port was known
			}
			row, _ := rowOf(used, a, b)
			swapped, _ := rowOf(used, b, a)
			if diff := cmp.Diff(row, swapped); diff != "" {
				t.Errorf("%s and %s (-in this order +in the other):\n%s", one, two, diff)
			}
		}
	}
	if row, _ := rowOf(used, event(line.Assign, at), event(line.End, at)); row.State != line.StateActive || row.Tenure != at {
		t.Errorf("ended and assigned in one second, the line is %s", row.State)
	}
	if row, _ := rowOf(used, event(line.Bar, at, code(line.ReasonLost), reported(at+2)), event(line.Bar, at, code(line.ReasonDebt), reported(at+1))); row.BarReason != line.ReasonLost {
		t.Errorf("barred twice in one second, the reason is %s", row.BarReason)
	}
}
