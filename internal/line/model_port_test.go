package line_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// A recipient's claim that no release names changes nothing, whatever else is
// told, the true halves of another port included.
func TestClaimWithoutReleaseChangesNothing(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base := anyBaseline(t)
		honest := without(anyHistory(t), func(e *line.Event) bool {
			return e.Kind == line.ClaimPort && e.Network == foreign || e.Kind == line.ReleasePort && e.Peer == foreign
		})
		events := slices.Clone(honest)
		for n := range rapid.Int64Range(1, 3).Draw(t, "hijacks") {
			events = append(events, event(line.ClaimPort, instant(t, "hijack"), from(foreign), func(e *line.Event) { e.Seq = 100 + n }))
		}
		if diff := sameLine(fold(base, honest), fold(base, events)); diff != "" {
			t.Fatalf("the row (-without the claim +with it):\n%s", diff)
		}
	})
}

// With the release of the holder the number moves at the later of the two,
// whichever is told first and whoever else claims it.
func TestPortTakesEffectAtTheLaterHalf(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		claimed, released := 1+instant(t, "claimed"), 1+instant(t, "released")
		events := told(
			event(line.Assign, 0),
			event(line.ClaimPort, claimed, from(away)),
			event(line.ReleasePort, released, to(away)),
			event(line.ClaimPort, 1+instant(t, "hijack"), from(foreign)),
		)
		events = rapid.Permutation(events).Draw(t, "arrival")
		at := max(claimed, released)
		if before, _ := line.Fold(nil, events, at-1); before.Network != home || before.PortAt != line.Never {
			t.Fatalf("before the later half the number is with network %d", before.Network)
		}
		row, outcomes := line.Fold(nil, events, always)
		if row.Network != away || row.PortAt != at || row.Tenure != 0 {
			t.Fatalf("the number is with network %d since %d, the tenure since %d", row.Network, row.PortAt, row.Tenure)
		}
		for seq, o := range outcomesBySeq(events, outcomes) {
			if want := map[int64]line.Outcome{4: line.HalfPort}[seq]; o != want {
				t.Fatalf("event %d has outcome %d, not %d", seq, o, want)
			}
		}
	})
}

// What a donor tells of the time before the port counts, also when the port is
// told late; what it tells of the time after changes nothing.
func TestDonorSpeaksOnlyOfTheTimeBeforeThePort(t *testing.T) {
	t.Parallel()

	lies := 0
	rapid.Check(t, func(t *rapid.T) {
		events := without(anyHistory(t), func(e *line.Event) bool {
			return e.By == line.Operator && e.Network != home || e.Kind == line.Void || e.Kind == line.Port
		})
		events = told(append(events, event(line.Port, instant(t, "port"), to(away)))...) // told last of all
		ported := &events[len(events)-1]
		row, outcomes := line.Fold(nil, events, always)
		if outcomes[len(outcomes)-1] != line.Applied {
			return // the tenure was over
		}
		lie := func(e *line.Event) bool { return e.By == line.Operator && e.Effective > ported.Effective }
		truth := without(events, lie)
		for i := range events {
			if o := outcomes[i]; lie(&events[i]) && o != line.NotHolder && o != line.NotInState && o != line.HalfPort {
				t.Fatalf("the donor's %s after the port has outcome %d", events[i].Kind, o)
			}
		}
		lies += len(events) - len(truth)
		if diff := sameLine(fold(nil, truth), row); diff != "" {
			t.Fatalf("the row (-without the donor's later events +with them):\n%s", diff)
		}
		before := without(events[:len(events)-1], lie)
		early, _ := line.Fold(nil, events, ported.Effective-1)
		want, _ := line.Fold(nil, before, ported.Effective-1)
		if diff := sameLine(want, early); diff != "" {
			t.Fatalf("the row before the port (-without the port +with it):\n%s", diff)
		}
		if row.Network != away || row.PortAt != ported.Effective {
			t.Fatalf("the number is with network %d since %d", row.Network, row.PortAt)
		}
	})
	if lies == 0 {
		t.Error("nothing was told of the time after the port")
	}
}

