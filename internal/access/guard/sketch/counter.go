// Package sketch counts different numbers in little memory, without keeping them: how
// many there are, and how many of each block of 10,000.
package sketch

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/dchest/siphash"
)

// Counter estimates how many different numbers were added to it, without keeping
// them (HyperLogLog, with the estimator of Ertl, "New cardinality estimation
// algorithms for HyperLogLog sketches", 2017). With 2^p registers of a byte the
// standard error is 1.04 / 2^(p/2), and small counts are nearly exact. Adding a
// number again changes nothing, so nodes may add the same number.
type Counter struct {
	registers []uint8 // nil while it is empty
	zeros     int     // registers that are 0
	sum       float64 // of 2^-r over the other registers
	count     int64   // the estimate
}

// rankBits are those of a hash that give the value of a register; the others select one.
const rankBits = 50

// Count returns the estimate.
func (c *Counter) Count() int64 { return c.count }

// Registers returns a copy of the registers, to be stored; it is empty if nothing was
// added.
func (c *Counter) Registers() []byte { return append([]byte{}, c.registers...) }

// Add adds the number with a hash to a counter with 2^p registers; p is at most 14, and
// always the same.
func (c *Counter) Add(hash uint64, p uint) {
	if c.registers == nil {
		c.registers, c.zeros = make([]uint8, 1<<p), 1<<p
	}
	r := &c.registers[hash>>(64-p)]
	rank := uint8(bits.TrailingZeros64(hash|1<<rankBits)) + 1 //nolint:gosec // at most 51
	old := *r
	if rank <= old {
		return
	}
	*r = rank
	if old == 0 {
		c.zeros--
	} else {
		c.sum -= math.Ldexp(1, -int(old))
	}
	c.sum += math.Ldexp(1, -int(rank))
	c.count = c.estimate()
}

// Merge adds the numbers of a stored counter with 2^p registers; one of another size
// is ignored.
func (c *Counter) Merge(registers []byte, p uint) {
	if len(registers) != 1<<p {
		return
	}
	if c.registers == nil {
		c.registers = make([]uint8, 1<<p)
	}
	c.zeros, c.sum = 0, 0
	for i, r := range registers {
		c.registers[i] = max(c.registers[i], min(r, rankBits+1))
		if c.registers[i] == 0 {
			c.zeros++
		} else {
			c.sum += math.Ldexp(1, -int(c.registers[i]))
		}
	}
	c.count = c.estimate()
}

func (c *Counter) estimate() int64 {
	m := float64(len(c.registers))
	if c.zeros == len(c.registers) {
		return 0
	}
	z := c.sum + m*sigma(float64(c.zeros)/m)
	return int64(m*m/(2*math.Ln2*z) + 0.5)
}

// sigma corrects the estimate for registers that are 0, of which there is a share of
// x < 1.
func sigma(x float64) float64 {
	sum, weight := x, 1.0
	for {
		x *= x
		before := sum
		sum += x * weight
		weight *= 2
		if sum == before {
			return sum
		}
	}
}

// Key makes hashes that nobody can foresee who does not know it. It is stored,
// because all nodes need the same one for as long as a count is kept. With a hash that
// is known, one could choose numbers that are not counted.
type Key [2]uint64

// Hash returns the hash of a number.
func (k *Key) Hash(number uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], number)
	return siphash.Hash(k[0], k[1], b[:])
}
