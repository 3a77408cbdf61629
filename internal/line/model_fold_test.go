package line_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
)

// eachHistory calls fn with 5000 long random histories, which are the same on every
// run. Many events have equal times: half of the times are dates.
func eachHistory(t *testing.T, fn func(r *rand.Rand, base *line.Baseline, events []line.Event) error) {
	t.Helper()
	world := linemodel.World{Networks: 3, From: 0, To: 20 * 86400}
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var base *line.Baseline
		if r.IntN(2) == 0 {
			b := linemodel.RandomBaseline(r, world)
			base = &b
		}
		var events []line.Event
		for seq := range int64(1 + r.IntN(20)) {
			events = append(events, linemodel.RandomEvent(r, world, seq+1, events))
		}
		if err := fn(r, base, events); err != nil {
			t.Fatalf("history %d: %v", seed, err)
		}
	}
}

// compareOrders returns an error if the shuffled events give another row or other
// outcomes.
func compareOrders(base *line.Baseline, events, shuffled []line.Event, until line.Instant) error {
	row, outcomes := line.Fold(base, events, until)
	row2, outcomes2 := line.Fold(base, shuffled, until)
	if diff := cmp.Diff(row, row2); diff != "" {
		return fmt.Errorf("the row (-in order +shuffled):\n%s", diff)
	}
	if diff := cmp.Diff(outcomesBySeq(events, outcomes), outcomesBySeq(shuffled, outcomes2)); diff != "" {
		return fmt.Errorf("the outcomes (-in order +shuffled):\n%s", diff)
	}
	return nil
}

// The row and the outcomes do not depend on the order in which events arrive.
func TestArrivalOrderDoesNotMatter(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		shuffled := rapid.Permutation(events).Draw(t, "arrival")
		if err := compareOrders(base, events, shuffled, instant(t, "until")); err != nil {
			t.Fatal(err)
		}
	})
	eachHistory(t, func(r *rand.Rand, base *line.Baseline, events []line.Event) error {
		shuffled := slices.Clone(events)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		return compareOrders(base, events, shuffled, always)
	})
}

// The row is the same as that of the model, which was written independently of this
// package; and the compared histories reach every state and every outcome.
func TestFoldAgreesWithTheModel(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		if diff := cmp.Diff(linemodel.Replay(base, events), fold(base, events)); diff != "" {
			t.Fatalf("the row (-model +fold):\n%s", diff)
		}
	})
	states, outcomes := map[line.State]int{}, map[line.Outcome]int{}
	eachHistory(t, func(_ *rand.Rand, base *line.Baseline, events []line.Event) error {
		row, eventOutcomes := line.Fold(base, events, always)
		states[row.State]++
		for _, o := range eventOutcomes {
			outcomes[o]++
		}
		if diff := cmp.Diff(linemodel.Replay(base, events), row); diff != "" {
			return fmt.Errorf("the row (-model +fold):\n%s", diff)
		}
		return nil
	})
	for s := line.StateNone; s <= line.StateEnded; s++ {
		if states[s] < 50 {
			t.Errorf("only %d of the histories end in %s", states[s], s)
		}
	}
	for o := range line.NotYet {
		if outcomes[o] < 50 {
			t.Errorf("only %d events have the outcome %d", outcomes[o], o)
		}
	}
}

// compareApplyNewest applies events one by one and returns an error where ApplyNewest
// is possible and gives another row than Fold. It counts how often it is possible.
func compareApplyNewest(base *line.Baseline, events []line.Event) (possible int, err error) {
	row := line.NoRow()
	if base != nil {
		row = line.FromBaseline(*base)
	}
	for n := range events {
		applied, outcome, ok := row.ApplyNewest(&events[n])
		next, outcomes := line.Fold(base, events[:n+1], always)
		switch {
		case ok && (applied != next || outcome != outcomes[n]):
			return 0, fmt.Errorf("event %d has outcome %d, with Fold %d; the row (-Fold +ApplyNewest):\n%s",
				events[n].Seq, outcome, outcomes[n], cmp.Diff(next, applied))
		case ok:
			possible++
		case applied != row:
			return 0, fmt.Errorf("ApplyNewest was not possible but changed the row:\n%s", cmp.Diff(row, applied))
		}
		row = next
	}
	return possible, nil
}

