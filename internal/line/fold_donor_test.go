package line_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
)

// What the donor reports about the time before a port depends on whether the port is
// known by then, and for ends on the 72 hours before it.
func TestDonorReportsBeforeAndAfterThePortIsKnown(t *testing.T) {
	t.Parallel()

	const at, known = 100 * day, 100*day + hour // the port, and its report
	grace := 72 * hour
	for name, test := range map[string]struct {
		kind    line.Kind
		effect  line.Instant
		report  line.Instant
		outcome line.Outcome
		ports   line.Outcome // of the port
	}{
		"an end 72 hours before, reported before":                             {line.End, at - grace, at - grace, line.GaveWay, line.Applied},
		"an end a second more before, reported before":                        {line.End, at - grace - 1, at - grace - 1, line.Applied, line.Revived},
		"an end 72 hours before, reported when it is known":                   {line.End, at - grace, known + 1, line.GaveWay, line.Applied},
		"an end a second more before, reported when known":                    {line.End, at - grace - 1, known + 1, line.Superseded, line.Applied},
		"an end a second more before, reported after the port, in its second": {line.End, at - grace - 1, known, line.Superseded, line.Applied},
		"an end a second more before, reported a second before the port":      {line.End, at - grace - 1, known - 1, line.Applied, line.Revived},
		"an end of long ago, reported when it is known":                       {line.End, 50 * day, known + 1, line.Superseded, line.Applied},
		"a new holder, reported before":                                       {line.Assign, at - hour, at - hour, line.Applied, line.Applied},
		"a new holder, reported when it is known":                             {line.Assign, at - hour, known + 1, line.Superseded, line.Applied},
		"a transfer, reported before":                                         {line.Transfer, at - hour, known - 1, line.Applied, line.Applied},
		"a transfer, reported when it is known":                               {line.Transfer, at - hour, known + 1, line.Superseded, line.Applied},
		"a new SIM, reported when it is known":                                {line.ChangeSIM, at - hour, known + 1, line.Applied, line.Applied},
		"a bar, reported when it is known":                                    {line.Bar, at - hour, known + 1, line.Applied, line.Applied},
		"a lifted bar, reported before":                                       {line.Unbar, at - hour, known - 1, line.Applied, line.Applied},
		"a lifted bar, reported when it is known":                             {line.Unbar, at - hour, known + 1, line.Overtaken, line.Applied},
		"use, reported when it is known":                                      {line.Use, at - hour, known + 1, line.Overtaken, line.Applied},
		"the return from parking, reported when it is known":                  {line.Return, at - hour, known + 1, line.Overtaken, line.Applied},
		"a reinstatement, reported when it is known":                          {line.Reinstate, at - hour, known + 1, line.Overtaken, line.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, outcomes := rowOf(event(line.Assign, 0), event(line.Port, at, to(other), reported(known)), event(test.kind, test.effect, reported(test.report)))
			expectOutcomes(t, outcomes, line.Applied, test.ports, test.outcome)
			tenure := line.Instant(0)
			switch {
			case test.ports == line.Revived:
				tenure = at // a new one
			case (test.kind == line.Assign || test.kind == line.Transfer) && test.outcome == line.Applied:
				tenure = test.effect
			}
			if row.State != line.StateActive || row.Network != other || row.Tenure != tenure {
				t.Errorf("the line is %s, with network %d since %d", row.State, row.Network, row.Tenure)
			}
		})
	}
}

// An end does not give way to a port if the same operator had reported by then that
// the number got a new holder, or that the holder got it back.
func TestEndWithANewHolderDoesNotGiveWay(t *testing.T) {
	t.Parallel()

	const at = 100 * day
	assigned, ported := event(line.Assign, 0), event(line.Port, at, to(other), reported(at+10*hour))
	end := event(line.End, at-3*hour)
	for name, test := range map[string]struct {
		events   []line.Event
		outcomes []line.Outcome
		tenure   line.Instant
	}{
		"a new holder, reported before the port": {
			[]line.Event{assigned, end, event(line.Assign, at-2*hour), ported},
			[]line.Outcome{line.Applied, line.Applied, line.Applied, line.Applied},
			at - 2*hour,
		},
		"a reinstatement, reported before the port": {
			[]line.Event{assigned, end, event(line.Reinstate, at-2*hour), ported},
			[]line.Outcome{line.Applied, line.Applied, line.Applied, line.Applied},
			0,
		},
		"a new holder, reported when the port is known": {
			[]line.Event{assigned, end, event(line.Assign, at-2*hour, reported(at+11*hour)), ported},
			[]line.Outcome{line.Applied, line.GaveWay, line.Superseded, line.Applied},
			0,
		},
		"a new holder of another network": {
			[]line.Event{assigned, end, event(line.Assign, at-2*hour, from(foreign), outside), ported},
			[]line.Outcome{line.Applied, line.GaveWay, line.Pending, line.Applied},
			0,
		},
		"end and new holder, both reported when the port is known": {
			[]line.Event{assigned, ported, event(line.End, at-3*hour, reported(at+11*hour)), event(line.Assign, at-2*hour, reported(at+11*hour))},
			[]line.Outcome{line.Applied, line.Applied, line.Superseded, line.Superseded},
			0,
		},
		"the new holder was withdrawn": {
			[]line.Event{assigned, end, event(line.Assign, at-2*hour), ported, void(3, at-hour, ordered)},
			[]line.Outcome{line.Applied, line.GaveWay, line.Voided, line.Applied, line.Applied},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, outcomes := rowOf(test.events...)
			expectOutcomes(t, outcomes, test.outcomes...)
			if row.Tenure != test.tenure || row.Network != other {
				t.Errorf("with network %d, the tenure since %d", row.Network, row.Tenure)
			}
		})
	}
}

