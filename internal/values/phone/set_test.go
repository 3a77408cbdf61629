package phone_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// A Set contains exactly the numbers that were added, in any order and at any
// distance from each other.
func TestSetHasWhatWasAdded(t *testing.T) {
	t.Parallel()
	const page = 65536
	rapid.Check(t, func(t *rapid.T) {
		set, want := phone.NewSet(), map[int64]bool{}
		// Numbers that meet, that lie side by side, and on both sides of a page's edge.
		near := rapid.Int64Range(2348030000000/page, 2348030000000/page+3)
		keys := rapid.OneOf(
			rapid.Int64Range(2348030000000, 2348030000080),
			rapid.Custom(func(t *rapid.T) int64 { return near.Draw(t, "page")*page + rapid.Int64Range(-2, 2).Draw(t, "edge") }),
			rapid.Int64Range(1_000_000, 999_999_999_999_999),
		)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			key := keys.Draw(t, "number")
			n, ok := phone.FromInt(key)
			if !ok {
				t.Fatalf("%d is no number", key)
			}
			if rapid.Bool().Draw(t, "add") {
				if fresh := set.Add(n); fresh == want[key] {
					t.Fatalf("adding %d says new: %v", key, fresh)
				}
				want[key] = true
			} else if has := set.Has(n); has != want[key] {
				t.Fatalf("%d is there: %v", key, has)
			}
		}
		for key := range want {
			for _, k := range []int64{key - 1, key, key + 1, key + page, key - page, key + 64} {
				if n, ok := phone.FromInt(k); ok && set.Has(n) != want[k] {
					t.Fatalf("%d is there: %v", k, !want[k])
				}
			}
		}
	})
}
