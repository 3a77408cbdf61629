package line

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/reference/line-events.md")

// The committed page agrees with the state machine.
func TestReferenceOfEventsIsFresh(t *testing.T) {
	t.Parallel()

	path := "../../docs/reference/line-events.md"
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
// which it applies, and a sentence about its effect. Only what a later snapshot causes
// is reported by nobody.
func TestEveryKindHasATransition(t *testing.T) {
	t.Parallel()

	var kinds []Kind
	for _, r := range transitions {
		kinds = append(kinds, r.kind)
		ofSnapshot := r.kind == Restate
		if (len(r.authorities) == 0) != ofSnapshot || len(r.from) == 0 || !strings.HasSuffix(r.effect, ".") {
			t.Errorf("the transition of %s is not complete: %+v", r.kind, r)
		}
		for _, s := range append(slices.Clone(r.from), r.to) {
			if s != sameState && !slices.Contains(anyState, s) {
				t.Errorf("the transition of %s has the state %d", r.kind, s)
			}
		}
		if want := len(kinds) - 1; orderOf[r.kind] != want {
			t.Errorf("%s is number %d of the table, and applies as number %d", r.kind, want, orderOf[r.kind])
		}
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(Kinds(), kinds); diff != "" {
		t.Errorf("the kinds of the table (-all +in the table):\n%s", diff)
	}
}

// The fold follows the table: an event changes the state as the table says, in the
// states that the table names and in no other. (What the regulator lifts, it lifts in
// every state, as the page says below the table.)
func TestFoldFollowsTheTable(t *testing.T) {
	t.Parallel()

	const at = 10 * 86400
	leadsTo := [...]Kind{StateActive: Use, StateInactive: Deactivate, StateParked: Park, StateNoticed: GiveNotice, StateEnded: End}
	for _, r := range transitions {
		if r.kind.aboutReports() || r.kind == ClaimPort || r.kind == ReleasePort {
			continue // they act together with another event
		}
		for _, a := range r.authorities {
			for _, s := range anyState {
				h := &History{Events: []Event{
					{Seq: 1, Kind: Flag, Authority: Sector, Until: Never, EndedAfter: Never},
					{Seq: 3, Kind: r.kind, Authority: a, Effective: at, ReportedAt: Instant(at).Time(), Peer: 2, Until: Never, EndedAfter: Never},
				}}
				if a == Operator {
					h.Events[1].Network = 1
				}
				if s != StateNone {
					h.Events = append(h.Events, Event{Seq: 2, Kind: leadsTo[s], Authority: Operator, Network: 1, Effective: 1, Until: 2 * at, EndedAfter: Never})
				}
				want, outcome := s, NoEffect
				if slices.Contains(r.from, s) || r.kind == Unbar && a == Regulator {
					want, outcome = r.kind.becomes(s, a), Applied
				}
				if row, got := Fold(h, noTerms, Forever); got[1] != outcome || row.State != want {
					t.Errorf("%s by %s in state %s: outcome %d, state %s; the table says %d, %s", r.kind, a, s, got[1], row.State, outcome, want)
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
effect; it takes effect once the missing earlier events are reported. What happens to an event can change with each later report, because the state of a line is the result of
all of its events, in the order of their effect.

Events of the same second apply in the order of this table, and events of one kind in the order in which they were reported. An empty cell
means that the state does not change.

| event | reported by | applies in | new state | effect |
| --- | --- | --- | --- | --- |
`

const eventsRules = `
What the table does not show are [the rules of lines](../explanation/lines.md). Of them these are asked most often:

- **The first event of an operator about a number** (` + "`NONE`" + `) implies a tenure. Its start is unknown unless the event is ` + "`ASSIGNED`" + `. So an operator that
  reports only SIM swaps, or only churn, is useful from its first day. Half of a port implies nothing.
- **What an operator reports about a line that it did not serve then** waits for the port to it (` + "`NOT_SERVING`" + `). It is refused (` + "`NOT_YOURS`" + `) only from the last donor of the number, which has not claimed it back since.
- **After the end of a tenure** nothing that belongs to it is shown but the regulator's bars. ` + "`REINSTATED`" + ` restores it, with what was reported meanwhile, and ` + "`ASSIGNED`" + ` begins without it.
- **The regulator lifts its bars** all at once, in every state.
- **A withdrawn event** counts as never reported. But an operator's void of a ` + "`SIM_CHANGED`" + `, an ` + "`ASSIGNED`" + ` or a ` + "`TRANSFERRED`" + ` later than an hour after its report leaves the signal of the change, marked *contested*. A void cannot
  be voided; report the event again under a new id.
- **` + "`RESTATED`" + `** is reported by nobody: the service stores it when it reads a later snapshot.

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
	if len(by) == 0 {
		return "the service, from a snapshot"
	}
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
