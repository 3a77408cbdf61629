package sandbox

import (
	"cmp"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Change is what a scripted event changed about a test number: its row before and after.
type Change struct {
	Number        phone.Number
	At            line.Instant // when it was reported, by the test clock
	Version       int32        // how many events of the number were reported by then
	Before, After line.Row
	Event         line.Event
	FellDue       bool // the announced churn date of Before was reached; there is no event
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
			if e.until != nil {
				all = n.appendDue(all, e.until(&to), from.at, &to)
			}
			at := e.reportedAt(&to)
			if e.kind == 0 || at <= from.at || at > to.at {
				continue
			}
			before, after := to, to
			before.at, after.at = at-1, at
			all = append(all, Change{
				Number: n.Number, At: at, Version: n.versionAt(&after), Before: n.facts(&before).Row, After: n.facts(&after).Row, Event: e.event(&n, &after, int64(i+1)),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Number.Int(), b.Number.Int()))
	})
	return all
}

// appendDue adds that an announced churn date was reached, if it lies after from and not
// after to, and was not called off.
func (n *TestNumber) appendDue(all []Change, due, from line.Instant, to *moment) []Change {
	before := *to
	before.at = due - 1
	row := n.facts(&before).Row
	if due <= from || due > to.at || row.State != line.StateNoticed || row.Until != due {
		return all
	}
	return append(all, Change{Number: n.Number, At: due, Version: n.versionAt(&before), Before: row, After: row, FellDue: true})
}

// versionAt returns how many events of the number were reported by then.
func (n *TestNumber) versionAt(now *moment) (version int32) {
	for i := range n.events {
		if n.events[i].kind != 0 && n.events[i].reportedAt(now) <= now.at {
			version++
		}
	}
	return version
}

// NetworkName returns the name of a network of the test numbers.
func (s *Simulator) NetworkName(n numbering.Network) string {
	return cmp.Or(s.plan.Name(n), line.UnknownNetwork)
}
