package line_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// A claim that no release names has no effect, whatever other events there are,
// including claim and release of another port. (It marks a number that nobody has.)
func TestClaimWithoutReleaseHasNoEffect(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base := anyBaseline(t)
		honest := without(anyHistory(t), func(e *line.Event) bool {
			return e.Kind == line.ClaimPort && e.Network == foreign || e.Kind == line.ReleasePort && e.Peer == foreign
		})
		// The last event has no effect, but by its time every announced churn date has
		// passed in both histories.
		honest = append(honest, event(line.Unflag, 100, by(9), func(e *line.Event) { e.Seq = 99 }))
		events := slices.Clone(honest)
		for n := range rapid.Int64Range(1, 3).Draw(t, "hijacks") {
			events = append(events, event(line.ClaimPort, instant(t, "hijack"), from(foreign), outside, func(e *line.Event) { e.Seq = 100 + n }))
		}
		row, claimed := fold(base, honest), fold(base, events)
		if claimed.State == line.StateNone {
			row.Bits |= line.Claimed
		}
		if diff := sameLine(row, claimed); diff != "" {
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
			event(line.ClaimPort, claimed, from(other), reported(50+instant(t, "claim reported"))),
			event(line.ReleasePort, released, to(other), reported(50+instant(t, "release reported"))),
			event(line.ClaimPort, 1+instant(t, "hijack"), from(foreign)),
		)
		at := max(claimed, released)
		if before, _ := foldUntil(nil, withPorts(events), at-1); before.Network != home || before.PortAt != line.Never {
			t.Fatalf("before the later half the number is with network %d", before.Network)
		}
		row, outcomes := rowOf(events...)
		if row.Network != other || row.PortAt != at || row.Tenure != 0 {
			t.Fatalf("the number is with network %d since %d, the tenure since %d", row.Network, row.PortAt, row.Tenure)
		}
		if want := []line.Outcome{line.Applied, line.Applied, line.Applied, line.Waiting}; !slices.Equal(outcomes, want) {
			t.Fatalf("the outcomes are %d", outcomes)
		}
	})
}

// What the donor reported before the port was known counts, even when the port is
// reported late; its events from after the port are pending. (Ends are left out:
// they give way to the port.)
func TestDonorEventsCountOnlyBeforeThePort(t *testing.T) {
	t.Parallel()

	lies := 0
	rapid.Check(t, func(t *rapid.T) {
		events := without(anyHistory(t), func(e *line.Event) bool {
			return e.Authority == line.Operator && e.Network != home || e.Kind == line.Void || e.Kind == line.End || e.Kind == line.Port || e.Hold != 0
		})
		events = numbered(append(events, event(line.Port, instant(t, "port"), to(other), reported(100)))...)
		ported := &events[len(events)-1]
		row, outcomes := foldUntil(nil, events, line.Forever)
		if outcomes[len(outcomes)-1] != line.Applied {
			return // the churn date had passed
		}
		lie := func(e *line.Event) bool { return e.Authority == line.Operator && e.Effective > ported.Effective }
		truth := without(events, lie)
		for i := range events {
			if o := outcomes[i]; lie(&events[i]) && o != line.Waiting && o != line.NoEffect {
				t.Fatalf("the donor's %s after the port has outcome %d", events[i].Kind, o)
			}
		}
		lies += len(events) - len(truth)
		if diff := sameLine(fold(nil, truth), row); diff != "" {
			t.Fatalf("the row (-without the donor's later events +with them):\n%s", diff)
		}
		early, _ := foldUntil(nil, events, ported.Effective-1)
		want, _ := foldUntil(nil, truth[:len(truth)-1], ported.Effective-1)
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
			[]line.Event{assigned, event(line.ReleasePort, 10, to(other))}, home, line.Never, line.StateActive, line.Waiting,
		},
		"a release by a network that does not have the number does not move it": {
			[]line.Event{assigned, event(line.ClaimPort, 9, from(other)), event(line.ReleasePort, 10, from(foreign), to(other))},
			home, line.Never, line.StateActive, line.Waiting,
		},
		"the same of a number about which its network reports later": {
			[]line.Event{event(line.ReleasePort, 5, from(foreign), to(other)), event(line.Use, 6), event(line.ClaimPort, 7, from(other))},
			home, line.Never, line.StateActive, line.Waiting,
		},
		"the claim must be the named recipient's": {
			[]line.Event{assigned, event(line.ReleasePort, 9, to(other)), event(line.ClaimPort, 10, from(foreign))},
			home, line.Never, line.StateActive, line.Waiting,
		},
		"a second release does not replace the first": {
			[]line.Event{assigned, event(line.ReleasePort, 8, to(foreign)), event(line.ReleasePort, 9, to(other)), event(line.ClaimPort, 10, from(foreign))},
			foreign, 10, line.StateActive, line.Applied,
		},
		"each half is used once": {
			[]line.Event{
				assigned, event(line.ClaimPort, 5, from(other)), event(line.ReleasePort, 5, to(other)), event(line.Port, 6, to(home)),
				event(line.ReleasePort, 7, to(other)),
			},
			home, 6, line.StateActive, line.Waiting,
		},
		"to the network that has the number already": {
			[]line.Event{assigned, ported, event(line.Port, 11, to(other))}, other, 10, line.StateActive, line.NoEffect,
		},
		"a claim by the network that has the number has no effect": {
			[]line.Event{assigned, ported, event(line.ClaimPort, 11, from(other))}, other, 10, line.StateActive, line.NoEffect,
		},
		"after a port by the clearing house a release by the donor waits": {
			[]line.Event{assigned, ported, event(line.ReleasePort, 11, to(other))}, other, 10, line.StateActive, line.Waiting,
		},
		"a claim stays open when the holder changes": {
			[]line.Event{assigned, event(line.ClaimPort, 5, from(other)), event(line.Assign, 7), event(line.ReleasePort, 10, to(other))},
			other, 10, line.StateActive, line.Applied,
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
		"a port makes the line active": {
			[]line.Event{assigned, event(line.Park, 5), ported}, other, 10, line.StateActive, line.Applied,
		},
		"claim and release meet for a number without a row": {
			[]line.Event{event(line.ReleasePort, 9, to(other)), event(line.ClaimPort, 10, from(other))}, other, 10, line.StateActive, line.Applied,
		},
		"the network of the range cannot assign a ported number": {
			[]line.Event{assigned, ported, event(line.Assign, 11)}, other, 10, line.StateActive, line.Waiting,
		},
		"after the end of a ported tenure it can": {
			[]line.Event{assigned, ported, event(line.End, 11, from(other)), event(line.Assign, 12)}, home, line.Never, line.StateActive, line.Applied,
		},
		"only the network that ended the tenure can reinstate it": {
			[]line.Event{assigned, ported, event(line.End, 11, from(other)), event(line.Reinstate, 12)}, other, 10, line.StateEnded, line.Waiting,
		},
		"the donor cannot end it": {
			[]line.Event{assigned, ported, event(line.End, 11)}, other, 10, line.StateActive, line.Waiting,
		},
		"a blacklisted number begins no tenure by a port": {
			[]line.Event{assigned, event(line.End, 5), event(line.Blacklist, 6), event(line.Port, 5+4*day, to(other))},
			home, line.Never, line.StateEnded, line.Blocked,
		},
		"a blacklisted line that runs is ported": {
			[]line.Event{assigned, event(line.Blacklist, 6), ported}, other, 10, line.StateActive, line.Applied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, outcomes := rowOf(test.events...)
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
