package line_test

import (
	"slices"
	"testing"

	"github.com/lineproof/lineproof/internal/line"
)

// contested returns the contested signals of a line at a time.
func contested(r line.Row, at line.Instant) (all []line.Signal) {
	for _, s := range viewOf(r, at).Signals {
		if s.Contested {
			all = append(all, s)
		}
	}
	return all
}

// The change that its operator withdrew leaves its signal, marked contested, until its
// window would have ended. The line is otherwise as if it had not been reported.
func TestWithdrawnChangeStaysContestedUntilItsWindowEnds(t *testing.T) {
	t.Parallel()

	const at = 200 * day
	assigned := event(line.Assign, 0)
	for name, test := range map[string]struct {
		events []line.Event
		status line.Status
		lasts  line.Instant
	}{
		"a SIM change":             {[]line.Event{assigned, event(line.ChangeSIM, at), void(2, at+hour+1)}, line.Swapped, 10 * day},
		"a late SIM change":        {[]line.Event{assigned, event(line.ChangeSIM, at, reported(at+day)), void(2, at+2*day)}, line.Swapped, 10 * day},
		"a new holder":             {[]line.Event{assigned, event(line.Assign, at), void(2, at+hour+1)}, line.Recycled, rest},
		"a new holder by transfer": {[]line.Event{assigned, event(line.Transfer, at), void(2, at+hour+1)}, line.Recycled, rest},
		"a SIM change, held and confirmed": {
			[]line.Event{assigned, event(line.ChangeSIM, at, held(line.HoldMass)), confirm(2, at+2*day), void(2, at+3*day)}, line.Swapped, 10 * day,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, _ := rowOf(test.events...)
			want := line.Signal{Status: test.status, Since: at, Until: at + test.lasts, Source: line.Operator, Contested: true}
			if got := contested(row, want.Until-1); !slices.Equal(got, []line.Signal{want}) || viewOf(row, want.Until-1).Status != test.status {
				t.Errorf("a second before the end: %+v, not %+v", got, want)
			}
			if got := viewOf(row, want.Until); len(got.Signals) != 0 || got.Status != line.Normal {
				t.Errorf("at the end the line is %s: %+v", got.Status, got.Signals)
			}
			if row.Tenure != 0 || row.SIM != line.Never || row.PortAt != line.Never || row.Network != home {
				t.Errorf("network %d, tenure %d, SIM %d, port %d", row.Network, row.Tenure, row.SIM, row.PortAt)
			}
			if got := changedSince(row, at-day, at+4*day).Changed; got != line.Uncertain {
				t.Errorf("a contested change gives %s", got)
			}
			row, _ = rowOf(append(test.events, event(line.End, at+5*day))...)
			if got := contested(row, at+5*day); len(got) != 0 {
				t.Errorf("after the end of the tenure: %+v", got)
			}
		})
	}
}

// A withdrawal by an authority leaves nothing; so does that of an event that never
// counted.
func TestVoidsThatLeaveNothing(t *testing.T) {
	t.Parallel()

	const at = 200 * day
	assigned, swapped := event(line.Assign, 0), event(line.ChangeSIM, at)
	for name, events := range map[string][]line.Event{
		"of the regulator":                        {assigned, swapped, void(2, at+1, ordered)},
		"of a new holder, by the regulator":       {assigned, event(line.Assign, at), void(2, at+1, ordered)},
		"of a SIM change of another network":      {assigned, event(line.ChangeSIM, at, from(other), outside), void(2, at+day, from(other))},
		"of a SIM change that is held":            {assigned, event(line.ChangeSIM, at, held(line.HoldMass)), void(2, at+day)},
		"of a SIM change, within the hour":        {assigned, swapped, void(2, at+hour)},
		"of a new holder, within the hour":        {assigned, event(line.Assign, at), void(2, at+hour)},
		"of a new holder of a blacklisted number": {assigned, event(line.Blacklist, 1), event(line.Assign, at), void(3, at+day)},
		"of a port, within the hour":              {assigned, event(line.Port, at, to(other)), void(2, at+hour, func(e *line.Event) { e.Authority, e.Network = line.ClearingHouse, 0 })},
		"of a claim alone":                        {assigned, event(line.ClaimPort, at, from(other)), void(2, at+1, from(other))},
	} {
		row, _ := rowOf(events...)
		if got := contested(row, at+3); len(got) != 0 {
			t.Errorf("a void %s leaves %+v", name, got)
		}
	}
}

// Of several withdrawn changes the most recent is shown. A new holder begins without contested changes.
func TestContestedChangesOfOneTenure(t *testing.T) {
	t.Parallel()

	events := []line.Event{
		event(line.Assign, 0), event(line.ChangeSIM, 10*day, reported(20*day)), event(line.ChangeSIM, 15*day), void(2, 21*day), void(3, 21*day),
	}
	row, _ := rowOf(events...)
	if row.ContestedSIM != 15*day {
		t.Errorf("contested %d", row.ContestedSIM)
	}
	row, _ = rowOf(append(events, event(line.ChangeSIM, 22*day))...)
	if row.SIM != 22*day || row.ContestedSIM != 15*day {
		t.Errorf("a newer change: SIM %d, contested %d", row.SIM, row.ContestedSIM)
	}
	row, _ = rowOf(append(events, event(line.Assign, 23*day))...)
	if row.ContestedSIM != line.Never {
		t.Errorf("the next holder has a contested SIM change of %d", row.ContestedSIM)
	}
}

// The void of an end, or of a port within the hour, leaves nothing; that of a port by another than the regulator, later
// than that, makes nothing certain before it, and no signal.
func TestWithdrawnEndAndPort(t *testing.T) {
	t.Parallel()

	const at = 100 * day
	row, outcomes := rowOf(event(line.Assign, 0), event(line.Flag, day, by(1), code(line.LevelHigh)), event(line.End, at), void(3, at+day))
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Voided, line.Applied)
	if row.State != line.StateActive || row.StateSince != 0 || row.HighAt != day || row.Bits != 0 {
		t.Errorf("the end was withdrawn: %s since %d, flagged at %d, bits %d", row.State, row.StateSince, row.HighAt, row.Bits)
	}

	byHouse := func(e *line.Event) { e.Authority, e.Network = line.ClearingHouse, 0 }
	row, outcomes = rowOf(event(line.Assign, 0), event(line.Port, at, to(other)), void(2, at+hour+1, byHouse))
	expectOutcomes(t, outcomes, line.Applied, line.Voided, line.Applied)
	if row.Network != home || row.PortAt != line.Never || row.ContestedPort != at || len(viewOf(row, at+2*day).Signals) != 0 {
		t.Errorf("the port was withdrawn: with network %d, ported at %d, contested %d", row.Network, row.PortAt, row.ContestedPort)
	}
	if before, after := changedSince(row, at-1, at+2*day).Changed, changedSince(row, at, at+2*day).Changed; before != line.Uncertain || after != line.No {
		t.Errorf("changed since before the port: %s, since then: %s", before, after)
	}
}
