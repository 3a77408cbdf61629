package line_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
)

// A line is in doubt when the network that serves it contradicts itself or somebody
// else, from the report on.
func TestDoubtBeginsWithTheReport(t *testing.T) {
	t.Parallel()

	const at = 10 * day
	halves := []line.Event{event(line.Assign, 0), event(line.ClaimPort, day, from(other)), event(line.ReleasePort, day, to(other))}
	ported := event(line.Port, day, to(other))
	assigned, backdated := event(line.Assign, 0), held(line.HoldTooOld)
	for name, test := range map[string]struct {
		events []line.Event
		doubt  line.Instant
	}{
		"an event that is held":                      {[]line.Event{assigned, event(line.ChangeSIM, day, backdated, reported(at))}, at},
		"the earliest of several":                    {[]line.Event{assigned, event(line.ChangeSIM, day, backdated, reported(at)), event(line.Bar, day, backdated, reported(at-day))}, at - day},
		"a release without its claim":                {[]line.Event{assigned, event(line.ReleasePort, day, to(other), reported(at))}, at},
		"the void of a half by the recipient":        {append(halves[:3:3], void(2, at, from(other))), at},
		"a held event that would change nothing":     {[]line.Event{assigned, event(line.Use, day, backdated, reported(at))}, line.Never},
		"a release that is held":                     {[]line.Event{assigned, event(line.ReleasePort, day, to(other), backdated, reported(at))}, at},
		"a void that is held":                        {[]line.Event{assigned, event(line.ChangeSIM, day), void(2, at, held(line.HoldTooOld))}, at},
		"an event that counts":                       {[]line.Event{assigned, event(line.ChangeSIM, at)}, line.Never},
		"a held event of a rival":                    {[]line.Event{assigned, event(line.ChangeSIM, at, backdated, from(other), outside)}, line.Never},
		"a rival's claim":                            {[]line.Event{assigned, event(line.ClaimPort, at, from(other), outside)}, line.Never},
		"a rival's release":                          {[]line.Event{assigned, event(line.ReleasePort, at, from(other), to(foreign), outside)}, line.Never},
		"the void of a half by the donor":            {append(halves[:3:3], void(3, at)), line.Never},
		"a held event of the donor":                  {[]line.Event{assigned, ported, event(line.ChangeSIM, 0, backdated, reported(at))}, line.Never},
		"a pending event":                            {[]line.Event{assigned, event(line.ChangeSIM, at, from(other), outside)}, line.Never},
		"a held event of an authority":               {[]line.Event{assigned, event(line.Flag, day, backdated, reported(at))}, line.Never},
		"a held event about a tenure that has ended": {[]line.Event{assigned, event(line.End, 2*day), event(line.ChangeSIM, day, backdated, reported(at))}, line.Never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if row, _ := rowOf(test.events...); row.DoubtAt != test.doubt {
				t.Errorf("in doubt since %d, not %d", row.DoubtAt, test.doubt)
			}
		})
	}
}

