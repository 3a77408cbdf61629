package watchlist

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/lineproof/lineproof/internal/phone"
)

// perBlock is how many numbers a block has. It is stored; never change it. Blocks of
// this size need 4.1 bytes for each member of a nation's lists, and a change is matched
// with one row for each list that has its block.
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

// Up to maxOffsets members are stored as two bytes each; more as a bitmap.
const (
	maxOffsets = 62
	bitmapSize = perBlock / 8
)

// encode returns the set as it is stored.
func (b *block) encode() []byte {
	if n := b.count(); n <= maxOffsets {
		text := make([]byte, 0, 2*n)
		b.each(func(rest int) { text = binary.BigEndian.AppendUint16(text, uint16(rest)) }) //nolint:gosec // below perBlock
		return text
	}
	text := make([]byte, bitmapSize)
	b.each(func(rest int) { text[rest/8] |= 1 << (rest % 8) })
	return text
}

// decode reads a stored set.
func decode(text []byte) (b block) {
	if len(text) != bitmapSize {
		for i := 0; i+1 < len(text); i += 2 {
			if rest := int(binary.BigEndian.Uint16(text[i:])); rest < perBlock {
				b.add(rest)
			}
		}
		return b
	}
	for i, octet := range text {
		b[i/8] |= uint64(octet) << (i % 8 * 8)
	}
	return b
}

// contains reports whether a stored set has a rest, without reading all of it.
func contains(text []byte, rest int) bool {
	if len(text) == bitmapSize {
		return text[rest/8]&(1<<(rest%8)) != 0
	}
	low, high := 0, len(text)/2
	for low < high {
		middle := (low + high) / 2
		switch v := int(binary.BigEndian.Uint16(text[2*middle:])); {
		case v == rest:
			return true
		case v < rest:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}

// Digest identifies the members of a list, whatever way they came into it: the XOR of
// the hashes of its blocks, so that a change costs as much as it changes.
type Digest [sha256.Size]byte

// toggle adds a stored block to the digest, or takes it out again.
func (d *Digest) toggle(key int64, text []byte) {
	if len(text) == 0 {
		return
	}
	h := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(key)), text...)) //nolint:gosec // above 0
	for i := range d {
		d[i] ^= h[i]
	}
}
