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
	"github.com/lineproof/lineproof/internal/linemodel"
)

// eachLife calls fn with the long random lives that the larger tests use, each
// the same every time. Times often meet: half of them are dates.
func eachLife(t *testing.T, fn func(r *rand.Rand, base *line.Baseline, events []line.Event) error) {
	t.Helper()
	world := linemodel.World{Networks: 3, From: 0, To: 20 * 86400}
	for life := range uint64(5000) {
		r := rand.New(rand.NewPCG(life, 1))
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
			t.Fatalf("life %d: %v", life, err)
		}
	}
}

// inAnyOrder reports where events make something else when they arrive as mixed.
func inAnyOrder(base *line.Baseline, events, mixed []line.Event, until line.Instant) error {
	row, outcomes := line.Fold(base, events, until)
	again, outcomesAgain := line.Fold(base, mixed, until)
	if diff := cmp.Diff(row, again); diff != "" {
		return fmt.Errorf("the row (-as told +mixed):\n%s", diff)
	}
	if diff := cmp.Diff(outcomesBySeq(events, outcomes), outcomesBySeq(mixed, outcomesAgain)); diff != "" {
		return fmt.Errorf("the outcomes (-as told +mixed):\n%s", diff)
	}
	return nil
}

// In whatever order events arrive, the row and what became of each are the same.
func TestArrivalOrderDoesNotMatter(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		mixed := rapid.Permutation(events).Draw(t, "arrival")
		if err := inAnyOrder(base, events, mixed, instant(t, "until")); err != nil {
			t.Fatal(err)
		}
	})
	eachLife(t, func(r *rand.Rand, base *line.Baseline, events []line.Event) error {
		mixed := slices.Clone(events)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		return inAnyOrder(base, events, mixed, always)
	})
}

// The row is what a model says that was written apart from this package; and the
// lives that are compared reach every state and every outcome.
func TestFoldAgreesWithTheModel(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		if diff := cmp.Diff(linemodel.Replay(base, events), fold(base, events)); diff != "" {
			t.Fatalf("the row (-model +fold):\n%s", diff)
		}
	})
	states, outcomes := map[line.State]int{}, map[line.Outcome]int{}
	eachLife(t, func(_ *rand.Rand, base *line.Baseline, events []line.Event) error {
		row, became := line.Fold(base, events, always)
		states[row.State]++
		for _, o := range became {
			outcomes[o]++
		}
		if diff := cmp.Diff(linemodel.Replay(base, events), row); diff != "" {
			return fmt.Errorf("the row (-model +fold):\n%s", diff)
		}
		return nil
	})
	for s := line.StateNone; s <= line.StateEnded; s++ {
		if states[s] < 50 {
			t.Errorf("only %d of the lives end %s", states[s], s)
		}
	}
	for o := range line.NotYet {
		if outcomes[o] < 50 {
			t.Errorf("only %d events have the outcome %d", outcomes[o], o)
		}
	}
}

// quickly tells events one by one and reports where the short way, where it says
// that it can, makes another row than all events do. It counts how often it could.
func quickly(base *line.Baseline, events []line.Event) (quick int, err error) {
	row := line.NoRow()
	if base != nil {
		row = line.FromBaseline(*base)
	}
	for n := range events {
		short, outcome, ok := row.Quick(&events[n])
		next, outcomes := line.Fold(base, events[:n+1], always)
		switch {
		case ok && (short != next || outcome != outcomes[n]):
			return 0, fmt.Errorf("event %d has outcome %d, by all events %d; the row (-all events +quick):\n%s",
				events[n].Seq, outcome, outcomes[n], cmp.Diff(next, short))
		case ok:
			quick++
		case short != row:
			return 0, fmt.Errorf("the short way gave up and changed the row:\n%s", cmp.Diff(row, short))
		}
		row = next
	}
	return quick, nil
}

