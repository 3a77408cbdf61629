// This part of the package is a Bloom filter of numbers: a small file that says which numbers a
// large file may have. It never denies a number that was added, and takes about one of a
// hundred others for one that was.
//
// Filters are stored for years and read by other programs, so their form is fixed:
// docs/reference/journal-record.md describes every bit.

package archivefile

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// With 10 bits for each number, 7 hashes give the lowest error rate: 0.8 %.
const (
	bitsPerNumber = 10
	hashes        = 7
)

// Filter is the bits of a filter, eight to a byte, the lowest first, in a multiple of
// eight bytes. An empty filter has no number.
type Filter []byte

// NewFilter returns the filter of some numbers. The same set of numbers gives the same bytes,
// whatever the order and however often a number is repeated.
func NewFilter(numbers []int64) Filter {
	distinct := slices.Clone(numbers)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	f := make(Filter, (len(distinct)*bitsPerNumber+63)/64*8)
	for _, n := range distinct {
		for _, bit := range f.bits(n) {
			f[bit/8] |= 1 << (bit % 8)
		}
	}
	return f
}

// MayHave reports false only if the number was not added.
func (f Filter) MayHave(number int64) bool {
	if len(f) == 0 {
		return false
	}
	for _, bit := range f.bits(number) {
		if f[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// bits returns the places of a number. They are made of two hashes, which is as good as
// seven (Kirsch and Mitzenmacher, 2006). The step is odd, so that no two places are the
// same in a small filter.
func (f Filter) bits(number int64) (places [hashes]uint64) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(number))) //nolint:gosec // two's complement
	first, step := binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])|1
	for i := range places {
		places[i] = (first + uint64(i)*step) % uint64(len(f)*8)
	}
	return places
}