// Where ApplyNewest is possible, it gives the same row as Fold; and it is possible for
// many of the events that are reported in order.
func TestApplyNewestAgreesWithFold(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		if _, err := compareApplyNewest(anyBaseline(t), anyHistory(t)); err != nil {
			t.Fatal(err)
		}
	})
	possible, all := 0, 0
	eachHistory(t, func(_ *rand.Rand, base *line.Baseline, events []line.Event) error {
		if _, err := compareApplyNewest(base, events); err != nil {
			return err
		}
		slices.SortStableFunc(events, func(a, b line.Event) int { return int(a.Effective - b.Effective) })
		n, err := compareApplyNewest(base, events)
		possible, all = possible+n, all+len(events)
		return err
	})
	if possible*3 < all {
		t.Errorf("ApplyNewest was possible for %d events of %d", possible, all)
	}
}

// A voided event leaves the row as if it had never been reported, except for the
// version.
func TestVoidedEventHasNoEffect(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		target := anEvent(t, 100)
		with := append(slices.Clone(events), target, withdrawal(&target, 101))

		row, outcomes := line.Fold(base, with, always)
		never := fold(base, events)
		never.Version += 2
		if diff := cmp.Diff(never, row); diff != "" {
			t.Fatalf("the row (-never reported +voided):\n%s", diff)
		}
		if got := outcomes[len(events)]; got != line.Voided {
			t.Fatalf("the voided event has outcome %d", got)
		}
	})
}

// An operator that withdraws its only event about a number has no tenure of it.
func TestWithdrawalImpliesNoTenure(t *testing.T) {
	t.Parallel()

	assigned := event(line.Assign, 10)
	assigned.Seq = 1
	want := line.NoRow()
	want.Version = 2
	expect(t, fold(nil, []line.Event{assigned, withdrawal(&assigned, 2)}), want)
}

// Fold until a time is the fold of the events up to that time.
func TestFoldUntilLeavesOutLaterEvents(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		events, until := anyHistory(t), instant(t, "until")
		row, outcomes := line.Fold(nil, events, until)
		early := without(events, func(e *line.Event) bool { return e.Effective > until })
		want := fold(nil, early)
		want.Version = int32(len(events))
		if diff := cmp.Diff(want, row); diff != "" {
			t.Fatalf("the row (-early events +until):\n%s", diff)
		}
		for i, e := range events {
			if late := e.Effective > until; late && outcomes[i] != line.NotYet && outcomes[i] != line.Voided || !late && outcomes[i] == line.NotYet {
				t.Fatalf("event %d, effective %d, until %d: outcome %d", e.Seq, e.Effective, until, outcomes[i])
			}
		}
	})
}

// Fold does not change its arguments.
func TestFoldDoesNotChangeTheEvents(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		before := slices.Clone(events)
		fold(base, events)
		if diff := cmp.Diff(before, events); diff != "" {
			t.Fatalf("the events (-before +after):\n%s", diff)
		}
	})
}

// Newest is not older than any other time of the row, so that it need not be stored
// where another column has the same time.
func TestNewestIsNotOlderThanOtherTimes(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		r := fold(base, events)
		if column := newestColumn(&r); r.Newest < column {
			t.Fatalf("newest is %d, but a column has %d", r.Newest, column)
		}
	})
}

func newestColumn(r *line.Row) line.Instant {
	return max(r.StateSince, r.Tenure, r.SIM, r.PortAt, r.BarAt, r.OrderAt, r.FlagAt, r.BlackAt)
}

// The random histories are the same on every run, so that a failure can be
// reproduced.
func TestRandomHistoriesAreDeterministic(t *testing.T) {
	t.Parallel()

	world := linemodel.World{Networks: 3, From: 0, To: 1000}
	history := func(seed uint64) (events []line.Event) {
		r := rand.New(rand.NewPCG(seed, 1))
		for seq := range int64(50) {
			events = append(events, linemodel.RandomEvent(r, world, seq+1, events))
		}
		return events
	}
	if diff := cmp.Diff(history(1), history(1)); diff != "" {
		t.Errorf("the same seed (-first +second):\n%s", diff)
	}
	if cmp.Equal(history(1), history(2)) {
		t.Error("two seeds give the same history")
	}
	kinds := map[line.Kind]bool{}
	for seed := range uint64(20) {
		for _, e := range history(seed) {
			kinds[e.Kind] = true
			if !e.Kind.MayReport(e.Authority) {
				t.Errorf("%s is reported by %s", e.Kind, e.Authority)
			}
			if e.Effective < world.From || e.Effective >= world.To {
				t.Errorf("%s takes effect at %d", e.Kind, e.Effective)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, line.Kinds()) {
		t.Errorf("the histories have the kinds %v", got)
	}
}
