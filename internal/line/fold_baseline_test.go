package line_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// anyBaseline draws a baseline, possibly contradictory, or nil.
func anyBaseline(t *rapid.T) *line.Baseline {
	if rapid.Bool().Draw(t, "no baseline") {
		return nil
	}
	return aBaseline(t)
}

// aBaseline draws a baseline. A snapshot must have the start of every state but
// ACTIVE; other times may be missing.
func aBaseline(t *rapid.T) *line.Baseline {
	or := func(i line.Instant, label string) line.Instant {
		if rapid.IntRange(0, 3).Draw(t, "no "+label) == 0 {
			return line.Never
		}
		return i
	}
	b := &line.Baseline{
		Import: 7, Network: rapid.SampledFrom([]numbering.Network{home, home, other}).Draw(t, "base network"),
		Tenure: or(instant(t, "base tenure"), "tenure"), SIM: or(instant(t, "base sim"), "sim"), StateSince: instant(t, "base since"),
		State: line.State(rapid.Int16Range(int16(line.StateActive), int16(line.StateBarred)).Draw(t, "base state")), Until: line.Never,
	}
	bit := func(b line.Bits, possible bool) line.Bits {
		if possible && rapid.Bool().Draw(t, "bit") {
			return b
		}
		return 0
	}
	b.Bits = bit(line.SIMUnknown, b.SIM == line.Never) | bit(line.TenureDay, b.Tenure != line.Never) | bit(line.SIMDay, b.SIM != line.Never) |
		bit(line.EndDay, b.State == line.StateEnded)
	switch b.State {
	case line.StateActive:
		b.StateSince = or(b.StateSince, "since")
	case line.StateNoticed:
		b.Until = or(max(b.StateSince, b.SIM)+14, "until") // the line is not used after its churn date
	default:
	}
	return b
}

// The row that FromBaseline computes directly is the same as the fold of the baseline.
func TestRowFromBaselineIsTheFoldOfTheBaseline(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base := aBaseline(t)
		if diff := cmp.Diff(fold(base, nil), line.FromBaseline(base)); diff != "" {
			t.Fatalf("the row (-replay +direct):\n%s", diff)
		}
	})
}

// The baseline of a row without events can be recovered from the row: with any later
// events it gives the same fold as the original baseline.
func TestBaselineIsRecoveredFromTheRow(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := aBaseline(t), anyHistory(t)
		row := line.FromBaseline(base)
		recovered := row.AsBaseline()
		if diff := cmp.Diff(fold(base, events), fold(&recovered, events)); diff != "" {
			t.Fatalf("the row (-snapshot +row as baseline):\n%s", diff)
		}
	})
}

