package verify

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func ask(entity byte) *waiting {
	return &waiting{question: Question{Entity: uuid.UUID{entity}}, done: make(chan struct{})}
}

// A caller who asks a thousand questions at once makes nobody wait but itself:
// the one question of another is in the very next batch.
func TestBurstOfOneCallerDoesNotStarveAnother(t *testing.T) {
	t.Parallel()
	var q queue
	for range 1000 {
		q.push(ask(1))
	}
	q.take(10)
	late := ask(2)
	q.push(late)
	found := false
	for _, w := range q.take(10) {
		found = found || w == late
	}
	if !found || q.size != 1000+1-20 {
		t.Errorf("the other caller's question is in the next batch: %v; %d wait", found, q.size)
	}
}

// When the queue is full, whoever has the most in it gives way to whoever has
// less, and nobody gives way to an equal.
func TestLongestLaneGivesWay(t *testing.T) {
	t.Parallel()
	var q queue
	if q.yield(uuid.UUID{1}, 1) != nil {
		t.Error("an empty queue gives something up")
	}
	for range 5 {
		q.push(ask(1))
	}
	last := ask(1)
	q.push(last)
	for range 4 {
		q.push(ask(2))
	}
	if q.yield(uuid.UUID{1}, 1) != nil {
		t.Error("the longest lane displaces itself")
	}
	if q.yield(uuid.UUID{3}, 6) != nil {
		t.Error("six questions at once displace a lane of six")
	}
	if got := q.yield(uuid.UUID{3}, 1); got != last || q.size != 9 {
		t.Errorf("yielded %v, want the last question of the longest lane; %d are left", got, q.size)
	}
	if q.yield(uuid.UUID{2}, 1) != nil {
		t.Error("a lane of five gives way to a fifth question")
	}
}

// Whatever is pushed, taken, given up and left in whatever order: every question
// comes out exactly once, in the order of its own lane, and one that was left
// never comes out of take.
func TestQueueLosesNothingAndKeepsTheOrderOfEachLane(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var waits []*waiting            // in the order of pushing
		gone := make(map[*waiting]bool) // taken, given up, or left and skipped
		out := func(w *waiting) {
			if gone[w] {
				t.Fatal("a question came out twice")
			}
			gone[w] = true
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"push", "push", "take", "yield", "leave"}).Draw(t, "what") {
			case "push":
				w := ask(rapid.ByteRange(1, 4).Draw(t, "entity"))
				waits = append(waits, w)
				q.push(w)
			case "take":
				most := rapid.IntRange(1, 7).Draw(t, "most")
				batch := q.take(most)
				if len(batch) > most {
					t.Fatalf("%d taken, %d at most", len(batch), most)
				}
				for _, w := range batch {
					if w.left {
						t.Fatal("a question whose caller left is answered")
					}
					for _, earlier := range waits {
						if earlier == w {
							break
						}
						if earlier.question.Entity == w.question.Entity && !gone[earlier] && !earlier.left {
							t.Fatal("a later question of a lane came out first")
						}
					}
					out(w)
				}
			case "yield":
				if w := q.yield(uuid.UUID{rapid.ByteRange(1, 5).Draw(t, "to")}, 1); w != nil {
					out(w)
				}
			case "leave":
				if len(waits) > 0 {
					rapid.SampledFrom(waits).Draw(t, "who").left = true
				}
			}
		}
		for _, w := range q.take(1000) {
			out(w)
		}
		for _, w := range waits {
			if !gone[w] && !w.left {
				t.Fatal("a question was lost")
			}
		}
		if q.size != 0 || len(q.lanes) != 0 || len(q.turns) != 0 {
			t.Fatalf("an empty queue has %d questions, %d lanes, %d turns", q.size, len(q.lanes), len(q.turns))
		}
	})
}

// A burst may fill the queue. Where many have waited for every commit of late,
// only few may; and as soon as few wait again, a burst is welcome again.
func TestQueueIsShortWhileMoreIsAskedThanCanBeAnswered(t *testing.T) {
	t.Parallel()
	v := &Verifier{Queue: 64, Patience: time.Minute, Flushes: 1}
	one := func() error { return v.join(t.Context(), ask(1)) }
	v.flights, v.calm = 1, time.Now() // a commit is under way, so nobody takes them
	for range 10 {
		if err := one(); err != nil {
			t.Fatalf("in a burst: %v", err)
		}
	}
	v.calm = time.Now().Add(-v.Patience)
	if err := one(); !errors.Is(err, ErrBusy) {
		t.Errorf("where ten have waited for long: %v, want ErrBusy", err)
	}
	v.queue.take(7)
	if err := one(); err != nil {
		t.Errorf("where three wait: %v", err)
	}
	if err := one(); !errors.Is(err, ErrBusy) {
		t.Errorf("where four wait: %v, want ErrBusy", err)
	}
	v.calm = time.Now()
	if err := one(); err != nil {
		t.Errorf("where few waited a moment ago: %v", err)
	}
}
