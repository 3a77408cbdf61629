package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Ratios are taken round by round and the median is of them, not of the sides:
// a round in which the machine was slow counts for both.
func TestRatiosAreTakenRoundByRound(t *testing.T) {
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
	}{{2, 2, 3, false}, {0.2, 0.1, 0.3, true}, {2, 1.5, 2.2, false}, {0.5, 0.5, 0.7, true}, {0.9, 0.8, 1, true}}
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

// We compare with the better run of pgbench, and leave out what has nothing
// beside it; what is left out is not reached.
func TestRatiosTakeTheBetterOfPgbench(t *testing.T) {
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
	missed := strings.Join(r.missed(), "\n")
	if strings.Contains(missed, goals[0].name) || !strings.Contains(missed, goals[1].name) || !strings.Contains(missed, goals[2].name) {
		t.Errorf("missed are:\n%s", missed)
	}
}

// The median of an even number is the middle of the two in the middle.
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

// The search ends, and at a rate within its bound of the limit, wherever it
// began.
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
					t.Fatalf("limit %g from %g: no end", limit, from)
				}
				s.tell(rate <= limit)
			}
			if s.held > limit || s.held < limit/near-10 {
				t.Errorf("limit %g from %g: found %g", limit, from, s.held)
			}
		}
	}
}

// The search ends where nothing is held, too.
func TestSearchEndsWhenNothingIsHeld(t *testing.T) {
	t.Parallel()

	s, steps := newSearch(2000), 0
	for _, more := s.rate(); more; _, more = s.rate() {
		s.tell(false)
		if steps++; steps > 60 {
			t.Fatal("no end")
		}
	}
	if s.held != 0 {
		t.Errorf("found %g", s.held)
	}
}

// A rate is held when all that was due was answered, and in time.
func TestHeldMeansEverythingWasAnswered(t *testing.T) {
	t.Parallel()

	fine := tally{Due: 1000, Answered: 1000, Latencies: latencies{P99: 49 * time.Millisecond}}
	refused, slow := fine, fine
	refused.Answered, refused.Refused = 999, 1
	slow.Latencies.P99 = 50 * time.Millisecond
	if !isHeld(&fine) || isHeld(&refused) || isHeld(&slow) || isHeld(&tally{}) {
		t.Error("a rate is held when it should not be, or not when it should")
	}
}
