package supply_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/supply"
)

// The last record of each day is kept: the number of lines, and the coverage. A day
// without a record has none.
func TestCoverageIsRecordedByDay(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	note := func() {
		t.Helper()
		if err := s.RecordCoverage(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := s.clock
	note() // before anybody supplied
	s.clock = first.Add(6 * time.Hour)
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 400), "APPLIED")
	s.supplyThroughNow("MTN")
	through := s.clock
	s.clock = first.Add(8 * time.Hour)
	note()
	s.clock = first.AddDate(0, 0, 2)
	s.wantOutcome(operator("MTN"), s.event(number(2), "ASSIGNED", 400), "APPLIED")
	note()
	late := s.clock
	s.clock = first.AddDate(0, 0, 2).Add(-time.Hour)
	note() // a node whose look came late does not replace a newer one

	of := func(network string) []supply.DayCoverage {
		t.Helper()
		n, _ := s.plan.Network(network)
		got, err := s.DailyCoverage(t.Context(), n, first.AddDate(0, 0, -1), late)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	day := func(n int) time.Time { return time.Date(2026, 6, n, 0, 0, 0, 0, time.UTC) }
	mtn, _ := s.plan.Network("MTN")
	capacity := s.plan.Capacity(mtn, first)
	want := []supply.DayCoverage{
		{Day: day(1).AddDate(0, 0, -1)},
		{Day: day(1), RecordedAt: first.Add(8 * time.Hour), Lines: 1, Capacity: capacity, Through: through},
		{Day: day(2)},
		{Day: day(3), RecordedAt: late, Lines: 2, Capacity: capacity, Through: through},
	}
	got := of("MTN")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got[1].Behind() != 2*time.Hour || got[3].Behind() != 42*time.Hour {
		t.Errorf("behind by %v and %v", got[1].Behind(), got[3].Behind())
	}
	silent := of("AIRTEL")
	if len(silent) != 4 || silent[1].RecordedAt.IsZero() || silent[1].Lines != 0 || silent[1].Capacity == 0 || !silent[1].Through.IsZero() {
		t.Errorf("a network that never reported: %+v", silent)
	}
}

// What is recorded is up to when every required topic was supplied.
func TestRecordedCoverageIsThatOfTheEarliestTopic(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.assure("MTN", through(s.clock)[0], through(s.clock.Add(-time.Hour))[1])
	if err := s.RecordCoverage(t.Context()); err != nil {
		t.Fatal(err)
	}
	mtn, _ := s.plan.Network("MTN")
	got, err := s.DailyCoverage(t.Context(), mtn, s.clock, s.clock)
	if err != nil || len(got) != 1 || !got[0].Through.Equal(s.clock.Add(-time.Hour)) || got[0].Behind() != time.Hour {
		t.Errorf("recorded is %+v, %v", got, err)
	}
}