// The date of an announced churn is an end like any other: at most 72 hours before a
// port it gives way, and when it is reported after the port it does not count.
func TestAnnouncedChurnShortlyBeforeAPortGivesWay(t *testing.T) {
	t.Parallel()

	const at, grace = 100 * day, 72 * hour
	for name, test := range map[string]struct {
		date, report line.Instant
		ports        line.Outcome // of the port
		tenure       line.Instant
	}{
		"72 hours before":                             {at - grace, day, line.Applied, 0},
		"a second more before":                        {at - grace - 1, day, line.Revived, at},
		"72 hours before, reported when known":        {at - grace, at + 1, line.Applied, 0},
		"a second more before, reported when known":   {at - grace - 1, at + 1, line.Applied, 0},
		"after the port, which cancels it":            {at + day, day, line.Applied, 0},
		"after the port, reported when that is known": {at + day, at + 1, line.Applied, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, outcomes := rowOf(event(line.Assign, 0), event(line.GiveNotice, day, until(test.date), reported(test.report)), event(line.Port, at, to(other)))
			if outcomes[2] != test.ports || row.State != line.StateActive || row.Network != other || row.Tenure != test.tenure || row.Until != line.Never {
				t.Errorf("the line is %s, with network %d, the tenure since %d, the outcome of the port %d", row.State, row.Network, row.Tenure, outcomes[2])
			}
		})
	}
}

// A donor cannot withdraw what it handed over by a port that is known.
func TestDonorCannotVoidWhatItHandedOver(t *testing.T) {
	t.Parallel()

	assigned, barred, ported := event(line.Assign, 0), event(line.Bar, day), event(line.Port, 2*day, to(other))
	row, outcomes := rowOf(assigned, barred, ported, void(2, 3*day))
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Applied, line.Overtaken)
	if row.BarAt != day {
		t.Errorf("the bar was lifted")
	}
	row, outcomes = rowOf(assigned, barred, ported, void(2, 2*day-1))
	expectOutcomes(t, outcomes, line.Applied, line.Voided, line.Applied, line.Applied)
	if row.BarAt != line.Never {
		t.Errorf("before the port it could not be lifted")
	}
}

// A port that is withdrawn restores what it superseded and overtook, and the
// recipient's events wait again.
func TestWithdrawnPortRestoresWhatItSuperseded(t *testing.T) {
	t.Parallel()

	events := []line.Event{
		event(line.Assign, 0), event(line.Bar, day), event(line.Port, 10*day, to(other)),
		event(line.Unbar, 5*day, reported(11*day)), event(line.Assign, 6*day, reported(11*day)), event(line.ChangeSIM, 12*day, from(other)),
	}
	row, outcomes := rowOf(events...)
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Applied, line.Overtaken, line.Superseded, line.Applied)
	if row.Network != other || row.Tenure != 0 || row.SIM != 12*day || row.BarAt != day {
		t.Errorf("with the port: network %d, tenure %d, SIM %d, bar %d", row.Network, row.Tenure, row.SIM, row.BarAt)
	}
	for name, withdrawn := range map[string]func(*line.Event){
		"by the regulator":      ordered,
		"by the clearing house": func(e *line.Event) { e.Authority, e.Network = line.ClearingHouse, 0 },
	} {
		row, outcomes = rowOf(append(events, void(3, 20*day, withdrawn))...)
		expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Voided, line.Applied, line.Applied, line.Pending, line.Applied)
		if row.Network != home || row.Tenure != 6*day || row.SIM != line.Never || row.PortAt != line.Never || row.ContestedPort != line.Never {
			t.Errorf("withdrawn %s: network %d, tenure %d, SIM %d, port %d", name, row.Network, row.Tenure, row.SIM, row.PortAt)
		}
	}
}
