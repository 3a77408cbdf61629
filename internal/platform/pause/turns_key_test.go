package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pause"
)

// Of one key only so many are in; those that wait leave with their context, and another key
// does not wait.
func TestKeysDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, one, other := &pause.TurnsByKey{Most: 2}, uuid.New(), uuid.New()
		enter := func(key uuid.UUID) (func(), error) {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			return b.Enter(ctx, key)
		}
		first, err := enter(one)
		if err != nil {
			t.Fatal(err)
		}
		second, err := enter(one)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := enter(one); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third got %v", err)
		}
		if leave, err := enter(other); err != nil {
			t.Errorf("another key got %v", err)
		} else {
			leave()
		}
		first()
		if leave, err := enter(one); err != nil {
			t.Errorf("after one has left, the next got %v", err)
		} else {
			leave()
		}
		second()
	})
}