// The row has the state and the times of the snapshot.
func TestRowHasTheContentOfTheSnapshot(t *testing.T) {
	t.Parallel()

	type baseline = line.Baseline
	never := line.Never
	for name, test := range map[string]struct {
		base baseline
		want func(*line.Row) // what differs from an active tenure since 10
	}{
		"active":                           {baseline{Tenure: 10, SIM: never, State: line.StateActive, StateSince: 20}, func(*line.Row) {}},
		"with a new SIM":                   {baseline{Tenure: 10, SIM: 15, State: line.StateActive, StateSince: 20}, func(r *line.Row) { r.SIM = 15 }},
		"the SIM is that of the first day": {baseline{Tenure: 10, SIM: 10, State: line.StateActive, StateSince: 10}, func(*line.Row) {}},
		"nobody knows whether the SIM changed": {
			baseline{Tenure: 10, SIM: never, State: line.StateActive, StateSince: 10, Bits: line.SIMUnknown},
			func(r *line.Row) { r.Bits = line.SIMUnknown },
		},
		"with dates": {
			baseline{Tenure: 10, SIM: 15, State: line.StateEnded, StateSince: 20, Bits: line.TenureDay | line.SIMDay | line.EndDay},
			func(r *line.Row) {
				r.State, r.StateSince, r.SIM, r.Bits = line.StateEnded, 20, 15, line.TenureDay|line.SIMDay|line.EndDay
			},
		},
		"inactive": {
			baseline{Tenure: 10, SIM: never, State: line.StateInactive, StateSince: 20},
			func(r *line.Row) { r.State, r.StateSince = line.StateInactive, 20 },
		},
		"parked on the first day": {
			baseline{Tenure: 10, SIM: never, State: line.StateParked, StateSince: 10}, func(r *line.Row) { r.State = line.StateParked },
		},
		"churn announced": {
			baseline{Tenure: 10, SIM: 15, State: line.StateNoticed, StateSince: 12, Until: 30},
			func(r *line.Row) { r.State, r.StateSince, r.SIM, r.Until = line.StateNoticed, 12, 15, 30 },
		},
		"barred": {
			baseline{Tenure: 10, SIM: never, State: line.StateBarred, StateSince: 20},
			func(r *line.Row) { r.BarAt, r.BarReason = 20, line.ReasonOther },
		},
		"ended": {
			baseline{Tenure: 10, SIM: 15, State: line.StateEnded, StateSince: 20},
			func(r *line.Row) { r.State, r.StateSince, r.SIM = line.StateEnded, 20, 15 },
		},
		"started, swapped and ended on one date": {
			baseline{Tenure: 10, SIM: 10, State: line.StateEnded, StateSince: 10}, func(r *line.Row) { r.State = line.StateEnded },
		},
		"swapped and ended on one date": {
			baseline{Tenure: 10, SIM: 20, State: line.StateEnded, StateSince: 20},
			func(r *line.Row) { r.State, r.StateSince, r.SIM = line.StateEnded, 20, 20 },
		},
		"of unknown start": {
			baseline{Tenure: never, SIM: never, State: line.StateActive, StateSince: 20},
			func(r *line.Row) { r.Tenure, r.StateSince = never, 20 },
		},
		"only the network is known": {
			baseline{Tenure: never, SIM: never, State: line.StateActive, StateSince: never},
			func(r *line.Row) { r.Tenure, r.StateSince = never, never },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := test.base
			base.Import, base.Network = 7, home
			if base.Until == 0 {
				base.Until = never
			}
			want := line.NoRow()
			want.Version, want.Baseline, want.Network, want.State, want.Tenure, want.StateSince = 1, 7, home, line.StateActive, 10, 10
			test.want(&want)
			want.Bits |= line.OwnSnapshot
			want.Newest = max(want.StateSince, want.Tenure, want.SIM, want.BarAt)
			expect(t, line.FromBaseline(&base), want)
			expect(t, fold(&base, nil), want)
		})
	}
}

// Events that are reported after a snapshot apply in the order of their effect, before
// and after the times of the snapshot.
func TestLateEventsApplyAroundTheBaseline(t *testing.T) {
	t.Parallel()

	base := &line.Baseline{Import: 7, AsOf: 30, Network: home, Tenure: 10, SIM: 20, State: line.StateActive, StateSince: 10, Until: line.Never}
	for name, test := range map[string]struct {
		event line.Event
		want  func(*line.Row)
	}{
		"a swap before the one in the snapshot": {event(line.ChangeSIM, 15), func(*line.Row) {}},
		"a swap after it":                       {event(line.ChangeSIM, 25), func(r *line.Row) { r.SIM, r.Newest = 25, 25 }},
		"an end, reported late":                 {event(line.End, 22, reported(day)), func(r *line.Row) { r.State, r.StateSince, r.Newest = line.StateEnded, 22, 22 }},
		"the end of the tenure before":          {event(line.End, 5), func(*line.Row) {}},
		"a port before the swap, which then does not count for the donor": {
			event(line.Port, 15, to(other)), func(r *line.Row) {
				r.Network, r.PortAt, r.SIM = other, 15, line.Never
				r.Bits &^= line.OwnSnapshot
			},
		},
		"a port before the swap, to the network of the snapshot": {
			event(line.Port, 15, to(home)), func(r *line.Row) { r.PortAt = 15 },
		},
		"a port after the snapshot, to its network": {event(line.Port, 31, to(home)), func(r *line.Row) { r.Newest = 31 }},
		"a flag on the tenure":                      {event(line.Flag, 15, code(line.LevelHigh)), func(r *line.Row) { r.HighAt = 15 }},
		"a flag on the tenure before":               {event(line.Flag, 5, code(line.LevelHigh)), func(*line.Row) {}},
		"a bar on the tenure's first day":           {event(line.Bar, 10), func(r *line.Row) { r.BarAt = 10 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := line.FromBaseline(base)
			want.Version = 2
			test.want(&want)
			expect(t, fold(base, numbered(test.event)), want)
		})
	}
}

