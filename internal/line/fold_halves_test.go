package line_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// Claim and release meet if their times of effect are at most 30 days apart.
func TestHalvesMeetWithin30Days(t *testing.T) {
	t.Parallel()

	const released = 100 * day
	for name, test := range map[string]struct {
		claimed line.Instant
		network numbering.Network
	}{
		"claimed 30 days before":              {released - 30*day, other},
		"claimed 30 days and a second before": {released - 30*day - 1, home},
		"claimed 30 days after":               {released + 30*day, other},
		"claimed 30 days and a second after":  {released + 30*day + 1, home},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, _ := rowOf(event(line.Assign, 0), event(line.ReleasePort, released, to(other)), event(line.ClaimPort, test.claimed, from(other)))
			if row.Network != test.network {
				t.Errorf("the number is with network %d", row.Network)
			}
		})
	}
}

// Halves meet by their times of effect, however far apart they are reported. The port
// was reported when the second half was.
func TestPortOfHalvesIsReportedWithTheSecond(t *testing.T) {
	t.Parallel()

	row, outcomes := rowOf(event(line.Assign, 0), event(line.ReleasePort, day, to(other)), event(line.ClaimPort, 2*day, from(other), reported(50*day)))
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Applied)
	if row.Network != other || row.PortAt != 2*day || row.PortWindow != 50*day {
		t.Errorf("with network %d since %d, the window from %d", row.Network, row.PortAt, row.PortWindow)
	}
}

// A release meets the earliest reported of the claims that fit.
func TestReleaseMeetsTheEarliestReportedClaim(t *testing.T) {
	t.Parallel()

	row, outcomes := rowOf(
		event(line.Assign, 0), event(line.ClaimPort, 5*day, from(other), reported(6*day)), event(line.ClaimPort, 3*day, from(other), reported(7*day)),
		event(line.ReleasePort, 4*day, to(other), reported(8*day)),
	)
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.HalfPort, line.Applied)
	if row.PortAt != 5*day {
		t.Errorf("ported at %d", row.PortAt)
	}
}

// A release ends with the next port of the number: it moves nothing when the number has
// come back, and does not use up the claim of the next port.
func TestReleaseEndsWithTheNextPort(t *testing.T) {
	t.Parallel()

	const third numbering.Network = 77
	assigned, release := event(line.Assign, 0), event(line.ReleasePort, day, to(other))
	for name, test := range map[string]struct {
		events  []line.Event
		network numbering.Network
		last    line.Outcome
	}{
		"the number has come back": {
			[]line.Event{assigned, release, event(line.Port, 2*day, to(other)), event(line.Port, 3*day, to(home)), event(line.ClaimPort, 4*day, from(other))},
			home, line.HalfPort,
		},
		"the claim is about the next port": {
			[]line.Event{assigned, release, event(line.Port, 2*day, to(third)), event(line.ClaimPort, 4*day, from(other)), event(line.ReleasePort, 4*day, from(third), to(other))},
			other, line.Applied,
		},
		"the port between them was withdrawn": {
			[]line.Event{assigned, release, event(line.Port, 2*day, to(third)), event(line.ClaimPort, 4*day, from(other)), void(3, 5*day, ordered)},
			other, line.Applied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, outcomes := rowOf(test.events...)
			if row.Network != test.network || outcomes[len(outcomes)-1] != test.last {
				t.Errorf("with network %d, outcomes %v", row.Network, outcomes)
			}
		})
	}
}

// A half that was withdrawn before the other was reported does not meet it.
func TestWithdrawnHalfDoesNotMeet(t *testing.T) {
	t.Parallel()

	assigned, claim, release := event(line.Assign, 0), event(line.ClaimPort, day, from(other)), event(line.ReleasePort, 2*day, to(other))
	for name, test := range map[string]struct {
		void    line.Event
		network numbering.Network
		outcome line.Outcome // of the void
	}{
		"before the release": {void(2, 2*day-1, from(other)), home, line.Applied},
		"after the release":  {void(2, 2*day+1, from(other)), other, line.Locked},
	} {
		row, outcomes := rowOf(assigned, claim, release, test.void)
		if row.Network != test.network || outcomes[3] != test.outcome || row.ContestedPort != line.Never {
			t.Errorf("%s the number is with network %d, outcome %d, contested port %d", name, row.Network, outcomes[3], row.ContestedPort)
		}
	}
}

// Halves that have met are locked: the withdrawal by one network waits for that of the
// other. The regulator can withdraw either.
func TestHalvesThatMetAreLocked(t *testing.T) {
	t.Parallel()

	const at = 2 * day
	events := []line.Event{event(line.Assign, 0), event(line.ClaimPort, day, from(other)), event(line.ReleasePort, at, to(other))}
	byHome, byOther := void(3, 3*day), void(2, 4*day, from(other))
	for name, test := range map[string]struct {
		voids     []line.Event
		network   numbering.Network
		contested line.Instant
		outcomes  []line.Outcome // of the halves and the voids
	}{
		"by the donor alone": {
			[]line.Event{byHome}, other, line.Never, []line.Outcome{line.Applied, line.Applied, line.Locked},
		},
		"by the recipient alone": {
			[]line.Event{byOther}, other, line.Never, []line.Outcome{line.Applied, line.Applied, line.Locked},
		},
		"by both": {
			[]line.Event{byHome, byOther}, home, at, []line.Outcome{line.Voided, line.Voided, line.Applied, line.Applied},
		},
		"the claim by the regulator": {
			[]line.Event{void(2, 3*day, ordered)}, home, line.Never, []line.Outcome{line.Voided, line.HalfPort, line.Applied},
		},
		"the release by the regulator": {
			[]line.Event{void(3, 3*day, ordered)}, home, line.Never, []line.Outcome{line.HalfPort, line.Voided, line.Applied},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, outcomes := rowOf(append(events[:3:3], test.voids...)...)
			expectOutcomes(t, outcomes[1:], test.outcomes...)
			if row.Network != test.network || row.ContestedPort != test.contested || (row.PortAt == at) != (test.network == other) {
				t.Errorf("with network %d, ported at %d, contested %d", row.Network, row.PortAt, row.ContestedPort)
			}
		})
	}
}

// A port of halves is not undone by the clearing house's own void, but by the next port
// that it reports.
func TestClearingHouseUndoesAPortByTheNext(t *testing.T) {
	t.Parallel()

	row, outcomes := rowOf(event(line.Assign, 0), event(line.ClaimPort, day, from(other)), event(line.ReleasePort, day, to(other)), event(line.Port, 2*day, to(home)))
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Applied, line.Applied)
	if row.Network != home || row.PortAt != 2*day || row.Tenure != 0 {
		t.Errorf("with network %d, ported at %d, the tenure since %d", row.Network, row.PortAt, row.Tenure)
	}
}
