package sketch

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
)

// Blocks say how much of each block of 10,000 numbers somebody has verified,
// without keeping the numbers. One number in eight is taken, by its hash,
// and sets one of the 64 bits of its block, so that a bit stands for some twenty
// numbers: how many are set says how many numbers were verified. A block takes about
// 27 bytes of memory, and a nation of 300 million numbers has 30,000 of them.
type Blocks struct {
	blocks []coveredBlock // by open addressing; the length is a power of two
	used   int
}

// coveredBlock is one block; its key is 0 if the place is free.
type coveredBlock struct{ key, bits uint64 }

// BlockSize is how many numbers a block has.
const BlockSize = 10_000

const (
	sampled     = 8  // one in so many numbers sets a bit,
	sampleShift = 40 // by these bits of its hash,
	bitShift    = 43 // and these say which
)

// coveredNumbers is how many numbers a block has by how many of its bits are set. A
// block with all bits set has some 2,500 or more.
var coveredNumbers = func() (table [65]int64) {
	for set := range table {
		free := max(float64(64-set), 0.5)
		table[set] = int64(sampled*64*math.Log(64/free) + 0.5)
	}
	return table
}()

// Add adds a number with its hash.
func (c *Blocks) Add(number, hash uint64) {
	if hash>>sampleShift%sampled == 0 {
		c.set(number/BlockSize+1, 1<<(hash>>bitShift%64))
	}
}

func (c *Blocks) set(key, mask uint64) {
	if (c.used+1)*4 > len(c.blocks)*3 {
		c.grow()
	}
	b := c.find(key)
	if b.key == 0 {
		b.key = key
		c.used++
	}
	b.bits |= mask
}

// find returns the place where a block is, or would be.
func (c *Blocks) find(key uint64) *coveredBlock {
	mask := uint64(len(c.blocks) - 1) //nolint:gosec // there is at least one
	for i := key * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		if b := &c.blocks[i]; b.key == 0 || b.key == key {
			return b
		}
	}
}

func (c *Blocks) grow() {
	old := c.blocks
	c.blocks = make([]coveredBlock, max(2*len(old), 16))
	for _, b := range old {
		if b.key != 0 {
			*c.find(b.key) = b
		}
	}
}

// Dense returns how many numbers are in blocks with at least so many. A block counts
// with at most 2,500, because a block with more looks the same.
func (c *Blocks) Dense(floor int64) (numbers int64) {
	for i := range c.blocks {
		if n := coveredNumbers[bits.OnesCount64(c.blocks[i].bits)]; n >= floor {
			numbers += n
		}
	}
	return numbers
}

// Encode writes the blocks in order: each as its difference from the one before, and
// its bits.
func (c *Blocks) Encode() []byte {
	all := make([]coveredBlock, 0, c.used)
	for _, b := range c.blocks {
		if b.key != 0 {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(x, y coveredBlock) int { return cmp.Compare(x.key, y.key) })
	text := make([]byte, 0, 10*len(all))
	before := uint64(0)
	for _, b := range all {
		text = binary.AppendUvarint(text, b.key-before)
		text = binary.LittleEndian.AppendUint64(text, b.bits)
		before = b.key
	}
	return text
}

var errDamaged = errors.New("sketch: the stored blocks are damaged")

// Merge adds stored blocks.
func (c *Blocks) Merge(text []byte) error {
	key := uint64(0)
	for len(text) > 0 {
		step, size := binary.Uvarint(text)
		if size <= 0 || step == 0 || len(text) < size+8 {
			return errDamaged
		}
		key += step
		c.set(key, binary.LittleEndian.Uint64(text[size:]))
		text = text[size+8:]
	}
	return nil
}
