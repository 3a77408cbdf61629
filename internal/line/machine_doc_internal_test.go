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

// The committed reference is what the state machine says.
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

// The machine has one rule for every kind, somebody who may tell it, a state in
// which it applies, and a sentence that says what it does.
func TestMachineIsComplete(t *testing.T) {
	t.Parallel()

	var kinds []Kind
	for _, r := range machine {
		kinds = append(kinds, r.kind)
		if len(r.by) == 0 || len(r.from) == 0 || !strings.HasSuffix(r.effect, ".") {
			t.Errorf("the rule of %s is not complete: %+v", r.kind, r)
		}
		for _, s := range append(slices.Clone(r.from), r.to) {
			if s != keep && !slices.Contains(anyState, s) {
				t.Errorf("the rule of %s names the state %d", r.kind, s)
			}
		}
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(Kinds(), kinds); diff != "" {
		t.Errorf("the kinds of the machine (-all +in the machine):\n%s", diff)
	}
}

// The fold goes by the table: an event has the effect that the table names in
// the states that it names, and in no other.
func TestFoldGoesByTheMachine(t *testing.T) {
	t.Parallel()

	for _, r := range machine {
		if r.kind == Void || r.kind == ClaimPort || r.kind == ReleasePort {
			continue // they act together with another event
		}
		for _, a := range r.by {
			for _, s := range anyState {
				f := folding{Row: NoRow()}
				if f.State = s; s != StateNone {
					f.Network = 1
				}
				e := Event{Kind: r.kind, Effective: 5, By: a, Peer: 2, Until: Never, After: Never}
				if a == Operator {
					e.Network = 1
				}
				if r.kind == Unflag {
					f.flags = []suspicion{{by: e.Supplier}}
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

What operators and authorities tell about a number are events. The service keeps every one that it accepts, and how a line stands is what
its events make ([why](../explanation/lines.md)); [the statuses](line-status.md) are computed from that. [Supply files](supply-files.md) says
how events are written.

## The states of a tenure

| state | meaning |
| --- | --- |
`

const eventsTable = `
` + "`BARRED`" + ` is a state only in a snapshot, where it means ` + "`ACTIVE`" + ` and barred by its operator: a bar, a flag, a port and a
blacklisting stand beside the state.

## The events

An event is judged in the state, and by the holder, of the time at which it took effect. One that does not apply then is kept and has no
effect; it counts once what came before it is told.

Events of the same second apply in the order of this table, and those of one kind in the order in which they were told. A cell that is
empty means that the state stays as it is.

| event | told by | applies in | becomes | effect |
| --- | --- | --- | --- | --- |
`

const eventsRules = `
What the table cannot show:

- **The first word of an operator about a number** (` + "`NONE`" + `) implies a tenure, of unknown start where it is not ` + "`ASSIGNED`" + `: an operator that
  reports only SIM swaps, or only churn, is of use from its first day. Half of a port implies nothing.
- **An operator speaks only of numbers that are with its network** at the time of effect; only ` + "`PORT_CLAIMED`" + ` is about a number that is
  elsewhere. Another's number is refused, and where it turns out later to have been another's, the event has no effect. After the end of a tenure the number is back with the network that holds its range, which alone can assign it; an
  appeal is heard by the network that ended the tenure.
- **A port by halves** takes effect at the later of claim and release. The state then becomes ` + "`ACTIVE`" + `. Claims of several networks
  stand side by side, and only the one that the release names counts; of several releases the last one does.
- **A bar of the regulator** is lifted by the regulator only.
- **A blacklisting** belongs to the number and outlives the tenure. Everything else belongs to the tenure: at its end it is no longer shown,
  ` + "`REINSTATED`" + ` brings it back, and ` + "`ASSIGNED`" + ` does away with it.
- **A withdrawn event** counts as never told. A withdrawal cannot be withdrawn; the event is told again under a new id.

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
	{StateNone, "no operator has spoken of the number"},
	{StateActive, "in use"},
	{StateInactive, "not used for as long as the rules name"},
	{StateParked, "kept unused on the holder's request"},
	{StateNoticed, "the holder was told when the line will churn; on that date it counts as quarantined, by the clock"},
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
	for _, r := range machine {
		becomes := ""
		if r.to != keep {
			becomes = "`" + r.to.String() + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.kind, tellers(r.by), places(r.from), becomes, r.effect)
	}
	b.WriteString(eventsRules)
	for _, m := range meanings {
		for _, to := range meanings {
			if kinds := leading(m.state, to.state); len(kinds) > 0 {
				fmt.Fprintf(&b, "    %s --> %s : %s\n", m.state, to.state, strings.Join(kinds, ", "))
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// leading lists the kinds that lead from one state to another, or that begin the
// same state anew.
func leading(from, to State) []string {
	var kinds []string
	for _, r := range machine {
		if !slices.Contains(r.from, from) || from == to && r.to == keep {
			continue
		}
		if slices.ContainsFunc(r.by, func(a Authority) bool { return r.kind.becomes(from, a) == to }) {
			kinds = append(kinds, r.kind.String())
		}
	}
	return kinds
}

func tellers(by []Authority) string {
	var names []string
	for _, a := range by {
		names = append(names, strings.ToLower(strings.ReplaceAll(a.String(), "_", " ")))
	}
	return strings.Join(names, ", ")
}

func places(from []State) string {
	switch {
	case slices.Equal(from, anyState):
		return "every state"
	case slices.Equal(from, running):
		return "every state but `" + StateEnded.String() + "`"
	}
	var names []string
	for _, s := range from {
		names = append(names, "`"+s.String()+"`")
	}
	return strings.Join(names, ", ")
}
