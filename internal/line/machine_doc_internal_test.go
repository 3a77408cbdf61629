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
		ofSnapshot := r.kind == Restate || r.kind == Name || r.kind == Miss
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
				want, outcome := s, NotInState
				if slices.Contains(r.from, s) || r.kind == Unbar && a == Regulator {
					want, outcome = r.kind.becomes(s, a), Applied
				}
				if r.kind == Port && s == StateEnded {
					outcome = Revived
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
What the table does not show:

- **The first event of an operator about a number** (` + "`NONE`" + `) implies a tenure. Its start is unknown unless the event is ` + "`ASSIGNED`" + `. So an operator that
  reports only SIM swaps, or only churn, is useful from its first day. Half of a port implies nothing.
- **An operator reports about lines that it serves.** What it reports about a line that was not with it when the event took effect is *pending*: it is stored and has
  no effect, until it turns out by a port that the line was with it. It is refused (` + "`NOT_YOURS`" + `) only from the last donor of the number, which has not claimed it back since.
  ` + "`ASSIGNED`" + ` is reported only by the network that holds the range. After the end of a tenure the number is back with that network. Only the network
  that ended a tenure can report ` + "`REINSTATED`" + `.
- **A held event** has no effect until the regulator confirms it (` + "`CONFIRMED`" + `), and counts from then on. Held are events that took effect longer ago than ` + "`backdatingDays`" + ` (not those of the regulator), an operator's void of an ` + "`ENDED`" + `,
  an ` + "`ASSIGNED`" + ` where a bar of the regulator on the number is in force or where it is early and a bar on the holder or a flag would still be in force, what a newer snapshot contradicts, and events beyond the
  share of a network's lines that one supplier may end, move or give to new holders within 7 days (` + "`holdPercent`" + `, at least 1,000 lines).
- **A port by claim and release** takes effect at the later of the two, if the network that has the number released it to the claiming network and the two are at most 30 days apart. Each half is used
  once, and a release meets the earliest reported claim that fits. A half that was withdrawn before the other was reported does not meet it, and a release ends with the next port of the number. The state then becomes ` + "`ACTIVE`" + `.
- **Halves that have met are locked.** A network's ` + "`VOIDED`" + ` of its half counts once the other network has voided the other half. The regulator can withdraw either.
- **What the donor reports when the port is known** (the donor is the network that had the line just before it), about the time before it, counts if it adds a change or a bar. ` + "`ENDED`" + `, ` + "`ASSIGNED`" + ` and ` + "`TRANSFERRED`" + ` are *superseded*, unless it is an end alone at most 72 hours before the port; ` + "`UNBARRED`" + `, ` + "`USED`" + `, ` + "`RETURNED`" + `, ` + "`REINSTATED`" + ` and
  ` + "`VOIDED`" + ` are *overtaken*: they have no effect, and staff are shown a conflict. A port that is withdrawn restores them.
- **An end at most 72 hours before a port** gives way to it, and the tenure goes on at the recipient; unless the same operator, before the port was known, also reported a new holder or a reinstatement in between. An older end that was
  reported before the port was known stands: the port then begins a new tenure, and staff are shown a conflict.
- **The operator's bar** ends with the tenure, and the recipient of a port may lift it. **A bar of the regulator** is on the holder or on the number. One on the holder lasts until the rest (` + "`quarantineDays`" + `) after the
  end of the tenure is over; it stays on a tenure that begins before, unless that ` + "`ASSIGNED`" + ` was held and the regulator confirmed it. One on the number applies in every state, ` + "`QUARANTINED`" + ` included, and to every
  holder. Only the regulator lifts them, all at once and in every state. A bar that one person ordered lasts 72 hours, or, if a second person confirms it, until it is lifted. A second bar of the same sort
  does not shorten the first.
- **Flags** are kept by level and end with the tenure. ` + "`TRANSFERRED`" + ` passes them on with the port and the regulator's bars; the operator's bar ends.
- **A blacklisting** belongs to the number and continues after the end of the tenure. While it lasts there is no new tenure, not by a port either.
- **After the end of a tenure** nothing that belongs to it is shown but the regulator's bars. ` + "`REINSTATED`" + ` restores it, and ` + "`ASSIGNED`" + ` begins without it.
- **An announced churn** ends the tenure at its date, without a further event; what is reported about a later time applies to a number in ` + "`QUARANTINED`" + `. Before a port the date is an end like any other.
- **A withdrawn event** counts as never reported. But an operator's void of a ` + "`SIM_CHANGED`" + `, an ` + "`ASSIGNED`" + ` or a ` + "`TRANSFERRED`" + `, and that of a port by both networks, leaves the signal of the change, marked *contested*, until its
  window would have ended or the tenure ends, if the change had counted. The void of an ` + "`ENDED`" + ` is held: until the regulator confirms it the end stands, marked contested. Voids by the regulator, the clearing house and sector regulators leave nothing. A void cannot
  be voided; report the event again under a new id.
- **` + "`RESTATED`" + `, ` + "`NAMED`" + ` and ` + "`MISSING`" + `** are reported by nobody: the service stores them when it reads a later snapshot.

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
	case slices.Equal(from, running):
		return "every state but `" + StateNone.String() + "` and `" + StateEnded.String() + "`"
	case slices.Equal(from, notEnded):
		return "every state but `" + StateEnded.String() + "`"
	}
	var names []string
	for _, s := range from {
		names = append(names, "`"+s.String()+"`")
	}
	return strings.Join(names, ", ")
}
