package pause

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// All imports together work at most half of the time, and each gets its turn.
func TestTurnsAreSharedAndPaused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const workers, work, span = 3, 10 * time.Millisecond, 6 * time.Second
		ctx, stop := context.WithTimeout(t.Context(), span)
		defer stop()
		turns, counts := NewTurns(1), make([]int, workers)
		for i := range workers {
			go func() {
				for turns.Do(ctx, 0, func() error { For(t.Context(), work); return nil }) == nil {
					counts[i]++
				}
			}()
		}
		<-ctx.Done()
		synctest.Wait()
		total := 0
		for i, n := range counts {
			total += n
			if want := int(span / (2 * work) / workers); n < want-1 || n > want+1 {
				t.Errorf("worker %d had %d turns, want %d", i, n, want)
			}
		}
		if busy := time.Duration(total) * work; busy > span/2+work {
			t.Errorf("worked %v of %v", busy, span)
		}
		For(t.Context(), time.Second) // the pause of the last turn ends
	})
}

// The pause is a share of the time that the work took.
func TestPauseIsAShareOfTheWork(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pause float64
		want  time.Duration
	}{{1, 20 * time.Millisecond}, {0.5, 15 * time.Millisecond}, {0, 10 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			turns, started := NewTurns(tc.pause), time.Now()
			for _, work := range []time.Duration{10 * time.Millisecond, 0} {
				if err := turns.Do(t.Context(), 0, func() error { For(t.Context(), work); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if got := time.Since(started); got != tc.want {
				t.Errorf("with a pause of %v the second turn began after %v, want %v", tc.pause, got, tc.want)
			}
			synctest.Wait()
		})
	}
}

// Work outside a turn, such as reading, is charged with its pause, up to a limit.
func TestTurnsChargeWorkOutside(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]time.Duration{{0, 0}, {50 * time.Millisecond, 100 * time.Millisecond}, {time.Hour, 2 * maxCharged}} {
		outside, want := tc[0], tc[1]
		synctest.Test(t, func(t *testing.T) {
			turns, nothing := NewTurns(1), func() error { return nil }
			if err := turns.Do(t.Context(), outside, nothing); err != nil {
				t.Fatal(err)
			}
			started := time.Now()
			if err := turns.Do(t.Context(), 0, nothing); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(started); got != want {
				t.Errorf("after %v outside, the next turn began after %v, want %v", outside, got, want)
			}
			synctest.Wait()
		})
	}
}

// A turn that takes too long does not keep the others waiting, and the pause after it
// is that of its own import alone.
func TestTurnsDoNotWaitForSlowWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, started := NewTurns(1), time.Now()
		go func() {
			if err := turns.Do(t.Context(), 0, func() error { For(t.Context(), time.Minute); return nil }); err != nil {
				t.Error(err)
			}
			if took := time.Since(started); took != 2*time.Minute {
				t.Errorf("a turn of a minute and its pause took %v", took)
			}
		}()
		synctest.Wait()
		for i := range 100 {
			if err := turns.Do(t.Context(), 0, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(started); took != maxTurn {
				t.Fatalf("turn %d began after %v", i, took)
			}
		}
		For(t.Context(), 3*time.Minute)
	})
}

// A worker that waits for its turn ends with its context, and without turns nothing
// waits.
func TestTurnsEndWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		failure := errors.New("a failure")
		if err := turns.Do(t.Context(), 0, func() error { For(t.Context(), maxTurn/2); return failure }); !errors.Is(err, failure) {
			t.Errorf("the error is %v", err)
		}
		ctx, stop := context.WithTimeout(t.Context(), maxTurn/4)
		defer stop()
		if err := turns.Do(ctx, 0, func() error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a turn was taken during the pause: %v", err)
		}
		started := time.Now()
		for range 100 {
			if err := (*Turns)(nil).Do(t.Context(), time.Hour, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(started); took != 0 {
			t.Errorf("without turns it waited %v", took)
		}
		For(t.Context(), time.Minute) // the pause of the first turn ends
	})
}
