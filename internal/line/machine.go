package line

import "slices"

// rule says of one kind of event who may tell it, in which states of a tenure
// it applies, and what becomes of the state. The table below is the whole state
// machine: the fold goes by it, and docs/reference/line-events.md is made from
// it.
type rule struct {
	kind   Kind
	by     []Authority
	from   []State
	to     State // keep, when the state stays as it is
	effect string
}

const keep State = -1

var (
	anyState = []State{StateNone, StateActive, StateInactive, StateParked, StateNoticed, StateEnded}
	running  = []State{StateNone, StateActive, StateInactive, StateParked, StateNoticed} // None: of unknown start
)

// machine is in the order in which events of the same second apply.
var machine = []rule{
	{End, []Authority{Operator}, running, StateEnded, "The tenure ends. The number is quarantined and returns to the holder of its range."},
	{Reinstate, []Authority{Operator}, []State{StateEnded}, StateActive, "The holder gets the number back: the same tenure goes on, with its flags and bars."},
	{Release, []Authority{Regulator}, anyState, keep, "The number may be assigned again."},
	{Assign, []Authority{Operator}, anyState, StateActive, "A new tenure begins. Flags, bars and the SIM's age belong to the last one and are gone. Not while the number is blacklisted."},
	{Port, []Authority{ClearingHouse}, running, StateActive, "The number moves to the network that the event names. The holder stays, and has another SIM."},
	{ReleasePort, []Authority{Operator}, running, keep, "Half of a port: with the claim of the network that it names the number moves. Alone it changes nothing."},
	{ClaimPort, []Authority{Operator}, running, keep, "Half of a port: with the release of the network that holds the number it moves. Alone it changes nothing."},
	{ChangeSIM, []Authority{Operator}, running, keep, "The holder has another SIM."},
	{Return, []Authority{Operator}, []State{StateNone, StateParked}, StateActive, "The holder is back."},
	{Use, []Authority{Operator}, []State{StateNone, StateActive, StateInactive, StateNoticed}, StateActive, "The line is used again; an announced churn is off."},
	{Deactivate, []Authority{Operator}, []State{StateNone, StateActive}, StateInactive, "No revenue event for as long as the rules name."},
	{Park, []Authority{Operator}, []State{StateNone, StateActive, StateInactive, StateNoticed}, StateParked, "The holder asked to keep the number unused."},
	{GiveNotice, []Authority{Operator}, []State{StateNone, StateActive, StateInactive, StateNoticed}, StateNoticed, "The holder was told when the line will churn. On that date it counts as quarantined."},
	{Unbar, []Authority{Operator, Regulator}, running, keep, "Service resumes. The regulator's word lifts the operator's bar, too; not the other way round."},
	{Bar, []Authority{Operator, Regulator}, running, keep, "Service stops."},
	{Unflag, []Authority{Sector, Regulator}, running, keep, "A sector regulator takes its own flag back; the regulator takes back all of them."},
	{Flag, []Authority{Sector}, running, keep, "The tenure is suspected of fraud."},
	{Blacklist, []Authority{Regulator}, anyState, keep, "Confirmed by two people. No new tenure can begin until the number is released."},
	{Void, []Authority{Operator, ClearingHouse, Sector, Regulator}, anyState, keep, "Another event is withdrawn, by whoever told it or by the regulator. The row is what the others make."},
}

// rules and ranks find a kind's rule, and its place in the table.
var rules, ranks = index()

func index() (rules [Void + 1]rule, ranks [Void + 1]int) {
	for i, r := range machine {
		rules[r.kind], ranks[r.kind] = r, i
	}
	return rules, ranks
}

// MayTell reports whether an authority may tell events of the kind at all.
func (k Kind) MayTell(a Authority) bool {
	return k >= Assign && k <= Void && slices.Contains(rules[k].by, a)
}

// applies reports whether the kind has an effect in the state.
func (k Kind) applies(s State) bool { return slices.Contains(rules[k].from, s) }

// becomes returns the state that follows when the kind has an effect. An
// operator that changes the SIM of a line, or bars it, has one: of a number
// without a record that makes a tenure of unknown start. Half of a port does not.
func (k Kind) becomes(s State, by Authority) State {
	switch to := rules[k].to; {
	case to != keep:
		return to
	case s == StateNone && by == Operator && k != ClaimPort && k != ReleasePort && k != Void:
		return StateActive
	default:
		return s
	}
}
