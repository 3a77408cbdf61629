package guard

import (
	"math/rand/v2"
	"testing"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// asked is what a plain model remembers of a number.
type asked struct {
	hour int64
	miss bool
}

// Whatever is verified, recorded and expired, the window has the same figures
// as a plain map that is counted from scratch.
func TestWindowCountsAsAPlainModelDoes(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	w, model := newWindow(), make(map[int64]asked)
	hour := int64(495_000)
	for round := range 200 {
		centre := 234_803_000_0000 + rng.Int64N(4)*1_000_000
		spread := int64(1) << (4 + rng.IntN(18))
		for range 200 {
			value := centre + rng.Int64N(spread)
			n, _ := phone.FromInt(value)
			word, ago := w.lookup(n, hour)
			was, known := model[value]
			if known != (word != nil) || known && ago != hour-was.hour {
				t.Fatalf("round %d: known %t and %d hours ago; want %t and %d", round, word != nil, ago, known, hour-was.hour)
			}
			if isNew := w.record(n, word, hour); isNew == known {
				t.Fatalf("round %d: new is %t", round, isNew)
			}
			miss := rng.IntN(3) == 0
			w.setMiss(n, miss)
			model[value] = asked{hour, miss}
		}
		if rng.IntN(3) == 0 {
			hour += rng.Int64N(20)
			for i := range parts {
				w.expire(i, hour)
			}
			for i := range parts {
				w.dropEmptyBlocks(i)
			}
			for value, a := range model {
				if hour-a.hour >= 24 {
					delete(model, value)
				}
			}
		}
		compare(t, round, &w, model)
	}
}

// compare counts everything from scratch.
func compare(t *testing.T, round int, w *window, model map[int64]asked) {
	t.Helper()
	var missed int64
	for _, a := range model {
		if a.miss {
			missed++
		}
	}
	if w.count != int64(len(model)) || w.missed != missed {
		t.Fatalf("round %d: %d numbers and %d misses, want %d and %d", round, w.count, w.missed, len(model), missed)
	}
	for i, s := range scales {
		blocks := make(map[int64]int64)
		for value := range model {
			blocks[value/s.size]++
		}
		floor := s.floor
		if s.fair > 0 {
			floor = max(floor, w.count/s.fair)
		}
		var dense int64
		for _, n := range blocks {
			if n >= floor {
				dense += n
			}
		}
		if got := w.denseAt(i); got != dense {
			t.Fatalf("round %d: %d numbers in dense blocks of %d, want %d", round, got, s.size, dense)
		}
		if i == smallest && w.dense != dense {
			t.Fatalf("round %d: %d numbers in dense blocks of %d as counted on the way, want %d", round, w.dense, s.size, dense)
		}
		held := 0
		for p := range w.blocks[i].parts {
			held += w.blocks[i].parts[p].used
		}
		if held < len(blocks) {
			t.Fatalf("round %d: %d blocks of %d are held, and there are %d", round, held, s.size, len(blocks))
		}
	}
}

// When all numbers have expired, the memory is released too.
func TestEmptyWindowTakesNoMemory(t *testing.T) {
	t.Parallel()
	w := newWindow()
	const hour = 495_000
	for i := range int64(100_000) {
		n, _ := phone.FromInt(234_803_000_0000 + i*37)
		w.record(n, nil, hour)
	}
	for i := range parts {
		w.expire(i, hour+24)
	}
	for i := range parts {
		w.dropEmptyBlocks(i)
	}
	all := append(w.blocks[:], w.numbers)
	for i := range all {
		for p := range all[i].parts {
			if n := len(all[i].parts[p].words); n > 0 {
				t.Fatalf("table %d still has %d words in part %d", i, n, p)
			}
		}
	}
	if w.count != 0 || w.dense != 0 {
		t.Errorf("%d numbers, %d dense", w.count, w.dense)
	}
}

// An organisation without a budget cannot fill the memory of the node.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	w := newWindow()
	w.count = maxTracked
	n, _ := phone.FromInt(234_803_000_0000)
	if w.record(n, nil, 495_000) || w.count != maxTracked {
		t.Error("a number more than the most was remembered")
	}
}
