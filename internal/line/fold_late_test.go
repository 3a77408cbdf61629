package line_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
)

// An end at most 72 hours before a port to another network never was; before an older one, and before a port to the
// network that ended the line, it stands.
func TestEndShortlyBeforeAPortGivesWay(t *testing.T) {
	t.Parallel()

	const at, grace = 100 * day, 72 * hour
	for name, test := range map[string]struct {
		end     line.Event
		to      func(*line.Event)
		tenure  line.Instant
		outcome line.Outcome
	}{
		"72 hours before":                   {event(line.End, at-grace), to(other), 0, line.GaveWay},
		"a second more before":              {event(line.End, at-grace-1), to(other), at, line.Applied},
		"reported after the port":           {event(line.End, at-hour, reported(at+day)), to(other), 0, line.GaveWay},
		"in the second of the port":         {event(line.End, at), to(other), 0, line.GaveWay},
		"the number stays with the network": {event(line.End, at-hour), to(home), at, line.Applied},
		"an announced date":                 {event(line.GiveNotice, day, until(at-grace)), to(other), 0, line.Applied},
		"an older announced date":           {event(line.GiveNotice, day, until(at-grace-1)), to(other), at, line.Applied},
		"an announced date after the port":  {event(line.GiveNotice, day, until(at+day)), to(other), 0, line.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, outcomes := rowOf(event(line.Assign, 0), test.end, event(line.Port, at, test.to))
			expectOutcomes(t, outcomes, line.Applied, test.outcome, line.Applied)
			if row.State != line.StateActive || row.Tenure != test.tenure || row.PortAt != at || row.Until != line.Never {
				t.Errorf("%s, the tenure since %d, ported at %d, until %d", row.State, row.Tenure, row.PortAt, row.Until)
			}
		})
	}
}

// An end that is taken back never was: everything that was reported in between counts.
func TestWhatIsReportedDuringAnEndThatIsTakenBackCounts(t *testing.T) {
	t.Parallel()

	const end, at, back = 100 * day, 101 * day, 102 * day
	for name, test := range map[string]struct {
		event line.Event
		has   func(r *line.Row) bool
	}{
		"a new SIM":                 {event(line.ChangeSIM, at), func(r *line.Row) bool { return r.SIM == at }},
		"the operator's bar":        {event(line.Bar, at, code(line.ReasonFraud)), func(r *line.Row) bool { return r.BarAt == at }},
		"the regulator's bar":       {event(line.Bar, at, ordered, code(line.ReasonNIN)), func(r *line.Row) bool { return r.HolderBarAt == at }},
		"a flag":                    {event(line.Flag, at, by(1), code(line.LevelVeryHigh)), func(r *line.Row) bool { return r.VeryHighAt == at }},
		"a new holder":              {event(line.Transfer, at), func(r *line.Row) bool { return r.Tenure == at }},
		"a second end, taken back":  {event(line.End, at), func(r *line.Row) bool { return r.State == line.StateActive }},
		"a SIM change of a rival":   {event(line.ChangeSIM, at, from(foreign), outside), func(r *line.Row) bool { return r.SIM == line.Never }},
		"a bar on the number":       {event(line.Bar, at, ordered, onNumber), func(r *line.Row) bool { return r.NumberBarAt == at }},
		"a blacklisting":            {event(line.Blacklist, at), func(r *line.Row) bool { return r.BlackAt == at }},
		"a swap that was withdrawn": {event(line.Use, at), func(r *line.Row) bool { return r.SIM == line.Never }},
	} {
		for how, reinstated := range map[string]line.Event{"reinstated": event(line.Reinstate, back), "ported": event(line.Port, back, to(other))} {
			row, _ := rowOf(event(line.Assign, 0), event(line.End, end), test.event, reinstated)
			if row.State != line.StateActive || !test.has(&row) {
				t.Errorf("%s, %s: %+v", name, how, row)
			}
		}
		if row, _ := rowOf(event(line.Assign, 0), event(line.End, end), test.event); row.State != line.StateEnded {
			t.Errorf("%s: without a reinstatement the line is %s", name, row.State)
		}
	}
}