// The steps of ports, one by one.
func TestPorts(t *testing.T) {
	t.Parallel()

	begun, ported := event(line.Assign, 0), event(line.Port, 10, to(away))
	for name, test := range map[string]struct {
		events  []line.Event
		network numbering.Network
		portAt  line.Instant
		state   line.State
		outcome line.Outcome // of the last event
	}{
		"the clearing house's word is enough": {
			[]line.Event{begun, ported}, away, 10, line.StateActive, line.Applied,
		},
		"a release alone changes nothing": {
			[]line.Event{begun, event(line.ReleasePort, 10, to(away))}, home, line.Never, line.StateActive, line.HalfPort,
		},
		"a release by who does not hold the number is none": {
			[]line.Event{begun, event(line.ClaimPort, 9, from(away)), event(line.ReleasePort, 10, from(foreign), to(away))},
			home, line.Never, line.StateActive, line.NotHolder,
		},
		"the claim must be the named recipient's": {
			[]line.Event{begun, event(line.ReleasePort, 9, to(away)), event(line.ClaimPort, 10, from(foreign))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"of several releases the last one counts": {
			[]line.Event{begun, event(line.ReleasePort, 8, to(foreign)), event(line.ReleasePort, 9, to(away)), event(line.ClaimPort, 10, from(foreign))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"whoever has the number claims nothing": {
			[]line.Event{begun, ported, event(line.ClaimPort, 11, from(away))}, away, 10, line.StateActive, line.NotInState,
		},
		"after the clearing house's word the donor has nothing to release": {
			[]line.Event{begun, ported, event(line.ReleasePort, 11, to(away))}, away, 10, line.StateActive, line.NotHolder,
		},
		"a claim on the tenure before does not count for the next": {
			[]line.Event{begun, event(line.ClaimPort, 5, from(away)), event(line.Assign, 7), event(line.ReleasePort, 10, to(away))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"a claim outlives an end that was appealed": {
			[]line.Event{
				begun, event(line.ClaimPort, 5, from(away)), event(line.End, 6), event(line.Reinstate, 7), event(line.ReleasePort, 10, to(away)),
			},
			away, 10, line.StateActive, line.Applied,
		},
		"a port takes an announced churn back": {
			[]line.Event{begun, event(line.GiveNotice, 5, until(20)), ported}, away, 10, line.StateActive, line.Applied,
		},
		"halves meet about a number without a record": {
			[]line.Event{event(line.ReleasePort, 9, to(away)), event(line.ClaimPort, 10, from(away))}, away, 10, line.StateActive, line.Applied,
		},
		"a release by who did not hold the number moves nothing": {
			[]line.Event{event(line.ReleasePort, 5, from(foreign), to(away)), event(line.Use, 6), event(line.ClaimPort, 7, from(away))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"the range's holder cannot assign a number that is away": {
			[]line.Event{begun, ported, event(line.Assign, 11)}, away, 10, line.StateActive, line.NotHolder,
		},
		"at the end of a ported tenure it can": {
			[]line.Event{begun, ported, event(line.End, 11, from(away)), event(line.Assign, 12)}, home, line.Never, line.StateActive, line.Applied,
		},
		"only the network that ended it hears the appeal": {
			[]line.Event{begun, ported, event(line.End, 11, from(away)), event(line.Reinstate, 12)}, away, 10, line.StateEnded, line.NotHolder,
		},
		"the donor cannot end it": {
			[]line.Event{begun, ported, event(line.End, 11)}, away, 10, line.StateActive, line.NotHolder,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, outcomes := line.Fold(nil, told(test.events...), always)
			if got := outcomes[len(outcomes)-1]; r.Network != test.network || r.PortAt != test.portAt || r.State != test.state || got != test.outcome {
				t.Errorf("%s with network %d, ported at %d, outcome %d; want %s with %d at %d, outcome %d",
					r.State, r.Network, r.PortAt, got, test.state, test.network, test.portAt, test.outcome)
			}
			if test.state == line.StateActive && r.Until != line.Never {
				t.Errorf("a churn is still announced for %d", r.Until)
			}
		})
	}
}
