package sandbox

import (
	"cmp"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// Change is what a scripted event changed about a test number: its row before and after.
type Change struct {
	Number        phone.Number
	At            line.Instant // when it was reported, by the test clock
	Version       int32        // how many events of the number were reported by then
	Before, After line.Row
	Event         line.Event
}

// Changes returns what happened to test numbers while a clock was moved, in the order of
// the reports.
func (s *Simulator) Changes(m Move, p *policy.Policy) (all []Change) {
	from, to := m.Before.moment(m.Now, p), m.After.moment(m.Now, p)
	for _, n := range s.TestNumbers() {
		if !n.IsScenario {
			continue // the others are always as they are now
		}
		for i := range n.events {
			e := &n.events[i]
			at := e.reportedAt(&to)
			if e.kind == 0 || at <= from.at || at > to.at {
				continue
			}
			before, after := to, to
			before.at, after.at = at-1, at
			c := Change{Number: n.Number, At: at, Before: n.facts(&before).Row, After: n.facts(&after).Row, Event: e.event(&n, &after, int64(i+1))}
			for j := range n.events {
				if n.events[j].kind != 0 && n.events[j].reportedAt(&to) <= at {
					c.Version++
				}
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Number.Int(), b.Number.Int()))
	})
	return all
}

// NetworkName returns the name of a network of the test numbers.
func (s *Simulator) NetworkName(n numbering.Network) string {
	return cmp.Or(s.plan.Name(n), line.UnknownNetwork)
}
