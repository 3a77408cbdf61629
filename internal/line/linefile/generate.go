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

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// SyntheticNetwork describes the lines of an operator that does not exist, for tests at the
// scale of a country. Equal Nations have equal lines, on every machine and in every
// release.
type SyntheticNetwork struct {
	Seed    uint64
	Plan    *numbering.Plan
	Network numbering.Network // whose lines they are
	Lines   int64             // how many, spread evenly over the network's ranges
	AsOf    time.Time         // the time at which the lines are in their states
	Digits  int               // digits of a whole number; 0 means as many as in the plan
}

// oldestAsOf is the earliest AsOf with which the oldest tenure begins in a year that
// a file may have.
var oldestAsOf = time.Date(firstYear+23, 1, 1, 0, 0, 0, 0, time.UTC)

// Generator computes a Nation's lines, in the order of their numbers. None of them
// is kept in memory.
type Generator struct {
	n        SyntheticNetwork
	blocks   []block
	capacity int64 // numbers in all blocks
	asOf     line.Instant
}

// block is a range of consecutive numbers of the network.
type block struct {
	first  int64 // number
	size   int64
	before int64 // numbers in the blocks before this one
}

// Generator checks the description and returns a generator of its lines.
func (n SyntheticNetwork) Generator() (*Generator, error) {
	if n.Digits == 0 {
		n.Digits = n.Plan.Digits
	}
	g := &Generator{n: n, blocks: n.blocks(), asOf: line.InstantOf(n.AsOf)}
	for i := range g.blocks {
		g.blocks[i].before = g.capacity
		g.capacity += g.blocks[i].size
	}
	switch {
	case g.capacity == 0:
		return nil, fault.New(fault.InvalidArgument, "The network has no range at that time.")
	case n.Lines < 0 || n.Lines > g.capacity:
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("The network's ranges have 0 to %d lines.", g.capacity))
	case n.AsOf.Before(oldestAsOf) || n.AsOf.After(latest.Time()):
		return nil, fault.New(fault.InvalidArgument, fmt.Sprintf("The time must be between %d and %d.", oldestAsOf.Year(), lastYear))
	}
	return g, nil
}

// blocks returns the numbers of the network's ranges, without those that a longer
// prefix allocates to another network.
func (n SyntheticNetwork) blocks() []block {
	held := slices.DeleteFunc(n.Plan.Ranges(), func(r numbering.Range) bool {
		return n.AsOf.Before(r.Allocated) || !r.Withdrawn.IsZero() && !n.AsOf.Before(r.Withdrawn) || len(r.Prefix) > n.Digits
	})
	var blocks []block
	for i, outer := range held {
		if outer.Network != n.Network {
			continue
		}
		from, to := n.span(outer.Prefix)
		for _, inner := range held[i+1:] { // sorted by prefix, so that inner ranges follow
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

// span returns the first number with a prefix, and the first after the last one.
func (n SyntheticNetwork) span(prefix string) (from, to int64) {
	size := int64(1)
	for range n.Digits - len(prefix) {
		size *= 10
	}
	value, _ := strconv.ParseInt(prefix, 10, 64) // a prefix has only digits
	return value * size, (value + 1) * size
}

// At returns the i-th line, counted from 0: what the reader returns for it, if bare
// dates are in UTC.
func (g *Generator) At(i int64) (phone.Number, line.Baseline) {
	var rng rand.PCG
	rng.Seed(g.n.Seed, uint64(i)) //nolint:gosec // only a seed
	// Each line has an equal part of the numbers, and is at random one of them.
	from, to := proportion(i, g.capacity, g.n.Lines), proportion(i+1, g.capacity, g.n.Lines)
	at := from + randBelow(&rng, to-from)
	b, found := slices.BinarySearchFunc(g.blocks, at, func(b block, at int64) int { return cmp.Compare(b.before, at) })
	if !found {
		b--
	}
	n, _ := phone.FromInt(g.blocks[b].first + at - g.blocks[b].before)
	return n, g.baseline(&rng)
}

// proportion returns whole*i/parts.
func proportion(i, whole, parts int64) int64 {
	hi, lo := bits.Mul64(uint64(i), uint64(whole))   //nolint:gosec // neither is negative
	quotient, _ := bits.Div64(hi, lo, uint64(parts)) //nolint:gosec // i is at most parts, so that it fits
	return int64(quotient)                           //nolint:gosec // at most whole
}

// randBelow returns a number from 0 to n-1.
func randBelow(rng *rand.PCG, n int64) int64 {
	hi, _ := bits.Mul64(rng.Uint64(), uint64(n)) //nolint:gosec // n is not negative
	return int64(hi)                             //nolint:gosec // less than n
}

// Snapshot writes the lines as a snapshot, in the order of their numbers.
func (n SyntheticNetwork) Snapshot(w io.Writer) error {
	g, err := n.Generator()
	if err != nil {
		return err
	}
	out := newRowWriter(w, []string{colNumber, colTenureStart, colSIMChangedAt, colState, colStateSince})
	for i := range n.Lines {
		number, s := g.At(i)
		out.number(number)
		out.time(s.Tenure, true)
		if s.SIM == line.Never {
			out.text(wordNever)
		} else {
			out.time(s.SIM, false)
		}
		out.text(s.State.String())
		if s.StateSince == s.Tenure && s.State == line.StateActive {
			s.StateSince = line.Never // the default of the reader
		}
		out.time(s.StateSince, false)
		if err := out.end(); err != nil {
			return err
		}
	}
	return out.flush()
}
