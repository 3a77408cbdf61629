package line

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/reference/line-events.md")

// The committed page agrees with the state machine.
func TestReferenceOfEventsIsFresh(t *testing.T) {
	t.Parallel()

	path := filepath.Join("..", "..", "docs", "reference", "line-events.md")
	if *update {
		if err := os.WriteFile(path, []byte(eventsReference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(eventsReference(), string(committed)); diff != "" {
		t.Errorf("run go test ./internal/line -run Reference -update (-code +committed):\n%s", diff)
	}
}

// Every kind has one transition, with an authority that may report it, a state in
// which it applies, and a sentence about its effect.
func TestEveryKindHasATransition(t *testing.T) {
	t.Parallel()

	var kinds []Kind
	for _, r := range transitions {
		kinds = append(kinds, r.kind)
		if len(r.authorities) == 0 || len(r.from) == 0 || !strings.HasSuffix(r.effect, ".") {
			t.Errorf("the transition of %s is not complete: %+v", r.kind, r)
		}
		for _, s := range append(slices.Clone(r.from), r.to) {
			if s != sameState && !slices.Contains(anyState, s) {
				t.Errorf("the transition of %s has the state %d", r.kind, s)
			}
		}
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(Kinds(), kinds); diff != "" {
		t.Errorf("the kinds of the table (-all +in the table):\n%s", diff)
	}
}

// The fold follows the table: an event changes the state as the table says, in the
// states that the table names and in no other.
func TestFoldFollowsTheTable(t *testing.T) {
	t.Parallel()

	for _, r := range transitions {
		if r.kind == Void || r.kind == ClaimPort || r.kind == ReleasePort {
			continue // they act together with another event
		}
		for _, a := range r.authorities {
			for _, s := range anyState {
				f := rowBuilder{Row: NoRow()}
				if f.State = s; s != StateNone {
					f.Network = 1
				}
				e := Event{Kind: r.kind, Effective: 5, Authority: a, Peer: 2, Until: Never, EndedAfter: Never}
				if a == Operator {
					e.Network = 1
				}
				if r.kind == Unflag {
					f.flags = []activeFlag{{by: e.Supplier}}
				}
				want, outcome := s, NotInState
				if slices.Contains(r.from, s) {
					want, outcome = r.kind.becomes(s, a), Applied
				}
				if got := f.apply(&e); got != outcome || f.State != want {
					t.Errorf("%s by %s in state %s: outcome %d, state %s; the table says %d, %s", r.kind, a, s, got, f.State, outcome, want)
				}
			}
		}
	}
}

const eventsPreamble = `# Events of a line

Generated from the state machine in ` + "`internal/line/machine.go`" + ` by ` + "`go test ./internal/line -run Reference -update`" + `; do not edit.

Operators and authorities report events about numbers. The service stores every event that it accepts, and the state of a line is the result of
its events ([why](../explanation/lines.md)); [the statuses](line-status.md) are computed from that state. [Supply files](supply-files.md) describes
the format of events.

## The states of a tenure

| state | meaning |
| --- | --- |
`

const eventsTable = `
` + "`BARRED`" + ` is a state only in a snapshot, where it means ` + "`ACTIVE`" + ` and barred by its operator: bars, flags, ports and
blacklistings are stored separately from the state.

## The events

An event is checked against the state and the network that the number had when the event took effect. An event that does not apply then is stored without
effect; it takes effect once the missing earlier events are reported.

Events of the same second apply in the order of this table, and events of one kind in the order in which they were reported. An empty cell
means that the state does not change.

| event | reported by | applies in | new state | effect |
| --- | --- | --- | --- | --- |
`

const eventsRules = `
What the table does not show:

- **The first event of an operator about a number** (` + "`NONE`" + `) implies a tenure. Its start is unknown unless the event is ` + "`ASSIGNED`" + `. So an operator that
  reports only SIM swaps, or only churn, is useful from its first day. Half of a port implies nothing.
- **An operator reports only about numbers that are with its network** at the time of effect; only ` + "`PORT_CLAIMED`" + ` is about a number that is with
  another network. An event about a number of another network is refused; if that turns out only later, the event has no effect. After the end of a tenure the
  number is back with the network of its range, and only that network can assign it. Only the network that ended the tenure can report ` + "`REINSTATED`" + `.
- **A port by claim and release** takes effect at the later of the two. The state then becomes ` + "`ACTIVE`" + `. Claims of several networks can be open
  at the same time, and only the one that the release names counts; of several releases the last one counts.
- **A bar of the regulator** can be lifted only by the regulator.
- **A blacklisting** belongs to the number and continues after the end of the tenure. Everything else belongs to the tenure: after its end it is no longer shown,
  ` + "`REINSTATED`" + ` restores it, and ` + "`ASSIGNED`" + ` removes it.
- **A withdrawn event** counts as never reported. A withdrawal cannot be withdrawn; report the event again under a new id.

## How the state changes

` + "```mermaid" + `
stateDiagram-v2
    [*] --> NONE
`

// meanings of the states, in the order in which the page shows them.
var meanings = []struct {
	state State
	text  string
}{
	{StateNone, "no operator has reported anything about the number"},
	{StateActive, "in use"},
	{StateInactive, "not used for as long as the regulation names"},
	{StateParked, "kept unused at the holder's request"},
	{StateNoticed, "the holder was notified of the churn date; from that date on the line counts as quarantined, without a further event"},
	{StateEnded, "churned or surrendered, and not yet assigned again"},
}

// eventsReference returns the text of docs/reference/line-events.md.
func eventsReference() string {
	var b strings.Builder
	b.WriteString(eventsPreamble)
	for _, m := range meanings {
		fmt.Fprintf(&b, "| `%s` | %s |\n", m.state, m.text)
	}
	b.WriteString(eventsTable)
	for _, r := range transitions {
		becomes := ""
		if r.to != sameState {
			becomes = "`" + r.to.String() + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.kind, authorityNames(r.authorities), stateNames(r.from), becomes, r.effect)
	}
	b.WriteString(eventsRules)
	for _, m := range meanings {
		for _, to := range meanings {
			if kinds := kindsBetween(m.state, to.state); len(kinds) > 0 {
				fmt.Fprintf(&b, "    %s --> %s : %s\n", m.state, to.state, strings.Join(kinds, ", "))
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// kindsBetween lists the kinds that lead from one state to another, or that set
// the same state again.
func kindsBetween(from, to State) []string {
	var kinds []string
	for _, r := range transitions {
		if !slices.Contains(r.from, from) || from == to && r.to == sameState {
			continue
		}
		if slices.ContainsFunc(r.authorities, func(a Authority) bool { return r.kind.becomes(from, a) == to }) {
			kinds = append(kinds, r.kind.String())
		}
	}
	return kinds
}

func authorityNames(by []Authority) string {
	var names []string
	for _, a := range by {
		names = append(names, strings.ToLower(strings.ReplaceAll(a.String(), "_", " ")))
	}
	return strings.Join(names, ", ")
}

func stateNames(from []State) string {
	switch {
	case slices.Equal(from, anyState):
		return "every state"
	case slices.Equal(from, notEnded):
		return "every state but `" + StateEnded.String() + "`"
	}
	var names []string
	for _, s := range from {
		names = append(names, "`"+s.String()+"`")
	}
	return strings.Join(names, ", ")
}
