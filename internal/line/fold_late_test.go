package line_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// What an operator reports about a line that it did not serve then is pending. It
// counts once the port arrives, and its window then runs from the report of the port.
func TestPendingCountsFromTheReportOfThePort(t *testing.T) {
	t.Parallel()

	assigned, swapped := event(line.Assign, 0), event(line.ChangeSIM, 10*day, from(other), outside)
	row, outcomes := rowOf(assigned, swapped)
	expectOutcomes(t, outcomes, line.Applied, line.Pending)
	if row.SIM != line.Never || row.Network != home || row.DoubtAt != line.Never || row.Bits != 0 {
		t.Errorf("while it is pending: %+v", row)
	}

	row, outcomes = rowOf(assigned, swapped, event(line.Port, 9*day, to(other), reported(20*day)))
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Applied)
	if row.Network != other || row.SIM != 10*day || row.SIMWindow != 20*day || row.PortAt != 9*day || row.PortWindow != 20*day {
		t.Errorf("network %d, SIM %d with the window from %d, port %d with the window from %d", row.Network, row.SIM, row.SIMWindow, row.PortAt, row.PortWindow)
	}

	_, outcomes = rowOf(assigned, swapped, event(line.Port, 10*day+1, to(other), reported(20*day)))
	expectOutcomes(t, outcomes, line.Applied, line.Pending, line.Applied) // it was with home then
}

// A report of a network that has nothing to do with a number that nobody has marks the
// number as claimed, and does nothing else.
func TestReportAboutANumberOfNobodyOnlyMarksIt(t *testing.T) {
	t.Parallel()

	want := line.NoRow()
	want.Version, want.Newest, want.Bits = 1, 10, line.Claimed
	row, outcomes := rowOf(event(line.ChangeSIM, 10, from(other), outside))
	expectOutcomes(t, outcomes, line.Pending)
	expect(t, row, want)

	row, _ = rowOf(event(line.ChangeSIM, 10, from(other), outside), void(1, 20, from(other)))
	if row.Bits != 0 || row.State != line.StateNone || row.ContestedSIM != line.Never {
		t.Errorf("withdrawn, it still marks the number: %+v", row)
	}
	row, _ = rowOf(event(line.ChangeSIM, 10, from(other), outside), event(line.Use, 20))
	if row.Bits != 0 || row.Network != home {
		t.Errorf("the number is claimed although its own network has it: %+v", row)
	}
}

// The window of a change runs from its effect, or from its report if that was later
// than the deadline.
func TestWindowOfALateReportRunsFromTheReport(t *testing.T) {
	t.Parallel()

	const at = 10 * day
	swap := func(change ...func(*line.Event)) line.Event { return event(line.ChangeSIM, at, change...) }
	port := func(change ...func(*line.Event)) line.Event {
		return event(line.Port, at, append(change, to(other))...)
	}
	backdated := held(line.HoldBackdated)
	for name, test := range map[string]struct {
		events []line.Event // the change is the first
		window line.Instant
	}{
		"a SIM change, reported after one hour":  {[]line.Event{swap(reported(at + hour))}, at},
		"a SIM change, a second later":           {[]line.Event{swap(reported(at + hour + 1))}, at + hour + 1},
		"a held one runs from its confirmation":  {[]line.Event{swap(backdated), confirm(1, at+9*day)}, at + 9*day},
		"a held one, confirmed within the hour":  {[]line.Event{swap(backdated), confirm(1, at+hour)}, at},
		"a held one, that is not confirmed":      {[]line.Event{swap(backdated)}, line.Never},
		"a port, reported after 24 hours":        {[]line.Event{port(reported(at + 24*hour))}, at},
		"a port, a second later":                 {[]line.Event{port(reported(at + 24*hour + 1))}, at + 24*hour + 1},
		"a held port runs from its confirmation": {[]line.Event{port(backdated), confirm(1, at+9*day)}, at + 9*day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := fold(nil, append(numbered(test.events...), event(line.Assign, 0, func(e *line.Event) { e.Seq = 9 })))
			changed, window := row.SIM, row.SIMWindow
			if test.events[0].Kind == line.Port {
				changed, window = row.PortAt, row.PortWindow
			}
			if window != test.window || test.window != line.Never && changed != at {
				t.Errorf("the change is at %d, its window from %d and not from %d", changed, window, test.window)
			}
		})
	}
}

// What a first snapshot says is never late.
func TestBaselineIsNeverLate(t *testing.T) {
	t.Parallel()

	base := &line.Baseline{Import: 7, Network: home, Tenure: 0, SIM: day, State: line.StateActive, StateSince: 0, Until: line.Never}
	if row := fold(base, numbered(event(line.Flag, 30*day, code(line.LevelHigh)))); row.SIM != day || row.SIMWindow != day {
		t.Errorf("the SIM changed at %d, its window runs from %d", row.SIM, row.SIMWindow)
	}
}

// If a tenure has several changes of a kind, the most recent is shown, and the window
// ends at the latest of their ends. A new tenure begins without windows.
func TestLatestWindowOfSeveralChangesCounts(t *testing.T) {
	t.Parallel()

	late, soon := event(line.ChangeSIM, 10*day, reported(20*day)), event(line.ChangeSIM, 15*day)
	row, _ := rowOf(event(line.Assign, 0), late, soon)
	if row.SIM != 15*day || row.SIMWindow != 20*day {
		t.Errorf("the SIM changed at %d, the window runs from %d", row.SIM, row.SIMWindow)
	}
	row, _ = rowOf(event(line.Assign, 0), late, soon, event(line.ChangeSIM, 21*day))
	if row.SIM != 21*day || row.SIMWindow != 21*day {
		t.Errorf("after a newer change: the SIM changed at %d, the window runs from %d", row.SIM, row.SIMWindow)
	}
	row, _ = rowOf(event(line.Assign, 0), event(line.Port, 10*day, to(other), reported(20*day)), event(line.Port, 15*day, to(home)))
	if row.PortAt != 15*day || row.PortWindow != 20*day {
		t.Errorf("ported at %d, the window runs from %d", row.PortAt, row.PortWindow)
	}
	row, _ = rowOf(event(line.Assign, 0), late, soon, event(line.Assign, 16*day))
	if row.SIM != line.Never || row.SIMWindow != line.Never {
		t.Errorf("the new tenure has the SIM %d, the window from %d", row.SIM, row.SIMWindow)
	}
}

// A row depends on the policy that was in effect when its events counted, so that a new
// policy does not change it.
func TestLatenessIsJudgedByThePolicyOfTheReport(t *testing.T) {
	t.Parallel()

	h := &line.History{Events: numbered(event(line.Assign, 0), event(line.ChangeSIM, 10*day, reported(11*day)))}
	for name, test := range map[string]struct{ changed, window line.Instant }{
		"the deadline was extended when it was reported": {11 * day, 10 * day},
		"the deadline was extended after the report":     {11*day + 1, 11 * day},
	} {
		before, now := policy.Defaults(), policy.Defaults()
		now.SIMReportHours, now.EffectiveAt = 48, test.changed.Time()
		if row := h.Row(line.TermsOf([]policy.Policy{before, now})); row.SIMWindow != test.window {
			t.Errorf("%s: the window runs from %d", name, row.SIMWindow)
		}
	}
}
