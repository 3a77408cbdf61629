package sketch_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lineproof/lineproof/internal/access/guard/sketch"
)

// A counter is within 2.5 % of the truth, three times its standard error, and
// exact for small counts. Numbers that are added again, or were counted by another node,
// count once.
func TestCounterCountsDifferentNumbers(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	key := sketch.Key{rng.Uint64(), rng.Uint64()}
	for _, n := range []int64{0, 1, 20, 100, 1_000, 30_000, 50_000, 80_000, 1_000_000, 5_000_000} {
		var all, one, two sketch.Counter
		for i := range n {
			h := key.Hash(uint64(234_803_000_0000 + i))
			all.Add(h, 14)
			if i%3 > 0 {
				one.Add(h, 14)
			}
			if i%3 < 2 {
				two.Add(h, 14)
			}
		}
		if off := math.Abs(float64(all.Count() - n)); off > max(1, 0.025*float64(n)) {
			t.Errorf("%d numbers count as %d", n, all.Count())
		}
		one.Merge(two.Registers(), 14)
		if one.Count() != all.Count() {
			t.Errorf("%d numbers of two nodes count as %d, and as %d on one", n, one.Count(), all.Count())
		}
		before := all.Count()
		for i := range min(n, 10_000) {
			all.Add(key.Hash(uint64(234_803_000_0000+i)), 14)
		}
		if all.Count() != before {
			t.Errorf("the same numbers again change %d to %d", before, all.Count())
		}
	}
}

// Blocks tell those that were read out among those that were met by chance, with
// how much of them, and is the same after it was stored.
func TestBlocksTellWhichAreDense(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	key := sketch.Key{rng.Uint64(), rng.Uint64()}
	const floor = 640
	var c sketch.Blocks
	add := func(n int64) { c.Add(uint64(n), key.Hash(uint64(n))) }
	for range 2_000_000 { // an honest bank: a hundred numbers in each block
		add(234_803_000_0000 + rng.Int64N(200_000_000))
	}
	if n := c.Dense(floor); n != 0 {
		t.Errorf("%d numbers of an honest bank are in dense blocks", n)
	}
	for block := range int64(10) {
		for range 1_500 {
			add(234_903_000_0000 + block*1_000_000 + rng.Int64N(10_000))
		}
	}
	dense := c.Dense(floor)
	if dense < 11_000 || dense > 18_000 { // 1,500 draws meet some 1,393 numbers in a block
		t.Errorf("ten blocks with some 1,400 numbers each count as %d", dense)
	}
	var again sketch.Blocks
	if err := again.Merge(c.Encode()); err != nil || again.Dense(1) != c.Dense(1) || again.Dense(floor) != dense {
		t.Errorf("after storing: %d numbers and %d dense ones, %v", again.Dense(1), again.Dense(floor), err)
	}
	for _, text := range []string{"\x01", "\x00abcdefgh", "\x01abcdefg"} {
		if again.Merge([]byte(text)) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