// A restatement replaces what the baseline said, and events apply around it as before.
// Of several the one that counts last replaces the others; one that is held, withdrawn,
// or of a network that had nothing to do with the line does not.
func TestRestatementReplacesTheBaseline(t *testing.T) {
	t.Parallel()

	base := &line.Baseline{Import: 7, Network: home, Tenure: 10, SIM: 20, State: line.StateActive, StateSince: 10, Until: line.Never}
	said := func(tenure, sim line.Instant) func(*line.Event) {
		b := *base
		b.Import, b.Tenure, b.SIM = 8, tenure, sim
		return restating(b)
	}
	for name, test := range map[string]struct {
		events      []line.Event
		tenure, sim line.Instant
	}{
		"of the SIM":                    {[]line.Event{event(line.Restate, 100, said(10, 15))}, 10, 15},
		"that takes the SIM away":       {[]line.Event{event(line.Restate, 100, said(10, line.Never))}, 10, line.Never},
		"of the tenure":                 {[]line.Event{event(line.Restate, 100, said(5, 20))}, 5, 20},
		"that does not know the tenure": {[]line.Event{event(line.Restate, 100, said(line.Never, 15))}, 10, 15},
		"that does not know the SIM": {
			[]line.Event{event(line.Restate, 100, said(5, line.Never), func(e *line.Event) { e.Base.Bits = line.SIMUnknown })}, 5, 20,
		},
		"before an event":         {[]line.Event{event(line.ChangeSIM, 30), event(line.Restate, 100, said(10, 15))}, 10, 30},
		"the last one":            {[]line.Event{event(line.Restate, 100, said(10, 15)), event(line.Restate, 200, said(10, 16))}, 10, 16},
		"reported earlier":        {[]line.Event{event(line.Restate, 200, said(10, 15)), event(line.Restate, 100, said(10, 16))}, 10, 15},
		"held":                    {[]line.Event{event(line.Restate, 100, said(10, 15), held(line.HoldTooOld))}, 10, 20},
		"confirmed":               {[]line.Event{event(line.Restate, 100, said(10, 15), held(line.HoldTooOld)), confirm(1, 200)}, 10, 15},
		"confirmed after another": {[]line.Event{event(line.Restate, 100, said(10, 15), held(line.HoldTooOld)), event(line.Restate, 150, said(10, 16)), confirm(1, 200)}, 10, 15},
		"voided with its file":    {[]line.Event{event(line.Restate, 100, said(10, 15)), void(1, 200, ordered)}, 10, 20},
		"by a network that got the line later, whose row is compared then": {
			[]line.Event{event(line.Restate, 100, said(10, 15), from(other), outside), event(line.Port, 50, to(other), reported(200))}, 10, 20,
		},
		"by a network that lost the line again": {
			[]line.Event{
				event(line.Restate, 100, said(10, 15), from(other), outside), event(line.Port, 50, to(other), reported(60)), event(line.Port, 70, to(home), reported(80)),
			}, 10, 20,
		},
		"by a network without it": {[]line.Event{event(line.Restate, 100, said(10, 15), from(other), outside)}, 10, 20},
		"none":                    {nil, 10, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := fold(base, numbered(test.events...))
			if row.Tenure != test.tenure || row.SIM != test.sim || row.Baseline != 7 {
				t.Errorf("tenure since %d, SIM since %d, import %d; want tenure %d, SIM %d", row.Tenure, row.SIM, row.Baseline, test.tenure, test.sim)
			}
		})
	}
}