// Doubt ends by a confirmation, a void, a port that is reported later, or a later file
// of the network that has the line.
func TestDoubtEnds(t *testing.T) {
	t.Parallel()

	const at = 10 * day
	assigned, doubtful := event(line.Assign, 0), event(line.ChangeSIM, day, held(line.HoldTooOld), reported(at))
	release := event(line.ReleasePort, at, to(other))
	said := restating(line.Baseline{Import: 8, Network: home, State: line.StateActive, Tenure: 0, SIM: line.Never, StateSince: 0, Until: line.Never})
	for name, test := range map[string]struct {
		events []line.Event
		ends   bool
	}{
		"not by itself":                           {[]line.Event{assigned, doubtful}, false},
		"by the confirmation":                     {[]line.Event{assigned, doubtful, confirm(2, at+1)}, true},
		"by the regulator's void":                 {[]line.Event{assigned, doubtful, void(2, at+1, ordered)}, true},
		"by the operator's own void":              {[]line.Event{assigned, doubtful, void(2, at+1)}, true},
		"by a port that is reported later":        {[]line.Event{assigned, doubtful, event(line.Port, 2*day, to(other), reported(at+1))}, true},
		"also to the network and back":            {[]line.Event{assigned, doubtful, event(line.Port, 2*day, to(other), reported(at+1)), event(line.Port, 3*day, to(home), reported(at+2))}, true},
		"not by a port that was reported earlier": {[]line.Event{assigned, event(line.Port, 2*day, to(other)), event(line.ChangeSIM, 3*day, from(other), held(line.HoldTooOld), reported(at))}, false},
		"by a later file that has the line":       {[]line.Event{assigned, doubtful, event(line.Restate, at+1)}, true},
		"by a later file that restates it":        {[]line.Event{assigned, doubtful, event(line.Restate, at+1, said)}, true},
		"not by an earlier file":                  {[]line.Event{assigned, doubtful, event(line.Restate, at-1)}, false},
		"not by a rival's file":                   {[]line.Event{assigned, doubtful, event(line.Restate, at+1, from(other), outside)}, false},
		"of a release, by its claim":              {[]line.Event{assigned, release, event(line.ClaimPort, at+1, from(other))}, true},
		"of a release, by its void":               {[]line.Event{assigned, release, void(2, at+1)}, true},
		"with the tenure":                         {[]line.Event{assigned, doubtful, event(line.End, at+1)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if row, _ := rowOf(test.events...); (row.DoubtAt == line.Never) != test.ends {
				t.Errorf("in doubt since %d", row.DoubtAt)
			}
		})
	}
}

// Doubt turns NORMAL into UNKNOWN (DISPUTED) and no into unknown. Adverse statuses and
// a yes stay.
func TestDoubtTurnsNormalIntoUnknown(t *testing.T) {
	t.Parallel()

	const at, now = 200 * day, 201 * day
	assigned, doubtful := event(line.Assign, 0), event(line.Bar, at-40*day, held(line.HoldTooOld), reported(at))
	for name, test := range map[string]struct {
		events  []line.Event
		status  line.Status
		reason  line.Reason
		changed string // since a day before the report
	}{
		"before it":               {[]line.Event{assigned}, line.Normal, "", line.No},
		"in doubt":                {[]line.Event{assigned, doubtful}, line.Unknown, line.ReasonDisputed, line.Uncertain},
		"and swapped":             {[]line.Event{assigned, event(line.ChangeSIM, at), doubtful}, line.Swapped, "", line.Yes},
		"and parked":              {[]line.Event{assigned, event(line.Park, at-5*day), doubtful}, line.Parked, "", line.Uncertain},
		"after it":                {[]line.Event{assigned, doubtful, void(2, at+1, ordered)}, line.Normal, "", line.No},
		"nobody has it":           {nil, line.Unallocated, line.ReasonNumber, line.No},
		"a rival says so":         {[]line.Event{event(line.Use, at, from(other), outside)}, line.Unknown, line.ReasonDisputed, line.No},
		"its own network says so": {[]line.Event{event(line.Use, at)}, line.Normal, "", line.No},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, _ := rowOf(test.events...)
			if got := viewOf(row, now); got.Status != test.status || got.Reason != test.reason {
				t.Errorf("the line is %s (%s)", got.Status, got.Reason)
			}
			if got := changedSince(row, at-day, now); got.Changed != test.changed {
				t.Errorf("changed: %s", got.Changed)
			}
			if test.status == line.Unknown && row.State != line.StateNone {
				if got := viewOf(row, at-1); got.Status != line.Normal {
					t.Errorf("a second before the report the line is %s", got.Status)
				}
				if got := viewOf(row, at); got.Status != line.Unknown {
					t.Errorf("at the report the line is %s", got.Status)
				}
			}
		})
	}
}
