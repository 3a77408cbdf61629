package line

import "slices"

// transition says for one kind of event which authorities may report it, in which
// states of a tenure it applies, and which state follows. The table below is the
// whole state machine: [Fold] uses it, and docs/reference/line-events.md is
// generated from it.
type transition struct {
	kind        Kind
	authorities []Authority
	from        []State
	to          State // sameState when the state does not change
	effect      string
}

const sameState State = -1

var (
	anyState = []State{StateNone, StateActive, StateInactive, StateParked, StateNoticed, StateEnded}
	notEnded = []State{StateNone, StateActive, StateInactive, StateParked, StateNoticed} // StateNone: the start of the tenure is unknown
)

// transitions are in the order in which events of the same second apply.
var transitions = []transition{
	{End, []Authority{Operator}, notEnded, StateEnded, "The tenure ends. The number is quarantined and returns to the network of its range."},
	{Reinstate, []Authority{Operator}, []State{StateEnded}, StateActive, "The holder gets the number back: the same tenure continues, with its flags and bars."},
	{Release, []Authority{Regulator}, anyState, sameState, "The number may be assigned again."},
	{Assign, []Authority{Operator}, anyState, StateActive, "A new tenure starts, without the flags, SIM changes and operator's bars of the last one. No effect while the number is blacklisted."},
	{Transfer, []Authority{Operator}, notEnded, StateActive, "The network that serves the line reports a new holder. The port, flags and the regulator's bars pass to the new tenure."},
	{Port, []Authority{ClearingHouse}, anyState, StateActive, "The number moves to the network that the event names. The holder stays the same and gets a new SIM. If the tenure had ended more than 72 hours before, a new one begins."},
	{ReleasePort, []Authority{Operator}, notEnded, sameState, "Half of a port: together with the claim of the network that it names, the number moves. Alone it has no effect."},
	{ClaimPort, []Authority{Operator}, notEnded, sameState, "Half of a port: together with the release by the network that has the number, the number moves. Alone it has no effect."},
	{ChangeSIM, []Authority{Operator}, notEnded, sameState, "The holder has a new SIM."},
	{Use, []Authority{Operator}, notEnded, StateActive, "The line is used again; a parking ends, and an announced churn is cancelled."},
	{Deactivate, []Authority{Operator}, []State{StateNone, StateActive}, StateInactive, "No revenue event for as long as the regulation names."},
	{Park, []Authority{Operator}, []State{StateNone, StateActive, StateInactive, StateNoticed}, StateParked, "The holder asked to keep the number unused."},
	{GiveNotice, []Authority{Operator}, []State{StateNone, StateActive, StateInactive, StateNoticed}, StateNoticed, "The holder was notified of the date on which the line will churn. From that date on it counts as quarantined."},
	{Unbar, []Authority{Operator, Regulator}, notEnded, sameState, "Service resumes. An event of the regulator also lifts the operator's bar; one of the operator does not lift the regulator's."},
	{Bar, []Authority{Operator, Regulator}, notEnded, sameState, "Service stops."},
	{Unflag, []Authority{Sector, Regulator}, notEnded, sameState, "A sector regulator withdraws its own flag; the regulator withdraws all flags."},
	{Flag, []Authority{Sector}, notEnded, sameState, "The holder is suspected of fraud."},
	{Blacklist, []Authority{Regulator}, anyState, sameState, "Confirmed by two people. No new tenure can start until the number is released."},
	{Void, []Authority{Operator, ClearingHouse, Sector, Regulator}, anyState, sameState, "Withdraws another event, by its reporter or by the regulator. The line is computed from the remaining events."},
	{Confirm, []Authority{Regulator}, anyState, sameState, "Lets a held event count, from now on."},
	{Restate, nil, anyState, sameState, "A later snapshot replaces what an earlier one said about the line, or has the line as it is known, which ends a doubt."},
}

// transitionOf and orderOf find the transition of a kind, and its index.
var transitionOf, orderOf = index()

func index() (byKind [Restate + 1]transition, order [Restate + 1]int) {
	for i, t := range transitions {
		byKind[t.kind], order[t.kind] = t, i
	}
	return byKind, order
}

// MayReport reports whether an authority may report events of the kind at all.
func (k Kind) MayReport(a Authority) bool {
	return k >= Assign && k <= Restate && slices.Contains(transitionOf[k].authorities, a)
}

// applies reports whether an event applies in the state. The regulator's bar on a
// number applies in every state, and so does what lifts it.
func (e *Event) applies(s State) bool {
	ofNumber := e.Authority == Regulator && (e.Kind == Bar && e.Number || e.Kind == Unbar)
	return ofNumber || slices.Contains(transitionOf[e.Kind].from, s)
}

// BeforePort reports whether events of the kind come before a port of the same
// second.
func (k Kind) BeforePort() bool { return orderOf[k] < orderOf[Port] }

// aboutReports reports whether events of the kind are about other reports.
func (k Kind) aboutReports() bool { return k == Void || k >= Confirm }

// StartsTenure reports whether the kind starts a tenure.
func (k Kind) StartsTenure() bool { return k == Assign || k == Transfer }

// Lifts reports whether the kind takes back something that an operator reported.
func (k Kind) Lifts() bool { return k == Unbar || k == Use || k == Reinstate }

// becomes returns the state after an event of the kind has applied. An operator
// that changes the SIM of a line, or bars it, serves that line; so for a number
// without a row such an event implies a tenure of unknown start. Half of a port
// does not.
func (k Kind) becomes(s State, by Authority) State {
	switch to := transitionOf[k].to; {
	case to != sameState:
		return to
	case s == StateNone && by == Operator && k != ClaimPort && k != ReleasePort && k != Void:
		return StateActive
	default:
		return s
	}
}
