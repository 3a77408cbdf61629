package archivefile_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
)

// Results are passed on in the order of their tasks, one at a time, however long each
// task takes.
func TestResultsAreInOrder(t *testing.T) {
	t.Parallel()
	next, inside := 0, false
	results, _ := archivefile.NewInOrder(t.Context(), func(n int) error {
		if n != next || inside {
			t.Errorf("result %d came in place of %d", n, next)
		}
		inside = true
		next++
		inside = false
		return nil
	})
	for i := range 200 {
		results.Run(func() (int, error) {
			<-time.After(rand.N(time.Millisecond))
			return i, nil
		})
	}
	if err := results.Wait(); err != nil || next != 200 {
		t.Errorf("%d results, %v", next, err)
	}
}

// The first error of a task, or of what takes the results, ends the others.
func TestFirstErrorEndsAll(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	for _, inTask := range []bool{true, false} {
		results, ctx := archivefile.NewInOrder(t.Context(), func(n int) error {
			if n == 3 && !inTask {
				return wrong
			}
			return nil
		})
		for i := range 20 {
			results.Run(func() (int, error) {
				if i == 3 && inTask {
					return 0, wrong
				}
				if i > 3 {
					<-ctx.Done()
				}
				return i, ctx.Err()
			})
		}
		if err := results.Wait(); !errors.Is(err, wrong) {
			t.Errorf("in a task %v: %v", inTask, err)
		}
	}
}
