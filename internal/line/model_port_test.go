package line_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// A claim that no release names has no effect, whatever other events there are,
// including claim and release of another port.
func TestClaimWithoutReleaseHasNoEffect(t *testing.T) {
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

// With claim and release the number moves at the later of the two, whichever is
// reported first and whatever other networks claim it.
func TestPortTakesEffectAtTheLaterHalf(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		claimed, released := 1+instant(t, "claimed"), 1+instant(t, "released")
		events := numbered(
			event(line.Assign, 0),
			event(line.ClaimPort, claimed, from(other)),
			event(line.ReleasePort, released, to(other)),
			event(line.ClaimPort, 1+instant(t, "hijack"), from(foreign)),
		)
		events = rapid.Permutation(events).Draw(t, "arrival")
		at := max(claimed, released)
		if before, _ := line.Fold(nil, events, at-1); before.Network != home || before.PortAt != line.Never {
			t.Fatalf("before the later half the number is with network %d", before.Network)
		}
		row, outcomes := line.Fold(nil, events, always)
		if row.Network != other || row.PortAt != at || row.Tenure != 0 {
			t.Fatalf("the number is with network %d since %d, the tenure since %d", row.Network, row.PortAt, row.Tenure)
		}
		for seq, o := range outcomesBySeq(events, outcomes) {
			if want := map[int64]line.Outcome{4: line.HalfPort}[seq]; o != want {
				t.Fatalf("event %d has outcome %d, not %d", seq, o, want)
			}
		}
	})
}

// Events of the donor from before the port count, even when the port is reported late;
// its events from after the port have no effect.
func TestDonorEventsCountOnlyBeforeThePort(t *testing.T) {
	t.Parallel()

	lies := 0
	rapid.Check(t, func(t *rapid.T) {
		events := without(anyHistory(t), func(e *line.Event) bool {
			return e.Authority == line.Operator && e.Network != home || e.Kind == line.Void || e.Kind == line.Port
		})
		events = numbered(append(events, event(line.Port, instant(t, "port"), to(other)))...) // reported last
		ported := &events[len(events)-1]
		row, outcomes := line.Fold(nil, events, always)
		if outcomes[len(outcomes)-1] != line.Applied {
			return // the tenure had ended
		}
		lie := func(e *line.Event) bool { return e.Authority == line.Operator && e.Effective > ported.Effective }
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
		if row.Network != other || row.PortAt != ported.Effective {
			t.Fatalf("the number is with network %d since %d", row.Network, row.PortAt)
		}
	})
	if lies == 0 {
		t.Error("no case has an event after the port")
	}
}

// Ports, case by case.
func TestPorts(t *testing.T) {
	t.Parallel()

	assigned, ported := event(line.Assign, 0), event(line.Port, 10, to(other))
	for name, test := range map[string]struct {
		events  []line.Event
		network numbering.Network
		portAt  line.Instant
		state   line.State
		outcome line.Outcome // of the last event
	}{
		"an event of the clearing house is enough": {
			[]line.Event{assigned, ported}, other, 10, line.StateActive, line.Applied,
		},
		"a release alone has no effect": {
			[]line.Event{assigned, event(line.ReleasePort, 10, to(other))}, home, line.Never, line.StateActive, line.HalfPort,
		},
		"a release by a network that does not have the number has no effect": {
			[]line.Event{assigned, event(line.ClaimPort, 9, from(other)), event(line.ReleasePort, 10, from(foreign), to(other))},
			home, line.Never, line.StateActive, line.NotHolder,
		},
		"the claim must be the named recipient's": {
			[]line.Event{assigned, event(line.ReleasePort, 9, to(other)), event(line.ClaimPort, 10, from(foreign))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"of several releases the last one counts": {
			[]line.Event{assigned, event(line.ReleasePort, 8, to(foreign)), event(line.ReleasePort, 9, to(other)), event(line.ClaimPort, 10, from(foreign))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"a claim by the network that has the number has no effect": {
			[]line.Event{assigned, ported, event(line.ClaimPort, 11, from(other))}, other, 10, line.StateActive, line.NotInState,
		},
		"after a port by the clearing house a release by the donor has no effect": {
			[]line.Event{assigned, ported, event(line.ReleasePort, 11, to(other))}, other, 10, line.StateActive, line.NotHolder,
		},
		"a claim on the tenure before does not count for the next": {
			[]line.Event{assigned, event(line.ClaimPort, 5, from(other)), event(line.Assign, 7), event(line.ReleasePort, 10, to(other))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"a claim stays open after end and reinstatement": {
			[]line.Event{
				assigned, event(line.ClaimPort, 5, from(other)), event(line.End, 6), event(line.Reinstate, 7), event(line.ReleasePort, 10, to(other)),
			},
			other, 10, line.StateActive, line.Applied,
		},
		"a port cancels an announced churn": {
			[]line.Event{assigned, event(line.GiveNotice, 5, until(20)), ported}, other, 10, line.StateActive, line.Applied,
		},
		"claim and release match for a number without a row": {
			[]line.Event{event(line.ReleasePort, 9, to(other)), event(line.ClaimPort, 10, from(other))}, other, 10, line.StateActive, line.Applied,
		},
		"a release by a network that did not have the number does not match": {
			[]line.Event{event(line.ReleasePort, 5, from(foreign), to(other)), event(line.Use, 6), event(line.ClaimPort, 7, from(other))},
			home, line.Never, line.StateActive, line.HalfPort,
		},
		"the network of the range cannot assign a ported number": {
			[]line.Event{assigned, ported, event(line.Assign, 11)}, other, 10, line.StateActive, line.NotHolder,
		},
		"after the end of a ported tenure it can": {
			[]line.Event{assigned, ported, event(line.End, 11, from(other)), event(line.Assign, 12)}, home, line.Never, line.StateActive, line.Applied,
		},
		"only the network that ended the tenure can reinstate it": {
			[]line.Event{assigned, ported, event(line.End, 11, from(other)), event(line.Reinstate, 12)}, other, 10, line.StateEnded, line.NotHolder,
		},
		"the donor cannot end it": {
			[]line.Event{assigned, ported, event(line.End, 11)}, other, 10, line.StateActive, line.NotHolder,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, outcomes := line.Fold(nil, numbered(test.events...), always)
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
