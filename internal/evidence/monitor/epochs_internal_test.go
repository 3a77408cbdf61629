package monitor

import (
	"math/rand/v2"
	"testing"
)

// In whatever order numbers come, each is new once.
func TestEveryNumberIsNewOnce(t *testing.T) {
	t.Parallel()
	e, seen := epochs{}, map[int64]bool{}
	for range 20_000 {
		n := rand.Int64N(300)
		if e.add(7, n) == seen[n] {
			t.Fatalf("%d: seen before is %v; the runs are %v", n, seen[n], e[7])
		}
		seen[n] = true
		for i, r := range e[7] {
			if r.From >= r.To || i > 0 && e[7][i-1].To >= r.From {
				t.Fatalf("the runs are %v", e[7])
			}
		}
		if len(seen) == 300 {
			if len(e[7]) != 1 {
				t.Fatalf("of all numbers there are the runs %v", e[7])
			}
			e, seen = epochs{}, map[int64]bool{}
		}
	}
}
