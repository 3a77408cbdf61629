package watchlist

import (
	"math/rand/v2"
	"testing"
)

// A block that was stored is read as it was, whatever it has, and is never longer than a
// bitmap.
func TestBlocksAreReadAsTheyWereStored(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	check := func(b block) int {
		text := b.encode()
		if decode(text) != b {
			t.Fatalf("%v is stored as %x", b, text)
		}
		if len(text) > bitmapSize || len(text) == 1 || len(text) < bitmapSize && len(text) > 0 && int(text[0]) != b.count() {
			t.Fatalf("%d rests are stored as %x", b.count(), text)
		}
		for rest := range perBlock {
			if contains(text, rest) != (b[rest/64]>>(rest%64)&1 == 1) {
				t.Fatalf("%d in %x", rest, text)
			}
		}
		return len(text)
	}
	for rest := range perBlock {
		var one, all block
		one.add(rest)
		if size := check(one); size != 3 {
			t.Errorf("one number takes %d bytes", size)
		}
		for i := range rest + 1 {
			all.add(i)
		}
		check(all)
	}
	for range 20_000 {
		var b block
		count := random.IntN(400)
		for range count {
			b.add(random.IntN(perBlock))
		}
		if size := check(b); size > 3+count*11/8 {
			t.Fatalf("%d numbers take %d bytes", count, size)
		}
	}
	check(block{})
	for range 100_000 { // what is stored may be damaged
		text := make([]byte, random.IntN(bitmapSize+1))
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		decode(text)
	}
}
