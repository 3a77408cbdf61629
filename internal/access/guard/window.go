package guard

import (
	"sync/atomic"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// window holds the numbers that an organisation verified in the last 24 hours, not
// in the calendar day, so that a scan across midnight is seen. Numbers expire by
// the hour.
type window struct {
	numbers    table // number: the hour of its last request, and whether it is a miss
	blocks     [len(scales)]table
	count      int64 // numbers
	missed     int64 // of those
	dense      int64 // those in dense blocks of the smallest scale, which has too many blocks to count them each time
	unjudged   int64 // numbers added since it was last judged
	lastExpiry int64 // the hour of the last expiry
}

// The value of a number: an hour, which wraps around after 341 days, and a bit for
// a miss.
const (
	hourBits   = 13
	hours      = 1 << hourBits
	missBit    = 1
	numberBits = hourBits + 1 // and 50 for the number, which has at most 15 digits
	countBits  = 20           // the value of a block, and 44 for the block
)

// maxTracked is how many numbers of one organisation are kept, in 25 to 40 bytes
// each. Beyond it every request counts as one about a new number.
const maxTracked = 4_000_000

// population counts the numbers that several organisations verified in the last day.
type population struct{ count, missed atomic.Int64 }

func (p *population) add(count, missed int64) {
	p.count.Add(count)
	p.missed.Add(missed)
}

func newWindow() window {
	w := window{numbers: table{low: numberBits}}
	for i := range w.blocks {
		w.blocks[i].low = countBits
	}
	return w
}

// age returns how many hours before hour a number was last verified.
func age(word uint64, hour int64) int64 {
	return (hour - int64(word>>1)) & (hours - 1)
}

// lookup returns the word of a number and how many hours ago it was last verified.
// Word is nil if the number is not in the window.
func (w *window) lookup(n phone.Number, hour int64) (word *uint64, ago int64) {
	if word = w.numbers.find(keyOf(n)); word == nil {
		return nil, 0
	}
	return word, age(*word, hour)
}

// record stores that a number is verified in an hour, and reports whether it is new
// in the window. Word is its word if it is not new.
func (w *window) record(n phone.Number, word *uint64, hour int64) (isNew bool) {
	if word == nil {
		if w.count >= maxTracked {
			return false
		}
		word, isNew = w.numbers.insert(keyOf(n))
	}
	stamp := uint64(hour) & (hours - 1) << 1 //nolint:gosec // after 1970
	*word = *word&^((hours-1)<<1) | stamp
	if !isNew {
		return false
	}
	w.count++
	w.unjudged++
	for i := range scales {
		count, _ := w.blocks[i].insert(blockOf(n.Int(), i))
		*count++
		if i == smallest {
			w.dense += denseGain(int64(*count & (1<<countBits - 1)))
		}
	}
	return true
}

// denseGain returns how many more numbers are in dense blocks when a block of the
// smallest scale grows to count numbers.
func denseGain(count int64) int64 {
	switch floor := scales[smallest].floor; {
	case count == floor:
		return floor
	case count > floor:
		return 1
	}
	return 0
}

// setMiss stores whether a number is a miss, and returns the change of the number
// of misses.
func (w *window) setMiss(n phone.Number, miss bool) int64 {
	word := w.numbers.find(keyOf(n))
	if word == nil || (*word&missBit != 0) == miss {
		return 0
	}
	*word ^= missBit
	change := int64(-1)
	if miss {
		change = 1
	}
	w.missed += change
	return change
}

// expire removes, from one part, the numbers that were not verified for a day. It
// returns how many numbers and misses those were.
func (w *window) expire(i int, hour int64) (count, missed int64) {
	for _, word := range w.numbers.parts[i].words {
		if word == 0 || age(word, hour) < 24 {
			continue
		}
		count++
		missed += int64(word & missBit)
		w.removeFromBlocks(int64(word >> numberBits))
	}
	if count > 0 {
		w.numbers.filter(i, func(word uint64) bool { return age(word, hour) < 24 })
	}
	w.count -= count
	w.missed -= missed
	return count, missed
}

// removeFromBlocks subtracts a number from the counts of its blocks.
func (w *window) removeFromBlocks(number int64) {
	for i := range scales {
		count := w.blocks[i].find(blockOf(number, i))
		if count == nil || *count&(1<<countBits-1) == 0 {
			continue // it was never counted
		}
		if i == smallest {
			w.dense -= denseGain(int64(*count & (1<<countBits - 1)))
		}
		*count--
	}
}

// dropEmptyBlocks removes the blocks of one part that have become empty.
func (w *window) dropEmptyBlocks(i int) {
	for s := range w.blocks {
		w.blocks[s].filter(i, func(word uint64) bool { return word&(1<<countBits-1) != 0 })
	}
}

func keyOf(n phone.Number) uint64 { return uint64(n.Int()) } //nolint:gosec // not negative, and never 0

// blockOf returns the key of the block in which a number lies.
func blockOf(number int64, scale int) uint64 {
	return uint64(number/scales[scale].size) + 1 //nolint:gosec // not negative
}
