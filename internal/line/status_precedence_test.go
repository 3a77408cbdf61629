package line_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// changeOf is a new holder, a new SIM or a new network whose window runs.
type changeOf struct {
	status line.Status
	at     line.Instant
}

// recentChanges returns the changes whose windows run, in the order of precedence. It is
// an independent implementation of docs/reference/line-status.md.
func recentChanges(r *line.Row, p *policy.Policy, now line.Instant) (all []changeOf) {
	add := func(s line.Status, at line.Instant, hours int) {
		if at != line.Never && int64(now) < int64(at)+int64(hours)*3600 {
			all = append(all, changeOf{s, at})
		}
	}
	if r.Bits&line.FirstHolder == 0 {
		add(line.Recycled, r.Tenure, 24*p.RecycledDays)
	}
	add(line.Recycled, r.ContestedTenure, 24*p.RecycledDays)
	add(line.Swapped, r.SIM, p.SwappedHours)
	add(line.Swapped, r.ContestedSIM, p.SwappedHours)
	add(line.Ported, r.PortAt, p.PortedHours)
	return all
}

// applicable reports for every adverse status whether it applies, and the changes.
func applicable(r *line.Row, p *policy.Policy, now line.Instant) (map[line.Status]bool, []changeOf) {
	within := func(since line.Instant, days int) bool {
		return since != line.Never && int64(now) < int64(since)+int64(days)*86400
	}
	notEnded := func(since, until line.Instant) bool {
		return since != line.Never && (until == line.Never || now < until)
	}
	notice := r.State == line.StateNoticed
	date := notice && r.Until != line.Never && now >= r.Until
	ended, end := r.State == line.StateEnded || date, r.StateSince
	if date {
		end = r.Until
	}
	has := map[line.Status]bool{ //nolint:exhaustive // the changes follow
		line.Blacklisted:  r.BlackAt != line.Never,
		line.Flagged:      !ended && (within(r.MediumAt, p.FlaggedDays) || within(r.HighAt, p.FlaggedDays) || within(r.VeryHighAt, p.FlaggedDays)),
		line.Quarantined:  ended,
		line.PendingChurn: notice && !date,
		line.Parked:       r.State == line.StateParked,
		line.Inactive:     r.State == line.StateInactive,
	}
	has[line.Barred] = r.BarAt != line.Never && !ended || notEnded(r.NumberBarAt, r.NumberBarUntil) ||
		notEnded(r.HolderBarAt, r.HolderBarUntil) && (!ended || within(end, p.QuarantineDays))
	if ended || r.State == line.StateNone {
		return has, nil
	}
	changes := recentChanges(r, p, now)
	for _, c := range changes {
		has[c.status] = true
	}
	has[line.Swapped] = has[line.Swapped] || r.PortAt != line.Never && int64(now) < int64(r.PortAt)+int64(p.PortedHours)*3600
	return has, changes
}

// The status is the first that applies in the order of precedence. Among a new tenure,
// a new SIM and a new network it is the most recent change, or the first in this order
// if they are equal. The SWAPPED signal of a port is never the status.
func TestStatusIsTheFirstByPrecedence(t *testing.T) {
	t.Parallel()

	now := 1000 * hour
	place := func(s line.Status) int {
		if s == line.New {
			s = line.Recycled
		}
		return slices.Index(line.Statuses, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		p, row := aPolicy(t), anyRow(t, now)
		view := line.At(factsOf(row, supplied(now.Time())), p, now.Time())

		has, changes := applicable(&row, p, now)
		want := line.Normal
		if row.State == line.StateNone {
			want = line.Unallocated
		}
		for _, s := range line.Statuses {
			if has[s] && (s != line.Swapped || len(changes) > 0) {
				want = s
				break
			}
		}
		if want == line.Recycled || want == line.Swapped || want == line.Ported {
			latest := changes[0]
			for _, c := range changes {
				if c.at > latest.at {
					latest = c
				}
			}
			want = latest.status
		}
		if view.Status != want {
			t.Fatalf("the line is %s, not %s", view.Status, want)
		}
		for _, s := range line.Statuses {
			if shown := slices.ContainsFunc(view.Signals, func(g line.Signal) bool { return g.Status == s }); shown != has[s] {
				t.Fatalf("%s applies: %v, and is a signal: %v", s, has[s], shown)
			}
		}
		if !slices.IsSortedFunc(view.Signals, func(a, b line.Signal) int { return place(a.Status) - place(b.Status) }) {
			t.Fatalf("the signals are out of order: %v", view.Signals)
		}
	})
}

