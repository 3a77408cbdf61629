package numbering

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// ChangeKind says what becomes of a prefix.
type ChangeKind string

// The kinds of change.
const (
	Added     ChangeKind = "added"     // nobody held it
	Withdrawn ChangeKind = "withdrawn" // nobody will
	Moved     ChangeKind = "moved"     // another network will
	Removed   ChangeKind = "removed"   // it is taken off the plan, its past included
	Redated   ChangeKind = "redated"   // the same network holds it, from or until another day
)

// ChangeKinds lists every kind.
var ChangeKinds = []ChangeKind{Added, Withdrawn, Moved, Removed, Redated}

// Change is what one plan says of a prefix in place of another.
type Change struct {
	Kind     ChangeKind
	Prefix   string
	From, To string    // the codes of the networks; "" for none
	On       time.Time // the day from which it holds; zero where there is none
}

// Renaming is a network that is called something else. Of one that is new to the
// plan Before is "", and of one that is gone After.
type Renaming struct{ Network, Before, After string }

// Changes returns what becomes of each prefix that is not the same in both
// plans, by prefix.
func Changes(before, after *Plan) []Change {
	was, is := before.byPrefix(), after.byPrefix()
	var list []Change
	for prefix, old := range was {
		if _, still := is[prefix]; !still {
			list = append(list, Change{Kind: Removed, Prefix: prefix, From: before.Code(last(old).Network)})
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

// Renamings returns the networks that are not called the same in both plans, by
// code.
func Renamings(before, after *Plan) []Renaming {
	was, is := before.called(), after.called()
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

// change tells what becomes of one prefix. There are ranges of it in the later
// plan.
func change(before, after *Plan, was, is []Range) (Change, bool) {
	same := func(a, b Range) bool {
		return before.Code(a.Network) == after.Code(b.Network) && a.Allocated.Equal(b.Allocated) && a.Withdrawn.Equal(b.Withdrawn)
	}
	if slices.EqualFunc(was, is, same) {
		return Change{}, false
	}
	now := last(is)
	c := Change{Kind: Redated, From: holder(before, was), To: holder(after, is), On: now.Allocated}
	switch {
	case c.From == "" && c.To == "" && len(was) == 0: // a range that is over as soon as it is known
		c.Kind, c.To = Added, after.Code(now.Network)
	case c.From == "" && c.To != "":
		c.Kind = Added
	case c.From != "" && c.To == "":
		c.Kind, c.On = Withdrawn, now.Withdrawn
	case c.From != c.To:
		c.Kind = Moved
	case c.From == "": // it was withdrawn and still is
		c.From, c.To, c.On = before.Code(last(was).Network), after.Code(now.Network), now.Withdrawn
	}
	return c, true
}

// holder is the code of the network that holds a prefix until further notice, or
// "" where nobody does.
func holder(p *Plan, ranges []Range) string {
	if len(ranges) == 0 || !last(ranges).Withdrawn.IsZero() {
		return ""
	}
	return p.Code(last(ranges).Network)
}

// last returns the range that comes last; ranges of one prefix do not overlap.
func last(ranges []Range) Range { return ranges[len(ranges)-1] }

func (p *Plan) byPrefix() map[string][]Range {
	all := map[string][]Range{}
	for _, r := range p.ranges {
		all[r.Prefix] = append(all[r.Prefix], r)
	}
	return all
}

func (p *Plan) called() map[string]string {
	all := map[string]string{}
	for _, n := range p.networks {
		all[p.Code(n)] = p.Name(n)
	}
	return all
}

// Room returns for how many numbers a range of the plan has room, those that
// longer prefixes give to others included.
func (p *Plan) Room(r Range) int64 { return power(p.Digits - len(r.Prefix)) }
