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

// A release meets the earliest reported of the claims that fit.
func TestReleaseMeetsTheEarliestReportedClaim(t *testing.T) {
	t.Parallel()

	row, outcomes := rowOf(
		event(line.Assign, 0), event(line.ClaimPort, 5*day, from(other), reported(6*day)), event(line.ClaimPort, 3*day, from(other), reported(7*day)),
		event(line.ReleasePort, 4*day, to(other), reported(8*day)),
	)
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Waiting, line.Applied)
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
			home, line.Waiting,
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