// What the recipient reported about the 72 hours before its port counts from the port on; what is older waits.
func TestRecipientIsHeardAboutTheTimeBeforeItsPort(t *testing.T) {
	t.Parallel()

	const at, grace = 100 * day, 72 * hour
	for name, test := range map[string]struct {
		event   line.Event
		outcome line.Outcome
		has     func(r *line.Row) bool
	}{
		"a bar":             {event(line.Bar, at-grace, from(other), outside), line.Applied, func(r *line.Row) bool { return r.BarAt == at-grace }},
		"an older bar":      {event(line.Bar, at-grace-1, from(other), outside), line.Waiting, func(r *line.Row) bool { return r.BarAt == line.Never }},
		"a new holder":      {event(line.Transfer, at-hour, from(other), outside), line.Applied, func(r *line.Row) bool { return r.Tenure == at-hour }},
		"an end":            {event(line.End, at-hour, from(other), outside), line.Applied, func(r *line.Row) bool { return r.State == line.StateEnded }},
		"the SIM of it":     {event(line.ChangeSIM, at-hour, from(other), outside), line.NoEffect, func(r *line.Row) bool { return r.SIM == line.Never }},
		"a rival's bar":     {event(line.Bar, at-hour, from(foreign), outside), line.Waiting, func(r *line.Row) bool { return r.BarAt == line.Never }},
		"a bar after it":    {event(line.Bar, at+hour, from(other), outside), line.Applied, func(r *line.Row) bool { return r.BarAt == at+hour }},
		"a swap after it":   {event(line.ChangeSIM, at+hour, from(other), outside), line.Applied, func(r *line.Row) bool { return r.SIM == at+hour }},
		"a bar of its time": {event(line.Bar, at, from(other), outside), line.Applied, func(r *line.Row) bool { return r.BarAt == at }},
	} {
		row, outcomes := rowOf(event(line.Assign, 0), test.event, event(line.Port, at, to(other)))
		if outcomes[1] != test.outcome || !test.has(&row) || row.State.Ongoing() && row.Network != other {
			t.Errorf("%s: outcome %d, %+v", name, outcomes[1], row)
		}
	}
}

// An announced churn date ends the tenure until it is used, or until an end confirms the date.
func TestUseAfterAnAnnouncedDateContinuesTheTenure(t *testing.T) {
	t.Parallel()

	const date = 30 * day
	for _, kind := range []line.Kind{line.Use, line.ChangeSIM, line.Deactivate, line.Park, line.Transfer} {
		notice := event(line.GiveNotice, day, until(date))
		row, outcomes := rowOf(event(line.Assign, 0), notice, event(kind, date+day))
		if !row.State.Ongoing() || outcomes[2] != line.Applied || row.Until != line.Never {
			t.Errorf("%s: the line is %s, outcome %d", kind, row.State, outcomes[2])
		}
		row, _ = rowOf(event(line.Assign, 0), notice, event(line.End, date+hour), event(kind, date+day))
		if row.State != line.StateEnded || row.StateSince != date {
			t.Errorf("%s after the date was confirmed: the line is %s since %d", kind, row.State, row.StateSince)
		}
		row, _ = rowOf(event(line.Assign, 0), notice, event(kind, date+day, from(other), outside))
		if row.State != line.StateEnded {
			t.Errorf("%s of a rival: the line is %s", kind, row.State)
		}
	}
	for _, kind := range []line.Kind{line.Bar, line.Unbar, line.ReleasePort} { // these say nothing about use
		if row, _ := rowOf(event(line.Assign, 0), event(line.GiveNotice, day, until(date)), event(kind, date+day, to(other))); row.State != line.StateEnded {
			t.Errorf("%s: the line is %s", kind, row.State)
		}
	}
}