// Cases in which the most recent change decides.
func TestMostRecentChangeIsTheStatus(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		tenure, sim, port line.Instant
		want              line.Status
	}{
		"a new tenure":                        {100, line.Never, line.Never, line.Recycled},
		"a new SIM":                           {line.Never, 100, line.Never, line.Swapped},
		"a new network":                       {line.Never, line.Never, 100, line.Ported},
		"a SIM after the tenure":              {100, 101, line.Never, line.Swapped},
		"a network after the tenure":          {100, line.Never, 101, line.Ported},
		"a network after the SIM":             {99, 100, 101, line.Ported},
		"a SIM after the network":             {99, 101, 100, line.Swapped},
		"tenure and SIM at once":              {100, 100, line.Never, line.Recycled},
		"tenure and network at once":          {100, line.Never, 100, line.Recycled},
		"SIM and network at once":             {line.Never, 100, 100, line.Swapped},
		"SIM and network, after the tenure":   {99, 100, 100, line.Swapped},
		"all at once":                         {100, 100, 100, line.Recycled},
		"a network, and a SIM long before it": {line.Never, -240 * hour, 100, line.Ported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := line.NoRow()
			r.State, r.Network, r.Tenure, r.SIM, r.PortAt = line.StateActive, home, test.tenure, test.sim, test.port
			if got := viewOf(r, 200).Status; got != test.want {
				t.Errorf("the line is %s, not %s", got, test.want)
			}
		})
	}
}

// Every signal has its start, its end by the clock, and its source. A withdrawn port has no signal.
func TestSignalsHaveSinceUntilAndSource(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	r := line.NoRow()
	r.State, r.StateSince, r.Until, r.Network, r.Tenure, r.SIM, r.PortAt = line.StateNoticed, 50, 90*hour, home, 10, 20, 30
	r.ContestedTenure, r.ContestedSIM, r.ContestedPort = 11, 21, 31
	r.BarAt, r.BarReason, r.HolderBarAt, r.HolderBarUntil, r.NumberBarAt, r.NumberBarUntil = 41, line.ReasonDebt, 42, 99, 43, line.Never
	r.HighAt, r.MediumAt, r.BlackAt = 44, 45, 46
	want := []line.Signal{
		{Status: line.Blacklisted, Since: 46, Until: line.Never, Source: line.Regulator},
		{Status: line.Barred, Since: 43, Until: line.Never, Source: line.Regulator},
		{Status: line.Barred, Since: 42, Until: 99, Source: line.Regulator},
		{Status: line.Barred, Since: 41, Until: line.Never, Source: line.Operator},
		{Status: line.Flagged, Since: 44, Until: line.Instant(44).Add(p.Flagged()), Source: line.Sector, Level: line.LevelHigh},
		{Status: line.Recycled, Since: 10, Until: line.Instant(10).Add(p.Recycled()), Source: line.Operator},
		{Status: line.Recycled, Since: 11, Until: line.Instant(11).Add(p.Recycled()), Source: line.Operator, Contested: true},
		{Status: line.Swapped, Since: 20, Until: line.Instant(20).Add(p.Swapped()), Source: line.Operator},
		{Status: line.Swapped, Since: 21, Until: line.Instant(21).Add(p.Swapped()), Source: line.Operator, Contested: true},
		{Status: line.Swapped, Since: 30, Until: line.Instant(30).Add(p.Ported()), Source: line.ClearingHouse},
		{Status: line.Ported, Since: 30, Until: line.Instant(30).Add(p.Ported()), Source: line.ClearingHouse},
		{Status: line.PendingChurn, Since: 50, Until: 90 * hour, Source: line.Operator},
	}
	if got := viewOf(r, 60).Signals; !slices.Equal(got, want) {
		t.Errorf("the signals are\n%v, not\n%v", got, want)
	}
}

// Windows end by the clock: the same row has different statuses in the second before
// the end and at the end.
func TestWindowsEndByTheClock(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		p, since := aPolicy(t), instant(t, "since")
		for _, window := range []struct {
			status line.Status
			set    func(*line.Row)
			lasts  time.Duration
		}{
			{line.Recycled, func(r *line.Row) { r.Tenure = since }, p.Recycled()},
			{line.Swapped, func(r *line.Row) { r.SIM = since }, p.Swapped()},
			{line.Ported, func(r *line.Row) { r.PortAt = since }, p.Ported()},
			{line.Flagged, func(r *line.Row) { r.MediumAt = since }, p.Flagged()},
			{line.Recycled, func(r *line.Row) { r.ContestedTenure = since }, p.Recycled()},
			{line.Swapped, func(r *line.Row) { r.ContestedSIM = since }, p.Swapped()},
		} {
			status := window.status
			r := line.NoRow()
			r.State, r.Network = line.StateActive, home
			window.set(&r)
			end := since.Time().Add(window.lasts)
			facts := factsOf(r, supplied(end))
			for _, before := range []time.Duration{time.Second, time.Nanosecond} {
				if got := line.At(facts, p, end.Add(-before)).Status; got != status {
					t.Fatalf("%s before the window of %s ends the line is %s", before, status, got)
				}
			}
			if got := line.At(facts, p, end); got.Status != line.Normal || len(got.Signals) > 0 {
				t.Fatalf("when the window of %s has ended the line is %s", status, got.Status)
			}
			if facts.Row != r {
				t.Fatalf("computing the status has changed the row to %+v", facts.Row)
			}
		}
	})
}
