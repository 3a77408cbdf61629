package numbering

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// ChangeKind is how a prefix changes from one plan to another.
type ChangeKind string

// The kinds of change.
const (
	Added     ChangeKind = "added"     // it was not allocated
	Withdrawn ChangeKind = "withdrawn" // it is no longer allocated
	Moved     ChangeKind = "moved"     // it is allocated to another network
	Removed   ChangeKind = "removed"   // it is removed from the plan, with its past
	Redated   ChangeKind = "redated"   // same network, but allocated or withdrawn on another day
)

// ChangeKinds lists every kind.
var ChangeKinds = []ChangeKind{Added, Withdrawn, Moved, Removed, Redated}

// Change is the difference between two plans for one prefix.
type Change struct {
	Kind     ChangeKind
	Prefix   string
	From, To string    // codes of networks; "" for none
	On       time.Time // the day of the change; zero where there is none
}

// Renaming is a change of a network's name. Before is "" for a network that is new
// to the plan, and After is "" for one that is no longer on it.
type Renaming struct{ Network, Before, After string }

// Changes returns the prefixes that differ between two plans, by prefix.
func Changes(before, after *Plan) []Change {
	was, is := before.byPrefix(), after.byPrefix()
	var list []Change
	for prefix, old := range was {
		if _, still := is[prefix]; !still {
			list = append(list, Change{Kind: Removed, Prefix: prefix, From: before.Code(lastRange(old).Network)})
		}
	}
	for prefix, ranges := range is {
		if c, changed := change(before, after, was[prefix], ranges); changed {
			c.Prefix = prefix
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Prefix, b.Prefix) })
	return list
}

// Renamings returns the networks whose names differ between two plans, by code.
func Renamings(before, after *Plan) []Renaming {
	was, is := before.networkNames(), after.networkNames()
	var list []Renaming
	for code, name := range was {
		if is[code] != name {
			list = append(list, Renaming{code, name, is[code]})
		}
	}
	for code, name := range is {
		if _, known := was[code]; !known {
			list = append(list, Renaming{code, "", name})
		}
	}
	slices.SortFunc(list, func(a, b Renaming) int { return cmp.Compare(a.Network, b.Network) })
	return list
}

// change compares the ranges of one prefix in two plans. The later plan has at
// least one.
func change(before, after *Plan, was, is []Range) (Change, bool) {
	same := func(a, b Range) bool {
		return before.Code(a.Network) == after.Code(b.Network) && a.Allocated.Equal(b.Allocated) && a.Withdrawn.Equal(b.Withdrawn)
	}
	if slices.EqualFunc(was, is, same) {
		return Change{}, false
	}
	now := lastRange(is)
	c := Change{Kind: Redated, From: holder(before, was), To: holder(after, is), On: now.Allocated}
	switch {
	case c.From == "" && c.To == "" && len(was) == 0: // a new range that is already withdrawn
		c.Kind, c.To = Added, after.Code(now.Network)
	case c.From == "" && c.To != "":
		c.Kind = Added
	case c.From != "" && c.To == "":
		c.Kind, c.On = Withdrawn, now.Withdrawn
	case c.From != c.To:
		c.Kind = Moved
	case c.From == "": // it was withdrawn and still is
		c.From, c.To, c.On = before.Code(lastRange(was).Network), after.Code(now.Network), now.Withdrawn
	}
	return c, true
}

// holder returns the code of the network to which a prefix is allocated without an
// end, or "".
func holder(p *Plan, ranges []Range) string {
	if len(ranges) == 0 || !lastRange(ranges).Withdrawn.IsZero() {
		return ""
	}
	return p.Code(lastRange(ranges).Network)
}

// lastRange returns the latest of the ranges of one prefix, which do not overlap.
func lastRange(ranges []Range) Range { return ranges[len(ranges)-1] }

func (p *Plan) byPrefix() map[string][]Range {
	all := map[string][]Range{}
	for _, r := range p.ranges {
		all[r.Prefix] = append(all[r.Prefix], r)
	}
	return all
}

func (p *Plan) networkNames() map[string]string {
	all := map[string]string{}
	for _, n := range p.networks {
		all[p.Code(n)] = p.Name(n)
	}
	return all
}

// RangeCapacity returns how many numbers a range has, including those that longer
// prefixes allocate to other networks.
func (p *Plan) RangeCapacity(r Range) int64 { return powerOfTen(p.Digits - len(r.Prefix)) }
