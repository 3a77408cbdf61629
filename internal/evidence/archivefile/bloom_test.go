package archivefile_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
)

// A filter has every number that was added, and about one of a hundred others: of
// numbers as they really are, which is next to each other.
func TestErrorRate(t *testing.T) {
	t.Parallel()
	const first, step, asked = 2348030000000, 3, 200_000
	for _, size := range []int{1, 10, 100, 1000, 30_000} {
		numbers := make([]int64, size)
		for i := range numbers {
			numbers[i] = first + int64(i)*step
		}
		f := archivefile.NewFilter(numbers)
		for _, n := range numbers {
			if !f.MayHave(n) {
				t.Fatalf("a filter of %d numbers denies %d, which was added", size, n)
			}
		}
		wrong := 0
		for i := range int64(asked) {
			if f.MayHave(first + i*step + 1) { // never added
				wrong++
			}
		}
		rate := float64(wrong) / asked
		t.Logf("%6d numbers: %d bytes, error rate %.2f %%", size, len(f), 100*rate)
		if rate > 0.011 {
			t.Errorf("a filter of %d numbers has an error rate of %.2f %%", size, 100*rate)
		}
	}
}

// The same numbers give the same filter, and without numbers it has none.
func TestFilterIsThatOfASet(t *testing.T) {
	t.Parallel()
	numbers := []int64{2348031234567, 2348031234568, 2348031234569}
	repeated := append(slices.Clone(numbers), numbers...)
	slices.Reverse(repeated)
	if a, b := archivefile.NewFilter(numbers), archivefile.NewFilter(repeated); !bytes.Equal(a, b) {
		t.Errorf("%x and %x", a, b)
	}
	if f := archivefile.NewFilter(nil); len(f) != 0 || f.MayHave(0) || f.MayHave(numbers[0]) {
		t.Error("an empty filter has a number")
	}
}

// The bits are those that docs/reference/journal-record.md describes: files that exist
// must stay readable.
func TestBitsStay(t *testing.T) {
	t.Parallel()
	const want = "0008210084000042"
	if got := hex.EncodeToString(archivefile.NewFilter([]int64{2348031234567})); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
