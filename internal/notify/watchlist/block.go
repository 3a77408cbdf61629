package watchlist

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// perBlock is how many numbers a block has. It is stored; never change it. A change is
// matched with one row for each list that has its block.
const perBlock = 1000

// block is a set of the numbers of one block, by their rests.
type block [(perBlock + 63) / 64]uint64

// place returns the block of a number and its rest.
func place(n phone.Number) (key int64, rest int) { return n.Int() / perBlock, int(n.Int() % perBlock) }

func (b *block) add(rest int)    { b[rest/64] |= 1 << (rest % 64) }
func (b *block) remove(rest int) { b[rest/64] &^= 1 << (rest % 64) }

func (b *block) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// each calls fn with every rest, ascending.
func (b *block) each(fn func(rest int)) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			fn(i*64 + bits.TrailingZeros64(word))
		}
	}
}

// bitmapSize is the length of a stored set with a bit for each rest. A set that is stored
// as differences is shorter.
const bitmapSize = perBlock / 8

// encode returns the set as it is stored. If that is shorter than a bitmap, the first byte
// is how many rests it has, which PostgreSQL can read, and the following bits are the
// differences of each from the one before, less one, in a Rice code: what is above the lower
// bits as so many ones, a zero, and the lower bits. The code of 300 random rests is shorter
// than the bitmap, and that of ten takes ten bytes.
func (b *block) encode() []byte {
	count := b.count()
	if count == 0 {
		return nil
	}
	if count > math.MaxUint8 {
		return b.bitmap()
	}
	text := make([]byte, 1, bitmapSize)
	text[0] = byte(count) //nolint:gosec // at most MaxUint8
	lower, last := lowerBits(count), -1
	var full uint64 // bits that are not in the text yet, and how many
	waiting := 0
	put := func(value uint64, width int) {
		full = full<<width | value
		for waiting += width; waiting >= 8; waiting -= 8 {
			text = append(text, byte(full>>(waiting-8))) //nolint:gosec // the next eight bits
		}
	}
	b.each(func(rest int) {
		gap := rest - last - 1
		last = rest
		for range gap >> lower {
			put(1, 1)
		}
		put(uint64(gap&(1<<lower-1)), lower+1) //nolint:gosec // above 0
	})
	if waiting > 0 {
		put(0, 8-waiting)
	}
	if len(text) >= bitmapSize {
		return b.bitmap()
	}
	return text
}

// lowerBits returns how many bits of a difference are stored as they are: with a little less
// than the logarithm of the mean difference the code is shortest.
func lowerBits(count int) int { return bits.Len(uint(perBlock*7/10/count)) - 1 }

func (b *block) bitmap() []byte {
	text := make([]byte, bitmapSize)
	b.each(func(rest int) { text[rest/8] |= 1 << (rest % 8) })
	return text
}

// decode reads a stored set.
func decode(text []byte) (b block) {
	if len(text) == bitmapSize {
		for i, octet := range text {
			b[i/8] |= uint64(octet) << (i % 8 * 8)
		}
		return b
	}
	for rest := range differences(text) {
		b.add(rest)
	}
	return b
}

// contains reports whether a stored set has a rest, without reading all of it.
func contains(text []byte, rest int) bool {
	if len(text) == bitmapSize {
		return text[rest/8]&(1<<(rest%8)) != 0
	}
	for stored := range differences(text) {
		if stored >= rest {
			return stored == rest
		}
	}
	return false
}

// differences returns the rests of a set that is not stored as a bitmap, ascending.
func differences(text []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(text) < 2 || text[0] == 0 {
			return
		}
		lower, last := lowerBits(int(text[0])), -1
		next, left := text[1:], 0 // bits of ahead that are not read, from the highest on
		var ahead uint64
		for range text[0] {
			gap := 0
			for {
				for ; left <= 56 && len(next) > 0; left += 8 {
					ahead |= uint64(next[0]) << (56 - left)
					next = next[1:]
				}
				ones := min(bits.LeadingZeros64(^ahead), left)
				gap += ones << lower
				ahead, left = ahead<<ones, left-ones
				if left > lower { // the zero, and the lower bits
					break
				}
				if len(next) == 0 {
					return // it was cut
				}
			}
			gap += int(ahead << 1 >> (64 - lower)) //nolint:gosec // below 1,000
			ahead, left = ahead<<(lower+1), left-lower-1
			if last += gap + 1; last >= perBlock || !yield(last) {
				return
			}
		}
	}
}

// Digest identifies the members of a list, whatever way they came into it: the XOR of
// the hashes of its blocks, so that a change costs as much as it changes.
type Digest [sha256.Size]byte

// maxOffsets is up to how many rests the digest takes as two bytes each; more as a bitmap.
// The digest is part of the API, and how blocks are stored is not.
const maxOffsets = 62

// toggle adds a block to the digest, or takes it out again.
func (d *Digest) toggle(key int64, b *block) {
	n := b.count()
	if n == 0 {
		return
	}
	text := binary.BigEndian.AppendUint64(make([]byte, 0, 8+bitmapSize), uint64(key)) //nolint:gosec // above 0
	if n > maxOffsets {
		text = append(text, b.bitmap()...)
	} else {
		b.each(func(rest int) { text = binary.BigEndian.AppendUint16(text, uint16(rest)) }) //nolint:gosec // below perBlock
	}
	h := sha256.Sum256(text)
	for i := range d {
		d[i] ^= h[i]
	}
}
