package guard_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access/guard"
)

// What was entered in the old year does not count in the new one, although the year ends
// while a node reads what others have entered.
func TestYearThatEndsWhileItIsReadIsNotCountedOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, budget := b.entity(t), guard.Budget{Numbers: 1_000_000, Year: 1_000}
	b.clock.set(time.Date(2026, 12, 31, 23, 59, 50, 0, time.UTC))
	other := b.node(t, "two")
	if err := enter(t, b.Guard, bank, budget, 0, 800); err != nil {
		t.Fatal(err)
	}
	old, calls := other.Now, 0
	other.Now = func() time.Time { // the first look at the clock is in the old year
		if calls++; calls > 1 {
			return old().Add(time.Minute)
		}
		return old()
	}
	if err := other.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.forward(time.Hour)
	if err := enter(t, other, bank, budget, 5_000, 800); err != nil {
		t.Errorf("in the new year: %v", err)
	}
}
