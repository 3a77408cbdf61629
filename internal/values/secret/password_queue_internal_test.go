package secret

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// arrivals lets callers enter a queue one after the other, of which none leaves by itself.
type arrivals struct {
	q        *queue
	admitted []string // in the order in which they got their slot
	refused  []string
}

func (a *arrivals) enter(ctx context.Context, name string, c Caller) {
	go func() {
		if a.q.enter(ctx, c) {
			a.admitted = append(a.admitted, name)
		} else {
			a.refused = append(a.refused, name)
		}
	}()
	synctest.Wait()
}

// leave lets so many callers leave, one after the other.
func (a *arrivals) leave(n int) {
	for range n {
		a.q.leave()
		synctest.Wait()
	}
}

// Known callers and strangers take turns, and networks within each: however many strangers wait, and however
// often one network calls, the next in another line has its turn.
func TestKnownCallersAndStrangersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &arrivals{q: newQueue(1, 8)}
		a.enter(t.Context(), "first", Caller{})
		for i := range 3 {
			a.enter(t.Context(), fmt.Sprintf("flood %d", i), Caller{Network: "flood"})
		}
		a.enter(t.Context(), "other", Caller{Network: "other"})
		a.enter(t.Context(), "known flood 0", Caller{Known: true, Network: "flood"})
		a.enter(t.Context(), "known flood 1", Caller{Known: true, Network: "flood"})
		a.enter(t.Context(), "known", Caller{Known: true, Network: "other"})
		a.leave(8)
		want := []string{"first", "known flood 0", "flood 0", "known", "other", "known flood 1", "flood 1", "flood 2"}
		if !slices.Equal(a.admitted, want) || len(a.refused) != 0 {
			t.Errorf("admitted %q, refused %q; want %q", a.admitted, a.refused, want)
		}
		if taken, waiting := a.q.counts(); taken != 0 || waiting != 0 {
			t.Errorf("%d slots are still taken, %d wait", taken, waiting)
		}
	})
}

// When all places are taken, whoever comes from another network than the flood has the place of the flood's last
// caller, and the flood itself gets no more. Known callers have places of their own.
func TestFullQueueSendsAwayTheLongestLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &arrivals{q: newQueue(1, 3)}
		a.enter(t.Context(), "first", Caller{})
		for i := range 5 {
			a.enter(t.Context(), fmt.Sprintf("flood %d", i), Caller{Network: "flood"})
		}
		a.enter(t.Context(), "other", Caller{Network: "other"})
		a.enter(t.Context(), "third", Caller{Network: "third"}) // all networks have one or two then
		a.enter(t.Context(), "known", Caller{Known: true})
		a.leave(5)
		if want := []string{"flood 3", "flood 4", "flood 2", "flood 1"}; !slices.Equal(a.refused, want) {
			t.Errorf("refused %q, want %q", a.refused, want)
		}
		if want := []string{"first", "known", "flood 0", "other", "third"}; !slices.Equal(a.admitted, want) {
			t.Errorf("admitted %q, want %q", a.admitted, want)
		}
	})
}

// A caller who stops waiting is in nobody's way, also in the moment in which it gets its slot.
func TestCallerWhoStopsWaitingLeavesTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &arrivals{q: newQueue(1, 3)}
		a.enter(t.Context(), "first", Caller{})
		ctx, stop := context.WithCancel(t.Context())
		a.enter(ctx, "gone", Caller{Network: "x"})
		a.enter(ctx, "gone, too", Caller{Network: "x"})
		a.enter(t.Context(), "second", Caller{Network: "y"})
		stop()
		synctest.Wait()
		a.leave(2)
		if !slices.Equal(a.admitted, []string{"first", "second"}) || len(a.refused) != 2 {
			t.Errorf("admitted %q, refused %q", a.admitted, a.refused)
		}
		late, cancel := context.WithCancel(t.Context())
		a.enter(t.Context(), "third", Caller{})
		a.enter(late, "fourth", Caller{})
		cancel()
		a.q.leave() // both happen before anybody runs
		synctest.Wait()
		if taken, waiting := a.q.counts(); waiting != 0 || taken > 1 {
			t.Errorf("%d slots are taken, %d wait", taken, waiting)
		}
	})
}
