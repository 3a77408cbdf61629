package verify

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// requestOf returns a pending request of an entity.
func requestOf(entity byte) *pending {
	return newPending(Request{Entity: uuid.UUID{entity}}, time.Time{})
}

// A caller that sends a thousand requests at once delays only itself: the single
// request of another caller is in the next batch.
func TestBurstOfOneCallerDoesNotStarveAnother(t *testing.T) {
	t.Parallel()
	var q queue
	for range 1000 {
		q.push(requestOf(1))
	}
	q.take(10)
	late := requestOf(2)
	q.push(late)
	found := false
	for _, w := range q.take(10) {
		found = found || w == late
	}
	if !found || q.size != 1000+1-20 {
		t.Errorf("the other caller's request is in the next batch: %v; %d are queued", found, q.size)
	}
}

// The longest lane loses its newest request to an entity with a shorter lane, but
// not to one whose lane would become as long.
func TestFullQueueEvictsFromTheLongestLane(t *testing.T) {
	t.Parallel()
	var q queue
	if q.evictFor(uuid.UUID{1}, 1) != nil {
		t.Error("an empty queue evicted a request")
	}
	for range 5 {
		q.push(requestOf(1))
	}
	last := requestOf(1)
	q.push(last)
	for range 4 {
		q.push(requestOf(2))
	}
	if q.evictFor(uuid.UUID{1}, 1) != nil {
		t.Error("the longest lane evicted its own request")
	}
	if q.evictFor(uuid.UUID{3}, 6) != nil {
		t.Error("six requests at once evicted one from a lane of six")
	}
	if got := q.evictFor(uuid.UUID{3}, 1); got != last || q.size != 9 {
		t.Errorf("evicted %v, want the newest request of the longest lane; %d are left", got, q.size)
	}
	if q.evictFor(uuid.UUID{2}, 1) != nil {
		t.Error("a fifth request evicted one from a lane of five")
	}
}

// For any order of pushing, taking, evicting and abandoning, every request comes
// out exactly once, in the order of its lane, and take never returns an abandoned
// request.
func TestQueueLosesNothingAndKeepsTheOrderOfEachLane(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var pushed []*pending              // in the order of pushing
		removed := make(map[*pending]bool) // taken or evicted
		remove := func(p *pending) {
			if removed[p] {
				t.Fatal("a request came out twice")
			}
			removed[p] = true
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"push", "push", "take", "evict", "abandon"}).Draw(t, "action") {
			case "push":
				p := requestOf(rapid.ByteRange(1, 4).Draw(t, "entity"))
				pushed = append(pushed, p)
				q.push(p)
			case "take":
				limit := rapid.IntRange(1, 7).Draw(t, "limit")
				batch := q.take(limit)
				if len(batch) > limit {
					t.Fatalf("%d taken, limit %d", len(batch), limit)
				}
				for _, p := range batch {
					if p.abandoned {
						t.Fatal("an abandoned request was taken")
					}
					for _, earlier := range pushed {
						if earlier == p {
							break
						}
						if earlier.request.Entity == p.request.Entity && !removed[earlier] && !earlier.abandoned {
							t.Fatal("a later request of a lane came out first")
						}
					}
					remove(p)
				}
			case "evict":
				if p := q.evictFor(uuid.UUID{rapid.ByteRange(1, 5).Draw(t, "for")}, 1); p != nil {
					remove(p)
				}
			case "abandon":
				if len(pushed) > 0 {
					rapid.SampledFrom(pushed).Draw(t, "request").abandoned = true
				}
			}
		}
		for _, p := range q.take(1000) {
			remove(p)
		}
		for _, p := range pushed {
			if !removed[p] && !p.abandoned {
				t.Fatal("a request was lost")
			}
		}
		if q.size != 0 || len(q.lanes) != 0 || len(q.order) != 0 {
			t.Fatalf("an empty queue has %d requests, %d lanes, %d lanes in order", q.size, len(q.lanes), len(q.order))
		}
	})
}

// A burst may fill the queue up to MaxQueue. After half a timeout of congestion
// only overloadLimit requests may wait; once the queue was short again, so may a
// burst.
func TestQueueLimitIsLowerUnderOverload(t *testing.T) {
	t.Parallel()
	v := &Verifier{MaxQueue: 64, Timeout: time.Minute, MaxInFlight: 1}
	enqueue := func() error { return v.enqueue(t.Context(), requestOf(1)) }
	v.inFlight, v.congestion.lastUncongested = 1, time.Now() // as if a batch were on its way, so that none is started and the queue stays
	for range 10 {
		if err := enqueue(); err != nil {
			t.Fatalf("in a burst: %v", err)
		}
	}
	v.congestion.lastUncongested = time.Now().Add(-v.Timeout)
	if err := enqueue(); !errors.Is(err, ErrBusy) {
		t.Errorf("ten queued, congested for a whole timeout: %v, want ErrBusy", err)
	}
	v.queue.take(7)
	if err := enqueue(); err != nil {
		t.Errorf("three queued: %v", err)
	}
	if err := enqueue(); !errors.Is(err, ErrBusy) {
		t.Errorf("four queued: %v, want ErrBusy", err)
	}
	v.congestion.lastUncongested = time.Now()
	if err := enqueue(); err != nil {
		t.Errorf("not congested a moment ago: %v", err)
	}
}
