// Package numbering knows which network holds which numbers: the plan that the
// regulator makes, in versions that take effect at a time and never change.
//
// A plan is a set of ranges. A range is a prefix that a network holds from one
// date until another. Where several prefixes fit a number, the longest one that
// is held at the time counts.
package numbering

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/phone"
)

// Network is the identity of a network. It is the same in every version of the
// plan, whatever the network is called there. The zero Network is none.
type Network int16

// Range is a prefix that a network holds.
type Range struct {
	Prefix    string // E.164 digits without the plus sign
	Network   Network
	Allocated time.Time // the first day, at midnight UTC
	Withdrawn time.Time // the first day on which it is no longer held; zero: not withdrawn
}

// Holds reports whether the range is held at a time.
func (r *Range) Holds(at time.Time) bool {
	return !at.Before(r.Allocated) && (r.Withdrawn.IsZero() || at.Before(r.Withdrawn))
}

// Plan is one version of the numbering plan. Nobody changes a Plan once it is
// made, so any number of goroutines may use it.
type Plan struct {
	Version     int32 // 0 for the plan before the first one
	EffectiveAt time.Time
	Source      string
	Digits      int // of a whole number, with its country code

	ranges   []Range // by prefix, then by date
	lengths  []length
	networks []Network          // on the plan, by id
	names    map[Network]string // on the plan
	codes    map[Network]string // of every network there is
	ids      map[string]Network // by code, on the plan
}

// length holds the ranges whose prefixes have so many digits, by prefix. A
// number is looked up with one question to a map per length, and a nation has
// one or two lengths.
type length struct {
	floor    int64 // the least number with more digits than the prefixes have
	byPrefix map[int64][]Range
}

// newPlan makes a plan from its ranges and from the names of its networks.
// Codes may know more networks than the plan has.
func newPlan(p Plan, ranges []Range, names, codes map[Network]string) *Plan {
	p.ranges, p.names, p.codes, p.ids = slices.Clone(ranges), names, codes, make(map[string]Network, len(names))
	slices.SortFunc(p.ranges, func(a, b Range) int {
		return cmp.Or(strings.Compare(a.Prefix, b.Prefix), a.Allocated.Compare(b.Allocated))
	})
	for id := range names {
		p.networks = append(p.networks, id)
		p.ids[codes[id]] = id
	}
	slices.Sort(p.networks)
	byDigits := map[int]map[int64][]Range{}
	for _, r := range p.ranges {
		of := byDigits[len(r.Prefix)]
		if of == nil {
			of = map[int64][]Range{}
			byDigits[len(r.Prefix)] = of
		}
		prefix := value(r.Prefix)
		of[prefix] = append(of[prefix], r)
	}
	for digits, of := range byDigits {
		p.lengths = append(p.lengths, length{floor: power(digits), byPrefix: of})
	}
	slices.SortFunc(p.lengths, func(a, b length) int { return cmp.Compare(b.floor, a.floor) })
	return &p
}

// value returns the number that digits spell.
func value(digits string) int64 {
	var n int64
	for _, d := range []byte(digits) {
		n = n*10 + int64(d-'0')
	}
	return n
}

// power returns ten to the power of n.
func power(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// Empty reports whether the plan has no ranges, as before the first one is set.
func (p *Plan) Empty() bool { return len(p.ranges) == 0 }

// Holder returns the range to which n belongs at a time: of the prefixes that
// are held then, the longest. It allocates nothing.
func (p *Plan) Holder(n phone.Number, at time.Time) (r Range, ok bool) {
	prefix := n.Int()
	for i := range p.lengths {
		// The lengths go down, so that what is left of the number can be cut further.
		// A number that is shorter than these prefixes is none of them.
		for prefix >= p.lengths[i].floor {
			prefix /= 10
		}
		held := p.lengths[i].byPrefix[prefix]
		for j := range held {
			if held[j].Holds(at) {
				return held[j], true
			}
		}
	}
	return Range{}, false
}

// Name returns what the network is called in this version, its code if it is not
// on the plan, or "" when there is no such network.
func (p *Plan) Name(n Network) string {
	if name, ok := p.names[n]; ok {
		return name
	}
	return p.codes[n]
}

// Code returns the short code by which the network is always known, or "" when
// there is no such network.
func (p *Plan) Code(n Network) string { return p.codes[n] }

// Network returns the network of the plan that has that code.
func (p *Plan) Network(code string) (Network, bool) {
	n, ok := p.ids[code]
	return n, ok
}

// Networks returns the networks of the plan, in the order in which they were
// first seen.
func (p *Plan) Networks() []Network { return slices.Clone(p.networks) }

// Ranges returns the ranges of the plan, withdrawn ones included, by prefix and
// then by date.
func (p *Plan) Ranges() []Range { return slices.Clone(p.ranges) }

// Capacity returns how many numbers the network's ranges hold at a time, without
// those that longer prefixes give to others.
func (p *Plan) Capacity(n Network, at time.Time) int64 {
	var total int64
	var around []Range // the prefixes that contain the present one, shortest first
	for _, r := range p.ranges {
		if !r.Holds(at) {
			continue
		}
		for len(around) > 0 && !strings.HasPrefix(r.Prefix, around[len(around)-1].Prefix) {
			around = around[:len(around)-1]
		}
		size := power(p.Digits - len(r.Prefix))
		if len(around) > 0 && around[len(around)-1].Network == n {
			total -= size
		}
		if r.Network == n {
			total += size
		}
		around = append(around, r)
	}
	return total
}
