package impact

import (
	"testing"
	"time"
)

// A change is looked at when it has been visible for long enough, and not before.
func TestChangesSettle(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC)
	second := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
	var seen horizons
	if n := seen.before(second(9)); n != 0 {
		t.Errorf("before anything was seen: %d", n)
	}
	for i, n := range []int64{5, 5, 7, 7, 12} { // one a second
		seen.add(n, second(i))
	}
	for _, at := range []struct {
		second int
		want   int64
	}{{-1, 0}, {0, 5}, {1, 5}, {2, 7}, {3, 7}, {4, 12}, {60, 12}} {
		if n := seen.before(second(at.second)); n != at.want {
			t.Errorf("seen before second %d: %d, want %d", at.second, n, at.want)
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d horizons are remembered", len(seen))
	}
}
