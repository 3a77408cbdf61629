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
		from   line.Instant // of the window
		lasts  line.Instant
	}{
		"a SIM change":             {[]line.Event{assigned, event(line.ChangeSIM, at), void(2, at+hour)}, line.Swapped, at, 10 * day},
		"a late SIM change":        {[]line.Event{assigned, event(line.ChangeSIM, at, reported(at+day)), void(2, at+2*day)}, line.Swapped, at + day, 10 * day},
		"a new holder":             {[]line.Event{assigned, event(line.Assign, at), void(2, at+hour)}, line.Recycled, at, rest},
		"a new holder by transfer": {[]line.Event{assigned, event(line.Transfer, at), void(2, at+hour)}, line.Recycled, at, rest},
		"a SIM change, held and confirmed": {
			[]line.Event{assigned, event(line.ChangeSIM, at, held(line.HoldBackdated)), confirm(2, at+2*day), void(2, at+3*day)}, line.Swapped, at + 2*day, 10 * day,
		},
		"a port": {
			[]line.Event{assigned, event(line.ClaimPort, at, from(other)), event(line.ReleasePort, at, to(other)), void(2, at+day, from(other)), void(3, at+day)},
			line.Ported, at, 10 * day,
		},
		"a late port": {
			[]line.Event{
				assigned, event(line.ClaimPort, at, from(other)), event(line.ReleasePort, at, to(other), reported(at+2*day)),
				void(2, at+3*day, from(other)), void(3, at+3*day),
			},
			line.Ported, at + 2*day, 10 * day,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, _ := rowOf(test.events...)
			want := line.Signal{Status: test.status, Since: at, Until: test.from + test.lasts, Source: line.Operator, Contested: true}
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
		"of a pending SIM change":                 {assigned, event(line.ChangeSIM, at, from(other), outside), void(2, at+1, from(other))},
		"of a SIM change that is held":            {assigned, event(line.ChangeSIM, at, held(line.HoldBackdated)), void(2, at+1)},
		"of a new holder of a blacklisted number": {assigned, event(line.Blacklist, 1), event(line.Assign, at), void(3, at+1)},
		"of a port, by the clearing house":        {assigned, event(line.Port, at, to(other)), void(2, at+1, func(e *line.Event) { e.Authority, e.Network = line.ClearingHouse, 0 })},
		"of half of a port, by the regulator":     {assigned, event(line.ClaimPort, at, from(other)), event(line.ReleasePort, at, to(other)), void(2, at+1, ordered)},
		"of a claim alone":                        {assigned, event(line.ClaimPort, at, from(other)), void(2, at+1, from(other))},
	} {
		row, _ := rowOf(events...)
		if got := contested(row, at+3); len(got) != 0 {
			t.Errorf("a void %s leaves %+v", name, got)
		}
	}
}

// Of several withdrawn changes the most recent is shown, and the window ends at the
// latest of their ends. A new holder begins without contested changes.
func TestContestedChangesOfOneTenure(t *testing.T) {
	t.Parallel()

	events := []line.Event{
		event(line.Assign, 0), event(line.ChangeSIM, 10*day, reported(20*day)), event(line.ChangeSIM, 15*day), void(2, 21*day), void(3, 21*day),
	}
	row, _ := rowOf(events...)
	if row.ContestedSIM != 15*day || row.ContestedSIMWindow != 20*day {
		t.Errorf("contested %d, with the window from %d", row.ContestedSIM, row.ContestedSIMWindow)
	}
	row, _ = rowOf(append(events, event(line.ChangeSIM, 22*day))...)
	if row.SIM != 22*day || row.ContestedSIM != 15*day {
		t.Errorf("a newer change: SIM %d, contested %d", row.SIM, row.ContestedSIM)
	}
	row, _ = rowOf(append(events, event(line.Assign, 23*day))...)
	if row.ContestedSIM != line.Never || row.ContestedSIMWindow != line.Never {
		t.Errorf("the next holder has a contested SIM change of %d", row.ContestedSIM)
	}
}

// The void of an end is held: the end stands, marked contested, and the holder can be
// reinstated. When the regulator confirms the void, the tenure goes on.
func TestWithdrawnEndStandsUntilTheRegulatorDecides(t *testing.T) {
	t.Parallel()

	const end = 100 * day
	events := []line.Event{event(line.Assign, 0), event(line.End, end), void(2, end+day, held(line.HoldEndVoid))}
	row, outcomes := rowOf(events...)
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Held)
	want := []line.Signal{{Status: line.Quarantined, Since: end, Until: line.Never, Source: line.Operator, Contested: true}}
	if got := viewOf(row, end+2*day); got.Status != line.Quarantined || !slices.Equal(got.Signals, want) {
		t.Errorf("the line is %s: %+v", got.Status, got.Signals)
	}

	row, outcomes = rowOf(append(events, event(line.Reinstate, end+2*day))...)
	if outcomes[3] != line.Applied || row.State != line.StateActive || row.Bits != 0 || row.Tenure != 0 {
		t.Errorf("reinstated: %s, bits %d, outcome %d", row.State, row.Bits, outcomes[3])
	}
	row, outcomes = rowOf(append(events, confirm(3, end+2*day))...)
	expectOutcomes(t, outcomes, line.Applied, line.Voided, line.Applied, line.Applied)
	if row.State != line.StateActive || row.StateSince != 0 || row.Bits != 0 {
		t.Errorf("confirmed: %s since %d, bits %d", row.State, row.StateSince, row.Bits)
	}
	row, outcomes = rowOf(append(events, void(3, end+2*day, ordered))...)
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Voided, line.Applied)
	if row.State != line.StateEnded || row.Bits != 0 {
		t.Errorf("the void was refused: %s, bits %d", row.State, row.Bits)
	}
	row, _ = rowOf(append(events, event(line.Assign, end+rest))...)
	if row.Bits != 0 || row.State != line.StateActive {
		t.Errorf("assigned again: %s, bits %d", row.State, row.Bits)
	}
}
