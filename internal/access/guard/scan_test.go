package guard_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access/guard"
)

// usual is the budget that an organisation has unless staff allow it another.
var usual = guard.Budget{Numbers: 100_000}

// seeded returns a random generator, and logs how to reproduce it.
func seeded(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := rand.Uint64()
	tb.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// scanStyle returns the next number of a scan.
type scanStyle func(i int64) int64

// styles are the ways to read numbers out: one after the other, at random within
// a block of ten million, and a million neighbours in random order.
func styles(rng *rand.Rand, questions int) map[string]scanStyle {
	shuffled := rng.Perm(questions)
	return map[string]scanStyle{
		"sequential":        func(i int64) int64 { return first + i },
		"random in a block": func(int64) int64 { return first + rng.Int64N(10_000_000) },
		"shuffled":          func(i int64) int64 { return first + int64(shuffled[i]) },
	}
}

// Every style of scan is stopped within the budget and flagged within a minute,
// whether it asks a thousand a second or ten thousand. One that shows nothing, at
// random over the whole nation, is bounded by the budget.
func TestScansAreStopped(t *testing.T) {
	t.Parallel()
	questions := size(t, 100_000)
	rng := seeded(t)
	for name, next := range styles(rng, questions) {
		for _, rate := range []int64{1_000, 10_000} {
			b := newBench(t)
			bad := b.entity(t)
			answered := 0
			for i := range int64(questions) {
				b.clock.forward(time.Second / time.Duration(rate))
				if ask(b.Guard, bad, usual, next(i)) == nil {
					answered++
				}
			}
			settle(t, b.Guard)
			alerts, err := guard.List(t.Context(), b.pool, b.clock.now(), false, 10)
			if err != nil || len(alerts) < 2 || answered > int(usual.Numbers) {
				t.Errorf("%s: %d of %d were answered, with %d alerts, %v", name, answered, questions, len(alerts), err)
				continue
			}
			flagged := alerts[len(alerts)-1]
			took := flagged.Since.Sub(morning)
			t.Logf("%s, %d questions at %d a second: flagged after %.1f s (%d numbers), stopped after %d answers", name, questions, rate, took.Seconds(), flagged.Numbers, answered)
			if took > time.Minute {
				t.Errorf("%s: flagged after %s", name, took)
			}
		}
	}

	b := newBench(t)
	quiet := b.entity(t)
	asked := make(map[int64]bool)
	for range max(questions, 150_000) {
		n := anyNumber(rng)
		if ask(b.Guard, quiet, usual, n) == nil {
			asked[n] = true
		}
	}
	if len(asked) != int(usual.Numbers) {
		t.Errorf("a scan of the whole nation got answers about %d numbers, want the budget of %d", len(asked), usual.Numbers)
	}
}

// Organisations with honest usage are neither slowed nor stopped, and none
// comes near its budget: docs/explanation/limits.md describes the mix.
func TestHonestUsageStopsNobody(t *testing.T) {
	t.Parallel()
	questions := size(t, 100_000)
	b := newBench(t)
	town := newTown(seeded(t))
	parties := town.parties(questions)
	for i := range parties {
		parties[i].id = b.entity(t)
	}
	asked := 0
	for hour := range 24 { // from nine to nine, over midnight
		b.clock.set(morning.Add(time.Duration(hour) * time.Hour))
		for i := range parties {
			for range parties[i].questions / 24 {
				n := parties[i].next(hour)
				if err := b.Admit(parties[i].id, usual, number(n)); err != nil {
					t.Fatalf("%s was refused at hour %d: %v", parties[i].name, hour, err)
				}
				b.Record(parties[i].id, number(n), !town.assigned(n))
				asked++
			}
			if b.Slowed(parties[i].id) != 1 {
				t.Errorf("%s was slowed", parties[i].name)
			}
		}
		settle(t, b.Guard)
	}
	for i := range parties {
		day := count(t, b.pool, `SELECT max(numbers) FROM usage_day WHERE entity_id = $1`, parties[i].id)
		misses := count(t, b.pool, `SELECT sum(misses) FROM usage_day WHERE entity_id = $1`, parties[i].id)
		t.Logf("%s: %d questions, at most %d different numbers on a day, %d misses", parties[i].name, parties[i].questions/24*24, day, misses)
	}
	t.Logf("%d questions in all", asked)
	if n := count(t, b.pool, `SELECT count(*) FROM guard_alert`); n != 0 {
		t.Errorf("%d alerts, want none", n)
	}
}
