package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Ratios are computed per round, and their median is used, not the ratio of the
// medians: a round in which the machine was slow affects both variants.
func TestRatiosAreComputedPerRound(t *testing.T) {
	t.Parallel()

	of := func(rate, service, postgres float64) measurement {
		return measurement{Rate: rate, ServiceCPU: service, PostgresCPU: postgres}
	}
	rounds := map[string][]measurement{
		variantVerify:     {of(20_000, 40, 20), of(2_000, 30, 10), of(21_000, 44, 30)},
		variantBare:       {of(40_000, 20, 0), of(4_000, 20, 0), of(30_000, 20, 0)},
		variantOneRow:     {of(10_000, 0, 100), of(1_000, 0, 100), of(7_000, 0, 100)},
		variantOneRowMany: {of(8_000, 0, 10), of(900, 0, 10), of(6_000, 0, 10)},
		variantRedis:      {of(18_000, 42, 20), of(1_600, 33, 10), of(21_000, 44, 30)},
	}
	found := ratios(rounds)
	want := []struct {
		median, low, high float64
		met               bool
	}{{2, 2, 3, false}, {0.2, 0.1, 0.3, false}, {2, 1.5, 2.2, false}, {0.5, 0.5, 0.7, true}, {0.9, 0.8, 1, true}}
	if len(found) != len(want) {
		t.Fatalf("%d ratios, want %d: %+v", len(found), len(want), found)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	for i, w := range want {
		got := found[i]
		if !near(got.Value.Median, w.median) || !near(got.Value.Low, w.low) || !near(got.Value.High, w.high) || got.Met != w.met {
			t.Errorf("%s: %+v, want %+v", got.Name, got, w)
		}
	}
}

// The faster pgbench variant is the reference. Goals without a reference are left
// out and count as missed.
func TestRatiosUseTheFasterPgbench(t *testing.T) {
	t.Parallel()

	rounds := map[string][]measurement{
		variantVerify:     {{Rate: 30_000, PostgresCPU: 10}},
		variantOneRow:     {{Rate: 5_000, PostgresCPU: 100}},
		variantOneRowMany: {{Rate: 10_000, PostgresCPU: 40}},
	}
	found := ratios(rounds)
	if len(found) != 2 || found[0].Value.Median != 3 || found[1].Value.Median != 0.25 {
		t.Errorf("got %+v, want 3 and 0.25", found)
	}
	r := &report{Ratios: found}
	missed := strings.Join(r.missedGoals(), "\n")
	if strings.Contains(missed, goals[0].name) || !strings.Contains(missed, goals[1].name) || !strings.Contains(missed, goals[2].name) {
		t.Errorf("missed goals:\n%s", missed)
	}
}

// The median of an even number of values is the mean of the two middle ones.
func TestSummary(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		all  []float64
		want summary
	}{
		{nil, summary{}},
		{[]float64{7}, summary{7, 7, 7}},
		{[]float64{9, 1, 5}, summary{5, 1, 9}},
		{[]float64{9, 1, 5, 7}, summary{6, 1, 9}},
	} {
		if got := summarise(c.all); got != c.want {
			t.Errorf("of %v: %+v, want %+v", c.all, got, c.want)
		}
	}
}

// The search ends near the limit, within its precision, from any start.
func TestSearchFindsTheLimit(t *testing.T) {
	t.Parallel()

	for _, limit := range []float64{100, 777, 9_999, 12_345, 400_000} {
		for _, from := range []float64{60, 2_000, 50_000} {
			s, steps := newSearch(from), 0
			for {
				rate, more := s.rate()
				if !more {
					break
				}
				if steps++; steps > 60 {
					t.Fatalf("limit %g from %g: the search does not end", limit, from)
				}
				s.record(rate <= limit)
			}
			if s.sustained > limit || s.sustained < limit/precision-10 {
				t.Errorf("limit %g from %g: found %g", limit, from, s.sustained)
			}
		}
	}
}

// The search ends even if no rate is sustained.
func TestSearchEndsIfNoRateIsSustained(t *testing.T) {
	t.Parallel()

	s, steps := newSearch(2000), 0
	for _, more := s.rate(); more; _, more = s.rate() {
		s.record(false)
		if steps++; steps > 60 {
			t.Fatal("the search does not end")
		}
	}
	if s.sustained != 0 {
		t.Errorf("found %g", s.sustained)
	}
}

// A rate is sustained if every due request was answered, and fast enough.
func TestSustainedMeansEveryRequestWasAnswered(t *testing.T) {
	t.Parallel()

	good := tally{Due: 1000, Answered: 1000, Latencies: latencies{P99: 49 * time.Millisecond}}
	refused, slow := good, good
	refused.Answered, refused.Refused = 999, 1
	slow.Latencies.P99 = 50 * time.Millisecond
	if !isSustained(&good) || isSustained(&refused) || isSustained(&slow) || isSustained(&tally{}) {
		t.Error("wrong verdict on a rate")
	}
}
