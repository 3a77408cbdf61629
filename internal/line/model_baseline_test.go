package line_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
)

// The row that FromBaseline computes directly is the same as the fold of the baseline,
// and its Newest need not be stored.
func TestRowFromBaselineIsTheFoldOfTheBaseline(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base := aBaseline(t)
		row := line.FromBaseline(*base)
		if diff := cmp.Diff(fold(base, nil), row); diff != "" {
			t.Fatalf("the row (-replay +direct):\n%s", diff)
		}
		if column := newestColumn(&row); row.Newest != column {
			t.Fatalf("newest is %d, but a column has %d", row.Newest, column)
		}
	})
}

// The baseline of a row without events can be recovered from the row: with any later
// events it gives the same fold as the original baseline.
func TestBaselineIsRecoveredFromTheRow(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := aBaseline(t), anyHistory(t)
		row := line.FromBaseline(*base)
		recovered := row.AsBaseline()
		if diff := cmp.Diff(fold(base, events), fold(&recovered, events)); diff != "" {
			t.Fatalf("the row (-snapshot +row as baseline):\n%s", diff)
		}
	})
}

// The row has the state and the times of the snapshot.
func TestRowHasTheContentOfTheSnapshot(t *testing.T) {
	t.Parallel()

	row := func(change func(*line.Row)) line.Row {
		r := line.NoRow()
		r.Version, r.Baseline, r.Network, r.State, r.Tenure, r.StateSince = 1, 7, home, line.StateActive, 10, 10
		change(&r)
		r.Newest = newestColumn(&r)
		return r
	}
	for name, test := range map[string]struct {
		base line.Baseline
		want line.Row
	}{
		"active": {
			line.Baseline{Tenure: 10, SIM: line.Never, State: line.StateActive, StateSince: 20},
			row(func(*line.Row) {}),
		},
		"with a new SIM": {
			line.Baseline{Tenure: 10, SIM: 15, State: line.StateActive, StateSince: 20},
			row(func(r *line.Row) { r.SIM = 15 }),
		},
		"the SIM is that of the first day": {
			line.Baseline{Tenure: 10, SIM: 10, State: line.StateActive, StateSince: 10},
			row(func(*line.Row) {}),
		},
		"inactive": {
			line.Baseline{Tenure: 10, SIM: line.Never, State: line.StateInactive, StateSince: 20},
			row(func(r *line.Row) { r.State, r.StateSince = line.StateInactive, 20 }),
		},
		"parked on the first day": {
			line.Baseline{Tenure: 10, SIM: line.Never, State: line.StateParked, StateSince: 10},
			row(func(r *line.Row) { r.State = line.StateParked }),
		},
		"churn announced; the snapshot does not have the date": {
			line.Baseline{Tenure: 10, SIM: 15, State: line.StateNoticed, StateSince: 12},
			row(func(r *line.Row) { r.State, r.StateSince, r.SIM = line.StateNoticed, 12, 15 }),
		},
		"barred": {
			line.Baseline{Tenure: 10, SIM: line.Never, State: line.StateBarred, StateSince: 20},
			row(func(r *line.Row) { r.BarAt, r.BarReason = 20, line.ReasonOther }),
		},
		"ended": {
			line.Baseline{Tenure: 10, SIM: 15, State: line.StateEnded, StateSince: 20},
			row(func(r *line.Row) { r.State, r.StateSince, r.SIM = line.StateEnded, 20, 15 }),
		},
		"started, swapped and ended on one date": {
			line.Baseline{Tenure: 10, SIM: 10, State: line.StateEnded, StateSince: 10},
			row(func(r *line.Row) { r.State = line.StateEnded }),
		},
		"swapped and ended on one date": {
			line.Baseline{Tenure: 10, SIM: 20, State: line.StateEnded, StateSince: 20},
			row(func(r *line.Row) { r.State, r.StateSince, r.SIM = line.StateEnded, 20, 20 }),
		},
		"of unknown start": {
			line.Baseline{Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: 20},
			row(func(r *line.Row) { r.Tenure, r.StateSince = line.Never, 20 }),
		},
		"only the network is known": {
			line.Baseline{Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never},
			row(func(r *line.Row) { r.Tenure, r.StateSince = line.Never, line.Never }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.base.Import, test.base.Network = 7, home
			expect(t, line.FromBaseline(test.base), test.want)
			expect(t, fold(&test.base, nil), test.want)
		})
	}
}

// Events that are reported after a snapshot apply in the order of their effect, before
// and after the times of the snapshot.
func TestLateEventsApplyAroundTheBaseline(t *testing.T) {
	t.Parallel()

	base := &line.Baseline{Import: 7, Network: home, Tenure: 10, SIM: 20, State: line.StateActive, StateSince: 10}
	for name, test := range map[string]struct {
		event line.Event
		want  func(*line.Row)
	}{
		"a swap before the one in the snapshot": {event(line.ChangeSIM, 15), func(*line.Row) {}},
		"a swap after it":                       {event(line.ChangeSIM, 25), func(r *line.Row) { r.SIM, r.Newest = 25, 25 }},
		"an end, reported late":                 {event(line.End, 22), func(r *line.Row) { r.State, r.StateSince, r.Newest = line.StateEnded, 22, 22 }},
		"the end of the tenure before":          {event(line.End, 5), func(*line.Row) {}},
		"a port before the swap, which then does not count for the donor": {
			event(line.Port, 15, to(other)), func(r *line.Row) { r.Network, r.PortAt, r.SIM = other, 15, line.Never },
		},
		"a flag on the tenure":            {event(line.Flag, 15, by(4)), func(r *line.Row) { r.FlagAt, r.FlagBy = 15, 4 }},
		"a flag on the tenure before":     {event(line.Flag, 5, by(4)), func(*line.Row) {}},
		"a bar on the tenure's first day": {event(line.Bar, 10), func(r *line.Row) { r.BarAt = 10 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := line.FromBaseline(*base)
			want.Version = 2
			test.want(&want)
			expect(t, fold(base, numbered(test.event)), want)
		})
	}
}
