package linefile

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
)

// Nation describes the lines of an operator that does not exist, so that anybody
// can try the scale of a country. Equal Nations have equal lines, on every
// machine and in every release.
type Nation struct {
	Seed    uint64
	Plan    *numbering.Plan
	Network numbering.Network // whose lines they are
	Lines   int64             // how many, spread evenly over the network's ranges
	AsOf    time.Time         // the time at which they stand as they do
	Digits  int               // of a whole number; 0 means as many as the plan says
}

// oldestAsOf lets the oldest tenure of a Nation begin in a year that a file may
// speak of.
var oldestAsOf = time.Date(firstYear+23, 1, 1, 0, 0, 0, 0, time.UTC)

// Roll is a Nation's lines in the order of their numbers. None of them is held
// in memory: each is computed when it is asked for.
type Roll struct {
	n      Nation
	blocks []block
	room   int64 // numbers in all blocks
	asOf   line.Instant
}

// block is numbers without a gap that belong to the network.
type block struct {
	first  int64 // number
	size   int64
	before int64 // numbers in the blocks before this one
}

// Roll checks the description and returns the lines.
func (n Nation) Roll() (*Roll, error) {
	if n.Digits == 0 {
		n.Digits = n.Plan.Digits
	}
	r := &Roll{n: n, blocks: n.blocks(), asOf: line.InstantOf(n.AsOf)}
	for i := range r.blocks {
		r.blocks[i].before = r.room
		r.room += r.blocks[i].size
	}
	switch {
	case r.room == 0:
		return nil, fault.New(fault.InvalidArgument, "The network holds no range at that time.")
	case n.Lines < 0 || n.Lines > r.room:
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("The network's ranges have room for 0 to %d lines.", r.room))
	case n.AsOf.Before(oldestAsOf) || n.AsOf.After(latest.Time()):
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("The time must lie between %d and %d.", oldestAsOf.Year(), lastYear))
	}
	return r, nil
}

// blocks returns the numbers that the network holds, without those that longer
// prefixes give to others.
func (n Nation) blocks() []block {
	held := slices.DeleteFunc(n.Plan.Ranges(), func(r numbering.Range) bool {
		return n.AsOf.Before(r.Allocated) || !r.Withdrawn.IsZero() && !n.AsOf.Before(r.Withdrawn) || len(r.Prefix) > n.Digits
	})
	var blocks []block
	for i, outer := range held {
		if outer.Network != n.Network {
			continue
		}
		from, to := n.span(outer.Prefix)
		for _, inner := range held[i+1:] { // sorted by prefix, so that what is inside follows
			if !strings.HasPrefix(inner.Prefix, outer.Prefix) {
				break
			}
			innerFrom, innerTo := n.span(inner.Prefix)
			if innerFrom > from {
				blocks = append(blocks, block{first: from, size: innerFrom - from})
			}
			from = max(from, innerTo)
		}
		if to > from {
			blocks = append(blocks, block{first: from, size: to - from})
		}
	}
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.first, b.first) })
	return blocks
}

// span returns the first number of a prefix, and the first behind it.
func (n Nation) span(prefix string) (from, to int64) {
	size := int64(1)
	for range n.Digits - len(prefix) {
		size *= 10
	}
	value, _ := strconv.ParseInt(prefix, 10, 64) // a plan has only digits there
	return value * size, (value + 1) * size
}

// At returns the i-th line, counted from 0.
func (r *Roll) At(i int64) (phone.Number, line.Baseline) {
	var dice rand.PCG
	dice.Seed(r.n.Seed, uint64(i)) //nolint:gosec // only a seed
	// Each line has its own share of the room and stands somewhere in it.
	from, to := share(i, r.room, r.n.Lines), share(i+1, r.room, r.n.Lines)
	at := from + below(&dice, to-from)
	b, found := slices.BinarySearchFunc(r.blocks, at, func(b block, at int64) int { return cmp.Compare(b.before, at) })
	if !found {
		b--
	}
	n, _ := phone.FromInt(r.blocks[b].first + at - r.blocks[b].before)
	return n, r.life(&dice)
}

// share returns whole*i/parts.
func share(i, whole, parts int64) int64 {
	hi, lo := bits.Mul64(uint64(i), uint64(whole))   //nolint:gosec // neither is negative
	quotient, _ := bits.Div64(hi, lo, uint64(parts)) //nolint:gosec // i is at most parts, so that it fits
	return int64(quotient)                           //nolint:gosec // at most whole
}

// below returns a number from 0 to n-1.
func below(dice *rand.PCG, n int64) int64 {
	hi, _ := bits.Mul64(dice.Uint64(), uint64(n)) //nolint:gosec // n is not negative
	return int64(hi)                              //nolint:gosec // less than n
}

// Snapshot writes the lines as a snapshot, in the order of their numbers.
func (n Nation) Snapshot(w io.Writer) error {
	r, err := n.Roll()
	if err != nil {
		return err
	}
	out := newRows(w, snapshotColumns)
	for i := range n.Lines {
		number, s := r.At(i)
		out.number(number)
		out.time(s.Tenure, true)
		out.time(s.SIM, false)
		out.text(s.State.String())
		if s.StateSince == s.Tenure && s.State == line.StateActive {
			s.StateSince = line.Never // the reader knows
		}
		out.time(s.StateSince, false)
		if err := out.end(); err != nil {
			return err
		}
	}
	return out.flush()
}
