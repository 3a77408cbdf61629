package guard

import "github.com/lineproof/lineproof/internal/access/guard/sketch"

// What looks like a scan. docs/decisions/0019-detecting-number-scanning.md has the
// reasoning at length, and what these thresholds miss.
//
// Customers of an honest organisation are spread over the numbers of a nation:
// of 200 million lines a bank that asks about 100,000 meets one in 2,000, so
// that a hundred neighbouring numbers hold a twentieth of one, ten thousand hold
// five, and a million hold five hundred. A scan asks about neighbours. So the
// detector counts, at three scales, how many of the numbers lie in blocks that
// hold far more than chance would put there, and acts when those are many and
// a large share of all. Neither alone is enough: a company that pays its people
// has a few hundred numbers in a row, and a bank that asks little asks about few
// blocks.
type scale struct {
	size  int64 // numbers in a block
	floor int64 // a block that holds fewer is not dense,
	fair  int64 // nor is one that holds less than one in so many of all numbers; 0 asks for nothing more
	part  int64 // the dense blocks must hold at least one in so many of all numbers,
	slow  int64 // and so many numbers, for the organisation to be slowed
	stop  int64 // or to be stopped later: whoever is found is slowed first, see alert.go
}

const smallest = 0

var scales = [...]scale{
	// Twenty of a hundred: by chance a block comes to half of that only for somebody
	// who asks about a tenth of the nation. Companies with numbers in a row fill such
	// blocks, too, and are honest: it takes more than sixteen of three hundred
	// numbers each, which are half of all that it asks about, to be slowed. What this scale finds
	// is a scan that hops from one small block to another.
	{size: 100, floor: 20, fair: 0, part: 2, slow: 5_000, stop: 20_000},
	// Five hundred of ten thousand, and ten times what chance would put there. No
	// company of a few hundred people fills such a block. A scan of neighbours is
	// slowed after 2,000, which takes 40 seconds at the usual rate of one key, and
	// stopped when it has asked as much as a whole block.
	{size: 10_000, floor: 500, fair: 2_000, part: 4, slow: 2_000, stop: 10_000},
	// Two thousand of a million, and eight times what chance would put there. This
	// finds a scan in random order, which looks thin at the smaller scales: within a
	// million numbers after 2,500 questions, within a prefix of ten million after
	// some 20,000. An honest organisation would have to have half of its customers in
	// fewer than 13 such blocks, of the 200 that a nation has.
	{size: 1_000_000, floor: 2_000, fair: 25, part: 2, slow: 2_500, stop: 20_000},
}

// Misses are numbers that are not allocated: their range is not, or their
// operator's supply is complete and has never named them. An UNKNOWN line is
// not a miss, for that is the supplier's fault and not the organisation's.
//
// Of typed numbers one in fifty is wrong, and about half of those miss. Of
// numbers taken at random more than half miss. Three in ten lies far from both.
// Where everybody misses, as after a broken supply, nobody scans: so the share
// must also be three times that of everybody else.
const (
	missShare      = 0.3
	missTimes      = 3
	missSlow       = 1_000
	missStop       = 3_000
	missPopulation = 1_000 // fewer numbers of everybody else say nothing
)

// What is judged over a year, for harvests that are slow or hidden among honest
// requests. A block of 10,000 is dense when 640 of its numbers were verified, and five
// times what chance would put there: a nation has some 20,000 blocks with lines, so that
// one holds one in 20,000 of the numbers of an honest organisation. 10,000 numbers in
// dense blocks are rare by chance and for employers, so that a small share of all is enough.
// The numbers of a year are kept as a sketch of bits (package sketch), which counts a block with
// at most 2,500, also one of which all numbers were asked about: harvestSlow is four such blocks.
//
// Misses may be fewer over a year than on a day, and still no honest list has so many:
// of an old one, one in ten was never right.
const (
	harvestFloor     = 640
	harvestFair      = 4_000 // a dense block has at least one in so many of all numbers,
	harvestFull      = 2_100 // but never needs more than this: its bits say no more than some 2,500
	harvestPart      = 50    // dense blocks hold at least one in so many of all numbers
	harvestSlow      = 10_000
	harvestStop      = 30_000
	harvestMissShare = 0.15
	harvestMissSlow  = 5_000
	harvestMissStop  = 15_000
)

