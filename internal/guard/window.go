package guard

import (
	"sync/atomic"

	"github.com/lineproof/lineproof/internal/phone"
)

// window is what an organisation asked about in the last day: not the day of
// the calendar, so that midnight hides nothing. It forgets by the hour.
type window struct {
	numbers table // number: hour when it was last asked about, and whether it is a miss
	blocks  [len(scales)]table
	count   int64 // numbers
	missed  int64 // of those
	dense   int64 // those in dense blocks of the smallest scale, which is too large to be counted anew each time
	unseen  int64 // numbers that came since it was last judged
	sifted  int64 // the hour in which it last forgot
}

// What stands beside a number: an hour, which comes round again after 341 days,
// and a bit for a miss.
const (
	hourBits   = 13
	hours      = 1 << hourBits
	missBit    = 1
	numberBits = hourBits + 1 // and 50 for the number, which has at most 15 digits
	countBits  = 20           // beside a block, and 44 for the block
)

// mostTracked is how many numbers of one organisation are remembered, in 25 to
// 40 bytes each. Beyond it every question counts as one about a number that is
// new.
const mostTracked = 4_000_000

// crowd is what all organisations together asked about in the last day.
type crowd struct{ count, missed atomic.Int64 }

func newWindow() window {
	w := window{numbers: table{low: numberBits}}
	for i := range w.blocks {
		w.blocks[i].low = countBits
	}
	return w
}

// age returns how many hours before an hour a number was last asked about.
func age(word uint64, hour int64) int64 {
	return (hour - int64(word>>1)) & (hours - 1)
}

// since returns for how many hours a number has not been asked about. Word is
// nil when that is longer than the window.
func (w *window) since(n phone.Number, hour int64) (word *uint64, ago int64) {
	if word = w.numbers.find(keyOf(n)); word == nil {
		return nil, 0
	}
	return word, age(*word, hour)
}

// note remembers that a number is asked about, and reports whether it is new in
// the window. Word is where it stands if it is not.
func (w *window) note(n phone.Number, word *uint64, hour int64) (isNew bool) {
	if word == nil {
		if w.count >= mostTracked {
			return false
		}
		word, isNew = w.numbers.put(keyOf(n))
	}
	stamp := uint64(hour) & (hours - 1) << 1 //nolint:gosec // after 1970
	*word = *word&^((hours-1)<<1) | stamp
	if !isNew {
		return false
	}
	w.count++
	w.unseen++
	for i := range scales {
		count, _ := w.blocks[i].put(blockOf(n.Int(), i))
		*count++
		if i == smallest {
			w.dense += gain(int64(*count & (1<<countBits - 1)))
		}
	}
	return true
}

// gain is by how much the numbers in dense blocks become more when a block of
// the smallest scale comes to have that many.
func gain(count int64) int64 {
	switch floor := scales[smallest].floor; {
	case count == floor:
		return floor
	case count > floor:
		return 1
	}
	return 0
}

// learn notes whether a number is a miss, and returns by how many the misses
// have become more.
func (w *window) learn(n phone.Number, miss bool) int64 {
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

// sift forgets, in one part, the numbers that were not asked about for a day.
// It returns how many numbers and misses those were.
func (w *window) sift(i int, hour int64) (count, missed int64) {
	for _, word := range w.numbers.parts[i].words {
		if word == 0 || age(word, hour) < 24 {
			continue
		}
		count++
		missed += int64(word & missBit)
		w.leave(int64(word >> numberBits))
	}
	if count > 0 {
		w.numbers.sift(i, func(word uint64) bool { return age(word, hour) < 24 })
	}
	w.count -= count
	w.missed -= missed
	return count, missed
}

// leave takes a number out of its blocks.
func (w *window) leave(number int64) {
	for i := range scales {
		count := w.blocks[i].find(blockOf(number, i))
		if count == nil || *count&(1<<countBits-1) == 0 {
			continue // it was never counted
		}
		if i == smallest {
			w.dense -= gain(int64(*count & (1<<countBits - 1)))
		}
		*count--
	}
}

// tidy drops the blocks of one part that have become empty.
func (w *window) tidy(i int) {
	for s := range w.blocks {
		w.blocks[s].sift(i, func(word uint64) bool { return word&(1<<countBits-1) != 0 })
	}
}

func keyOf(n phone.Number) uint64 { return uint64(n.Int()) } //nolint:gosec // not negative, and never 0

// blockOf returns the key of the block in which a number lies.
func blockOf(number int64, scale int) uint64 {
	return uint64(number/scales[scale].size) + 1 //nolint:gosec // not negative
}
