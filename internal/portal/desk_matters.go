package portal

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/supply"
)

// matters puts what waits for a second person into the words of one page,
// whichever package it waits in.
type matters struct {
	*Portal

	r        *http.Request
	names    cast
	entities map[uuid.UUID]string
}

func (p *Portal) matters(r *http.Request) (*matters, error) {
	names, err := p.cast(r.Context())
	return &matters{Portal: p, r: r, names: names, entities: map[uuid.UUID]string{}}, err
}

// rows are questions and orders together, the newest first.
func (m *matters) rows(questions []approval.Approval, orders []supply.Order) ([]view.ApprovalRow, error) {
	rows := make([]view.ApprovalRow, 0, len(questions)+len(orders))
	for i := range questions {
		row, err := m.question(&questions[i])
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	for i := range orders {
		rows = append(rows, m.order(&orders[i]))
	}
	slices.SortStableFunc(rows, func(a, b view.ApprovalRow) int { return b.AskedAt.Compare(a.AskedAt) })
	return rows, nil
}

var approvalStates = map[approval.State]struct {
	word string
	tone view.Tone
}{
	approval.Waiting: {"Waits for a second person", view.Info}, approval.Given: {"Confirmed", view.Good},
	approval.Refused: {"Refused", view.Neutral}, approval.Lapsed: {"Lapsed", view.Neutral},
}

const (
	ownMatter   = "You asked for this. Another administrator has to confirm it; you can withdraw it."
	aboutMatter = "This is about your own account. Another administrator has to confirm it."
	ownOrder    = "You asked for this. Another administrator or reviewer has to confirm it; you can withdraw it."
)

func (m *matters) question(a *approval.Approval) (view.ApprovalRow, error) {
	v := visitOf(m.r)
	row := view.ApprovalRow{
		Href: approvalsPath + "/" + a.ID.String(), What: string(a.Kind), About: a.Subject.String(), Reason: a.Reason, AskedBy: m.names.name(a.Asked), AskedAt: a.AskedAt,
		Expires: a.ExpiresAt, Waits: a.State == approval.Waiting, Own: isPerson(a.Asked, v.who.Account), May: v.has(administrator),
		State: approvalStates[a.State].word, Tone: approvalStates[a.State].tone, DecidedBy: m.names.name(a.Decided), DecidedAt: a.DecidedAt,
	}
	switch {
	case row.Own:
		row.Not = ownMatter
	case a.Subject == v.who.Account:
		row.Not = aboutMatter
	}
	switch a.Kind {
	case registry.RestoreRevoked:
		name, err := m.entity(a.Subject)
		if err != nil {
			return view.ApprovalRow{}, err
		}
		row.What, row.About, row.AboutHref = "Bring back a revoked organisation", name, entityHref(a.Subject)
		row.Before, row.After = string(registry.Revoked), string(registry.Approved)
		row.Effect = name + " is approved again. Its keys and the sessions of its people open again within seconds."
	case registry.GiveStaffRole:
		role, err := m.role(a)
		if err != nil {
			return view.ApprovalRow{}, err
		}
		if name := m.names.names[a.Subject]; name != "" {
			row.About = name
		}
		row.What, row.Before, row.After = "Give a role to a member of staff", role, a.Details["role"]
		row.Effect = row.About + " gets the role " + row.After + ", and all that it may do, at once."
	default:
		row.Effect = "It takes effect at once."
	}
	return row, nil
}

// role is the one that somebody has while another waits for them. What it was
// when a question was decided, the audit trail says.
func (m *matters) role(a *approval.Approval) (string, error) {
	if a.State != approval.Waiting {
		return "", nil
	}
	account, err := m.Registry.Account(m.r.Context(), m.Pool, a.Subject)
	if isCode(err, fault.NotFound) {
		return "", nil
	}
	return account.Role, err
}

// entity returns the name of an entity.
func (m *matters) entity(id uuid.UUID) (string, error) {
	if name, known := m.entities[id]; known {
		return name, nil
	}
	e, err := m.Registry.Entity(m.r.Context(), id)
	if isCode(err, fault.NotFound) {
		e.Name, err = id.String(), nil
	}
	m.entities[id] = e.Name
	return e.Name, err
}

var orderStates = map[string]struct {
	word string
	tone view.Tone
}{
	supply.OrderPending: {"Waits for a second person", view.Info}, supply.OrderDone: {"Confirmed", view.Good}, supply.OrderWithdrawn: {"Refused", view.Neutral},
}

func (m *matters) order(o *supply.Order) view.ApprovalRow {
	v := visitOf(m.r)
	row := view.ApprovalRow{
		Href: ordersHref + "/" + o.ID.String(), What: "Blacklist a number", About: o.Number.E164(), Number: true, Reason: o.Note,
		After: "BLACKLISTED", AskedBy: m.names.name(o.Asked), AskedAt: o.AskedAt, Waits: o.State == supply.OrderPending, May: v.has(decider),
		State: orderStates[o.State].word, Tone: orderStates[o.State].tone, DecidedBy: m.names.name(o.Second), DecidedAt: o.SecondAt,
		Own: isPerson(o.Asked, v.who.Account), Effect: "From the moment of your confirmation on, everybody who asks about this number is answered BLACKLISTED, until it is released.",
	}
	if row.Own {
		row.Not = ownOrder
	}
	return row
}