// yearNearlyOf says when staff are told that the budget of the year is nearly used up:
// when less than one in so many parts is left.
const yearNearlyOf = 5

// harvest judges where the numbers of the year lie.
func (y *yearly) harvest() finding {
	all := y.recent.Count() + y.files.Count()
	dense := y.blocks.Dense(min(max(harvestFloor, all/harvestFair), harvestFull))
	if dense < harvestSlow || dense*harvestPart < all {
		return finding{}
	}
	return finding{levelFrom(dense, harvestStop), Figures{Numbers: all, Misses: y.missed.Count(), Dense: dense, Block: sketch.BlockSize}}
}

// harvestMisses judges how many numbers of the year are none, beside what everybody
// else gets.
func (y *yearly) harvestMisses(others total) finding {
	all, missed := y.recent.Count(), y.missed.Count()
	if missed < harvestMissSlow || float64(missed) < harvestMissShare*float64(all) {
		return finding{}
	}
	if others.numbers >= missPopulation && float64(missed)*float64(others.numbers) < missTimes*float64(others.missed)*float64(all) {
		return finding{}
	}
	return finding{levelFrom(missed, harvestMissStop), Figures{Numbers: all, Misses: missed}}
}

func levelFrom(n, stop int64) Level {
	if n >= stop {
		return Stopped
	}
	return Slowed
}

// A file is also held for numbers in equal steps. They are in no dense block, if the step is
// long, and no list of customers has them: if one number in g is a customer's, two neighbouring
// gaps are equal once in 2g times.
const (
	stepHold = 2_000 // numbers whose gap to the next is that to the one before
	stepPart = 2     // of all, at least one in so many
)

// finding is the result of judging a subject at one moment.
type finding struct {
	level   Level // None for nothing
	figures Figures
}

// due reports whether so much has come since the window was last judged that it
// should be judged again. The more there is, the longer it takes, and the less
// often it is done.
func (w *window) due() bool { return w.unjudged >= max(256, w.count/64) }

// density judges where the numbers lie.
func (w *window) density() (worst finding) {
	w.unjudged = 0
	for i := range scales {
		s := &scales[i]
		if w.count < s.slow {
			continue
		}
		dense := w.dense
		if i != smallest {
			dense = w.denseAt(i)
		}
		level := None
		switch {
		case dense*s.part < w.count || dense < s.slow:
		case dense < s.stop:
			level = Slowed
		default:
			level = Stopped
		}
		if level > worst.level {
			worst = finding{level, Figures{Numbers: w.count, Misses: w.missed, Dense: dense, Block: s.size}}
		}
	}
	return worst
}

// denseAt counts the numbers in dense blocks of a scale.
func (w *window) denseAt(i int) (dense int64) {
	floor := scales[i].floor
	if scales[i].fair > 0 {
		floor = max(floor, w.count/scales[i].fair)
	}
	for p := range w.blocks[i].parts {
		for _, word := range w.blocks[i].parts[p].words {
			if n := int64(word & (1<<countBits - 1)); n >= floor {
				dense += n
			}
		}
	}
	return dense
}

// misses judges how many of the numbers are none, beside everybody else, who asked about others
// numbers of which missed were none.
func (w *window) misses(others, missed int64) finding {
	if w.missed < missSlow || float64(w.missed) < missShare*float64(w.count) {
		return finding{}
	}
	if others >= missPopulation && float64(w.missed)*float64(others) < missTimes*float64(missed)*float64(w.count) {
		return finding{}
	}
	level := Slowed
	if w.missed >= missStop {
		level = Stopped
	}
	return finding{level, Figures{Numbers: w.count, Misses: w.missed}}
}
