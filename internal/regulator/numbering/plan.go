// Package numbering stores the numbering plan: which numbers the regulator has
// allocated to which network. A plan has versions, which take effect at a time and
// never change.
//
// A plan is a set of ranges. A range is a prefix that is allocated to a network
// from one date until another. If several prefixes match a number, the longest one
// that is allocated at the time counts.
package numbering

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// Network is the id of a network. It is the same in every version of the plan, even
// if the name changes. The zero Network is none.
type Network int16

// Range is a prefix that is allocated to a network.
type Range struct {
	Prefix    string // E.164 digits without the plus sign
	Network   Network
	Allocated time.Time // the first day, at midnight UTC
	Withdrawn time.Time // the first day on which it is no longer allocated; zero: not withdrawn
}

// ActiveAt reports whether the range is allocated at a time.
func (r *Range) ActiveAt(at time.Time) bool {
	return !at.Before(r.Allocated) && (r.Withdrawn.IsZero() || at.Before(r.Withdrawn))
}

// Plan is one version of the numbering plan. It never changes, so it is safe for
// concurrent use.
type Plan struct {
	Version     int32 // 0 for the plan before the first one
	EffectiveAt time.Time
	Source      string
	Digits      int // of a complete number, with its country code

	ranges   []Range // by prefix, then by date
	lengths  []prefixLength
	networks []Network          // on the plan, by id
	names    map[Network]string // on the plan
	codes    map[Network]string // of all networks
	ids      map[string]Network // by code, on the plan
}

// prefixLength has the ranges whose prefixes have the same number of digits, by
// prefix. A number is found with one map look-up per length, and a country has one
// or two lengths.
type prefixLength struct {
	minLonger int64 // the smallest number with more digits than the prefixes
	byPrefix  map[int64][]Range
}

// newPlan returns a plan with these ranges and names of networks. codes may have
// networks that are not on the plan.
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
		ranges := byDigits[len(r.Prefix)]
		if ranges == nil {
			ranges = map[int64][]Range{}
			byDigits[len(r.Prefix)] = ranges
		}
		prefix := parseDigits(r.Prefix)
		ranges[prefix] = append(ranges[prefix], r)
	}
	for digits, ranges := range byDigits {
		p.lengths = append(p.lengths, prefixLength{minLonger: powerOfTen(digits), byPrefix: ranges})
	}
	slices.SortFunc(p.lengths, func(a, b prefixLength) int { return cmp.Compare(b.minLonger, a.minLonger) })
	return &p
}

// parseDigits returns the integer with these decimal digits.
func parseDigits(digits string) int64 {
	var n int64
	for _, d := range []byte(digits) {
		n = n*10 + int64(d-'0')
	}
	return n
}

// powerOfTen returns ten to the power of n.
func powerOfTen(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// Empty reports whether the plan has no ranges, like the one before the first.
func (p *Plan) Empty() bool { return len(p.ranges) == 0 }

// RangeOf returns the range of a number at a time: of the prefixes that are
// allocated then, the longest. It makes no heap allocation.
func (p *Plan) RangeOf(n phone.Number, at time.Time) (r Range, ok bool) {
	prefix := n.Int()
	for i := range p.lengths {
		// The lengths are in descending order, so the shortened number can be
		// shortened further. A number shorter than these prefixes matches none.
		for prefix >= p.lengths[i].minLonger {
			prefix /= 10
		}
		ranges := p.lengths[i].byPrefix[prefix]
		for j := range ranges {
			if ranges[j].ActiveAt(at) {
				return ranges[j], true
			}
		}
	}
	return Range{}, false
}

// Name returns the network's name in this version, its code if it is not on the
// plan, or "" when there is no such network.
func (p *Plan) Name(n Network) string {
	if name, ok := p.names[n]; ok {
		return name
	}
	return p.codes[n]
}

// Code returns the short code of a network, which never changes, or "" when there is
// no such network.
func (p *Plan) Code(n Network) string { return p.codes[n] }

// Network returns the network of the plan with that code.
func (p *Plan) Network(code string) (Network, bool) {
	n, ok := p.ids[code]
	return n, ok
}

// Networks returns the networks of the plan, in the order in which they were first
// added.
func (p *Plan) Networks() []Network { return slices.Clone(p.networks) }

// Ranges returns the ranges of the plan, withdrawn ones included, by prefix and
// then by date.
func (p *Plan) Ranges() []Range { return slices.Clone(p.ranges) }

// Capacity returns how many numbers the network's ranges have at a time, without
// those that longer prefixes allocate to others.
func (p *Plan) Capacity(n Network, at time.Time) int64 {
	var total int64
	var enclosing []Range // the ranges whose prefixes contain that of r, shortest first
	for _, r := range p.ranges {
		if !r.ActiveAt(at) {
			continue
		}
		for len(enclosing) > 0 && !strings.HasPrefix(r.Prefix, enclosing[len(enclosing)-1].Prefix) {
			enclosing = enclosing[:len(enclosing)-1]
		}
		size := powerOfTen(p.Digits - len(r.Prefix))
		if len(enclosing) > 0 && enclosing[len(enclosing)-1].Network == n {
			total -= size
		}
		if r.Network == n {
			total += size
		}
		enclosing = append(enclosing, r)
	}
	return total
}
