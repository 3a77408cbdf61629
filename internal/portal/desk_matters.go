package portal

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/supply"
)

// matters puts what waits for a second person into the words of one page,
// whichever package it waits in.
type matters struct {
	questions []approval.Approval
	orders    []supply.Order
	names     cast
	visit     *visit
	approvals *approval.Desk
}

// matters looks up everybody and everything that some questions and orders name.
func (p *Portal) matters(r *http.Request, questions []approval.Approval, orders []supply.Order) (*matters, error) {
	var actors []audit.Actor
	var subjects []uuid.UUID
	for i := range questions {
		actors, subjects = append(actors, questions[i].Asked, questions[i].Decided), append(subjects, questions[i].Subject)
	}
	for i := range orders {
		actors = append(actors, orders[i].Asked, orders[i].Second)
	}
	names, err := p.cast(r.Context(), actors, subjects...)
	return &matters{questions: questions, orders: orders, names: names, visit: visitOf(r), approvals: p.Approvals}, err
}

// rows are questions and orders together, the newest first.
func (m *matters) rows() []view.ApprovalRow {
	rows := make([]view.ApprovalRow, 0, len(m.questions)+len(m.orders))
	for i := range m.questions {
		rows = append(rows, m.question(&m.questions[i]))
	}
	for i := range m.orders {
		rows = append(rows, m.order(&m.orders[i]))
	}
	slices.SortStableFunc(rows, func(a, b view.ApprovalRow) int { return b.AskedAt.Compare(a.AskedAt) })
	return rows
}

var approvalStates = map[approval.State]struct {
	word string
	tone view.Tone
}{
	approval.Waiting: {"Waits for a second person", view.Info}, approval.Given: {"Confirmed", view.Good},
	approval.Refused: {"Refused", view.Neutral}, approval.Lapsed: {"Lapsed", view.Neutral},
}

const (
	unknownKind = "This version of the service does not know what this is, and cannot do it."
	ownMatter   = "You asked for this. Another administrator has to confirm it; you can withdraw it."
	aboutMatter = "This is about your own account. Another administrator has to confirm it."
	ownOrder    = "You asked for this. Another administrator or reviewer has to confirm it; you can withdraw it."
)

func (m *matters) question(a *approval.Approval) view.ApprovalRow {
	who := m.visit.who.Account
	row := view.ApprovalRow{
		Href: approvalsPath + "/" + a.ID.String(), What: string(a.Kind), About: m.names.called(a.Subject, a.Subject.String()), Reason: a.Reason, AskedBy: m.names.name(a.Asked), AskedAt: a.AskedAt,
		Expires: a.ExpiresAt, Waits: a.State == approval.Waiting, Own: isPerson(a.Asked, who), May: m.visit.has(administrator),
		State: approvalStates[a.State].word, Tone: approvalStates[a.State].tone, DecidedBy: m.names.name(a.Decided), DecidedAt: a.DecidedAt,
	}
	switch {
	case !m.approvals.Knows(a.Kind):
		row.Not, row.Unknown = unknownKind, true
	case row.Own:
		row.Not = ownMatter
	case a.Subject == who:
		row.Not = aboutMatter
	}
	switch a.Kind {
	case registry.RestoreRevoked:
		row.What, row.AboutHref = "Bring back a revoked organisation", entityHref(a.Subject)
		row.Before, row.After = string(registry.Revoked), string(registry.Approved)
		row.Effect = row.About + " is approved again. Its keys and the sessions of its people open again within seconds."
	case registry.GiveStaffRole:
		row.What, row.After = "Give a role to a member of staff", a.Details["role"]
		if row.Waits { // what it was when a question was decided, the audit trail says
			row.Before = m.names.names[a.Subject].Role
		}
		row.Effect = row.About + " gets the role " + row.After + ", and all that it may do, at once."
	default:
		row.What = "Unknown to this version: " + string(a.Kind)
	}
	return row
}

var orderStates = map[string]struct {
	word string
	tone view.Tone
}{
	supply.OrderPending: {"Waits for a second person", view.Info}, supply.OrderDone: {"Confirmed", view.Good}, supply.OrderWithdrawn: {"Refused", view.Neutral},
}

func (m *matters) order(o *supply.Order) view.ApprovalRow {
	row := view.ApprovalRow{
		Href: ordersHref + "/" + o.ID.String(), What: "Blacklist a number", About: o.Number.E164(), Number: true, Reason: o.Note,
		After: "BLACKLISTED", AskedBy: m.names.name(o.Asked), AskedAt: o.AskedAt, Waits: o.State == supply.OrderPending, May: m.visit.has(decider),
		State: orderStates[o.State].word, Tone: orderStates[o.State].tone, DecidedBy: m.names.name(o.Second), DecidedAt: o.SecondAt,
		Own: isPerson(o.Asked, m.visit.who.Account), Effect: "From the moment of your confirmation on, everybody who asks about this number is answered BLACKLISTED, until it is released.",
	}
	if row.Own {
		row.Not = ownOrder
	}
	return row
}
