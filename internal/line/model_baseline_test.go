package line_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
)

// The row that a snapshot makes directly is the row that its baseline makes by
// replay, and it is stored without loss: no time in it is hidden behind another.
func TestBaselineMakesTheRowOfItsReplay(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base := aBaseline(t)
		row := line.FromBaseline(*base)
		if diff := cmp.Diff(fold(base, nil), row); diff != "" {
			t.Fatalf("the row (-replay +direct):\n%s", diff)
		}
		if shown := newestShown(&row); row.Newest != shown {
			t.Fatalf("newest is %d, and the row shows %d", row.Newest, shown)
		}
	})
}

// A row that only a snapshot made gives its baseline back: with any events that
// follow, replay from there ends in the same row as replay from the snapshot.
func TestRowGivesItsBaselineBack(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := aBaseline(t), anyHistory(t)
		row := line.FromBaseline(*base)
		kept := row.AsBaseline()
		if diff := cmp.Diff(fold(base, events), fold(&kept, events)); diff != "" {
			t.Fatalf("the row (-snapshot +row as baseline):\n%s", diff)
		}
	})
}

// What a snapshot says of a number is what the row then says.
func TestBaselineSaysWhatTheSnapshotSaid(t *testing.T) {
	t.Parallel()

	row := func(change func(*line.Row)) line.Row {
		r := line.NoRow()
		r.Version, r.Baseline, r.Network, r.State, r.Tenure, r.StateSince = 1, 7, home, line.StateActive, 10, 10
		change(&r)
		r.Newest = newestShown(&r)
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
		"churn announced, of which a snapshot does not say the date": {
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
		"begun, swapped and ended on one date": {
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
		"of which only the network is known": {
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

// Events that are told after a snapshot stand where they belong, before and
// after what the snapshot named.
func TestLateEventsStandBesideTheBaseline(t *testing.T) {
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
		"a port before the swap, which is then not the donor's to tell": {
			event(line.Port, 15, to(away)), func(r *line.Row) { r.Network, r.PortAt, r.SIM = away, 15, line.Never },
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
			expect(t, fold(base, told(test.event)), want)
		})
	}
}