// Where the short way says that it can, it makes the row that all events make;
// and it can for most of what is told in time.
func TestQuickAgreesWithFold(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		if _, err := quickly(anyBaseline(t), anyHistory(t)); err != nil {
			t.Fatal(err)
		}
	})
	quick, all := 0, 0
	eachLife(t, func(_ *rand.Rand, base *line.Baseline, events []line.Event) error {
		if _, err := quickly(base, events); err != nil {
			return err
		}
		slices.SortStableFunc(events, func(a, b line.Event) int { return int(a.Effective - b.Effective) })
		n, err := quickly(base, events)
		quick, all = quick+n, all+len(events)
		return err
	})
	if quick*3 < all {
		t.Errorf("the short way was open to %d events of %d", quick, all)
	}
}

// An event that is voided leaves the row as if it had never been told; only the
// version says that something was.
func TestVoidedEventNeverWas(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		target := anEvent(t, 100)
		with := append(slices.Clone(events), target, withdrawal(&target, 101))

		row, outcomes := line.Fold(base, with, always)
		never := fold(base, events)
		never.Version += 2
		if diff := cmp.Diff(never, row); diff != "" {
			t.Fatalf("the row (-never told +voided):\n%s", diff)
		}
		if got := outcomes[len(events)]; got != line.Withdrawn {
			t.Fatalf("the voided event has outcome %d", got)
		}
	})
}

// An operator that withdraws its only event about a number does not thereby
// claim the number.
func TestWithdrawalClaimsNothing(t *testing.T) {
	t.Parallel()

	assigned := event(line.Assign, 10)
	assigned.Seq = 1
	want := line.NoRow()
	want.Version = 2
	expect(t, fold(nil, []line.Event{assigned, withdrawal(&assigned, 2)}), want)
}

// What had taken effect by a moment is the fold of the events up to then.
func TestFoldUntilLeavesTheRestOut(t *testing.T) {
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
			if late := e.Effective > until; late && outcomes[i] != line.NotYet && outcomes[i] != line.Withdrawn || !late && outcomes[i] == line.NotYet {
				t.Fatalf("event %d, effective %d, until %d: outcome %d", e.Seq, e.Effective, until, outcomes[i])
			}
		}
	})
}

// Folding does not touch what it is given.
func TestFoldOnlyReads(t *testing.T) {
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

// The newest time that a row knows is not older than any other time of it, so
// that storage may leave it out where another shows it.
func TestNewestIsNewest(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		base, events := anyBaseline(t), anyHistory(t)
		r := fold(base, events)
		if shown := newestShown(&r); r.Newest < shown {
			t.Fatalf("newest is %d, and the row shows %d", r.Newest, shown)
		}
	})
}

func newestShown(r *line.Row) line.Instant {
	return max(r.StateSince, r.Tenure, r.SIM, r.PortAt, r.BarAt, r.OrderAt, r.FlagAt, r.BlackAt)
}

// The random lives are the same each time, so that a failure can be looked at.
func TestRandomLivesAreDeterministic(t *testing.T) {
	t.Parallel()

	world := linemodel.World{Networks: 3, From: 0, To: 1000}
	life := func(seed uint64) (events []line.Event) {
		r := rand.New(rand.NewPCG(seed, 1))
		for seq := range int64(50) {
			events = append(events, linemodel.RandomEvent(r, world, seq+1, events))
		}
		return events
	}
	if diff := cmp.Diff(life(1), life(1)); diff != "" {
		t.Errorf("the same seed (-once +again):\n%s", diff)
	}
	if cmp.Equal(life(1), life(2)) {
		t.Error("two seeds make one life")
	}
	kinds := map[line.Kind]bool{}
	for seed := range uint64(20) {
		for _, e := range life(seed) {
			kinds[e.Kind] = true
			if !e.Kind.MayTell(e.By) {
				t.Errorf("%s is told by %s", e.Kind, e.By)
			}
			if e.Effective < world.From || e.Effective >= world.To {
				t.Errorf("%s takes effect at %d", e.Kind, e.Effective)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, line.Kinds()) {
		t.Errorf("the lives have the kinds %v", got)
	}
}
