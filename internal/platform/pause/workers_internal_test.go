package pause

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

// A loop says once that its work fails and once that it works again, and works at once when woken.
func TestLoopReportsASeriesOfErrorsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 9*time.Second+time.Millisecond)
		defer stop()
		wake := make(chan struct{}, 1)
		var began []time.Duration
		failed, recovered, start := 0, 0, time.Now()
		Loop{Interval: 3 * time.Second, Limit: time.Second, Wake: wake, Failed: func(error) { failed++ }, Recovered: func() { recovered++ }}.Run(ctx, func(ctx context.Context) error {
			began = append(began, time.Since(start).Round(time.Second))
			switch len(began) {
			case 1:
				wake <- struct{}{}
				return errors.New("the first")
			case 2:
				<-ctx.Done() // the limit
				return ctx.Err()
			default:
				return nil
			}
		})
		if want := []time.Duration{0, 0, 3 * time.Second, 6 * time.Second, 9 * time.Second}; !slices.Equal(began, want) || failed != 1 || recovered != 1 {
			t.Errorf("began at %v, want %v; %d failures and %d recoveries reported", began, want, failed, recovered)
		}
	})
}

// Workers do at most so many pieces at once, in their order; one that is not finished rests before
// it is begun again, and lets those behind it go first.
func TestWorkersRestAndKeepTheirNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const rest = 5 * time.Second
		ids := []uuid.UUID{{1}, {2}, {3}}
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		var begun []byte
		var at []time.Duration
		running, start := 0, time.Now()
		w := &Workers{Most: 2, Retry: time.Minute, Do: func(ctx context.Context, id uuid.UUID) time.Duration {
			mu.Lock()
			begun, at = append(begun, id[0]), append(at, time.Since(start))
			if running++; running > 2 {
				t.Error("more than two run")
			}
			mu.Unlock()
			For(ctx, 900*time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			running--
			if len(begun) >= 4 {
				stop()
			}
			return rest
		}}
		w.Run(ctx, func(ctx context.Context) error {
			w.Start(ctx, ids)
			return nil
		}, func(err error) { t.Error(err) })
		slices.Sort(begun[:2])
		if !slices.Equal(begun[:3], []byte{1, 2, 3}) || at[2] != time.Second || at[3] != time.Second+rest || running != 0 {
			t.Errorf("begun %v at %v, %d still run", begun, at, running)
		}
	})
}
