package portal

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

// The paths of what waits for a second person.
const (
	approvalsPath       = "/portal/desk/approvals"
	approvalConfirmPath = "/portal/desk/approvals/{approval}/confirm"
	approvalRefusePath  = "/portal/desk/approvals/{approval}/refuse"
	ordersHref          = "/portal/desk/orders"
	orderConfirmPath    = "/portal/desk/orders/{order}/confirm"
	orderRefusePath     = "/portal/desk/orders/{order}/refuse"
)

// deskApprovalRoutes are the pages of what waits for a second person.
func (p *Portal) deskApprovalRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: approvalsPath, who: staff, serve: p.showApprovals},
		{method: get, path: approvalConfirmPath, who: administrator, serve: p.askApproval(true)},
		{method: post, path: approvalConfirmPath, who: administrator, serve: p.decideApproval(true)},
		{method: get, path: approvalRefusePath, who: administrator, serve: p.askApproval(false)},
		{method: post, path: approvalRefusePath, who: administrator, serve: p.decideApproval(false)},
		{method: get, path: orderConfirmPath, who: decider, serve: p.askOrder(true)},
		{method: post, path: orderConfirmPath, who: decider, serve: p.decideOrder(true)},
		{method: get, path: orderRefusePath, who: decider, serve: p.askOrder(false)},
		{method: post, path: orderRefusePath, who: decider, serve: p.decideOrder(false)},
	}
}

const (
	mostWaiting  = 200 // shown of each sort; nobody lets so many wait
	mostApproved = 20  // of those that were decided
)

var approvalsPage = view.Page{Title: "Approvals", Lead: "What is too dangerous for one person: it takes effect when somebody else confirms it.", Active: approvalsPath}

// showApprovals serves GET /portal/desk/approvals.
func (p *Portal) showApprovals(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	questions, err := p.Approvals.List(ctx, false, mostWaiting)
	if err != nil {
		return err
	}
	orders, err := p.Lines.Orders(ctx, true, mostWaiting)
	if err != nil {
		return err
	}
	waiting, err := p.matters(r, questions, orders)
	if err != nil {
		return err
	}
	if questions, err = p.Approvals.List(ctx, true, mostWaiting); err != nil {
		return err
	}
	if orders, err = p.Lines.DecidedOrders(ctx, mostApproved); err != nil {
		return err
	}
	over, err := p.matters(r, decided(questions), orders)
	if err != nil {
		return err
	}
	d := view.ApprovalsData{Waiting: waiting.rows(), Decided: over.rows(), Now: p.Now()}
	return p.show(w, r, approvalsPage, view.Approvals(d))
}

// decided returns the newest of those questions that no longer wait.
func decided(list []approval.Approval) []approval.Approval {
	var over []approval.Approval
	for i := range list {
		if list[i].State != approval.Waiting && len(over) < mostApproved {
			over = append(over, list[i])
		}
	}
	return over
}

// question asks whether a matter is to be confirmed, or refused.
func question(row *view.ApprovalRow, confirm bool, form view.Form) view.ConfirmData {
	q := view.ConfirmData{Text: row.Effect, Action: row.Href + "/confirm", Label: "Confirm", Kind: view.Primary, Cancel: approvalsPath, Form: form, Extra: view.ApprovalFacts(*row)}
	switch {
	case !confirm && row.Own:
		q.Text, q.Action, q.Label, q.Kind = "What you asked for is withdrawn and does not take effect.", row.Href+"/refuse", "Withdraw", view.Danger
	case !confirm:
		q.Text, q.Action, q.Label, q.Kind = "It is refused and does not take effect. Whoever asked can ask again.", row.Href+"/refuse", "Refuse", view.Danger
	}
	return q
}

func questionPage(row *view.ApprovalRow, q *view.ConfirmData) view.Page {
	return view.Page{Title: q.Label + ": " + row.What, Crumbs: []view.Link{{Label: "Approvals", Href: approvalsPath}}, Active: approvalsPath}
}

// ask shows the question of a matter that waits. Whoever cannot be the second
// person is told so, and not asked.
func (p *Portal) ask(w http.ResponseWriter, r *http.Request, row *view.ApprovalRow, confirm bool) error {
	q := question(row, confirm, view.Form{})
	if confirm && row.Not != "" {
		return p.show(w, r, questionPage(row, &q), view.ApprovalNotYours(*row))
	}
	return p.show(w, r, questionPage(row, &q), view.Confirm(q))
}

// decided ends a decision: with the list, or with the question again and why
// it was not done.
func (p *Portal) decided(w http.ResponseWriter, r *http.Request, row *view.ApprovalRow, confirm bool, err error) error {
	form, wrong := formOf(r, err)
	if isCode(err, fault.PermissionDenied) { // the rule of two is about the visitor, who may read it here
		form.Message, wrong = faultOf(err).Message, true
	}
	q := question(row, confirm, form)
	switch {
	case wrong && confirm && row.Unknown:
		return p.showAgain(w, r, err, questionPage(row, &q), view.ApprovalNotYours(*row))
	case wrong:
		return p.showAgain(w, r, err, questionPage(row, &q), view.Confirm(q))
	case err != nil:
		return err
	case confirm:
		return p.goOn(w, r, approvalsPath, "approval.given")
	}
	return p.goOn(w, r, approvalsPath, "approval.refused")
}

// approvalOf returns the question that the path names, as a row.
func (p *Portal) approvalOf(r *http.Request) (uuid.UUID, view.ApprovalRow, error) {
	id, err := idOf(r, "approval")
	if err != nil {
		return uuid.Nil, view.ApprovalRow{}, err
	}
	a, err := p.Approvals.Find(r.Context(), id)
	if err != nil {
		return uuid.Nil, view.ApprovalRow{}, err
	}
	m, err := p.matters(r, []approval.Approval{a}, nil)
	if err != nil {
		return uuid.Nil, view.ApprovalRow{}, err
	}
	return id, m.question(&a), nil
}

// askApproval serves GET of confirm and refuse of an approval.
func (p *Portal) askApproval(confirm bool) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		_, row, err := p.approvalOf(r)
		if err != nil {
			return err
		}
		if !row.Waits {
			return approval.ErrNotWaiting
		}
		return p.ask(w, r, &row, confirm)
	}
}

// decideApproval serves POST of confirm and refuse of an approval.
func (p *Portal) decideApproval(confirm bool) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := visitOf(r)
		id, row, err := p.approvalOf(r)
		if err != nil {
			return err
		}
		decide := p.Approvals.Refuse
		if confirm {
			decide = p.Approvals.Confirm
		}
		_, err = decide(r.Context(), id, v.who.Actor(), v.id)
		return p.decided(w, r, &row, confirm, err)
	}
}

// orderNamed returns the order that the path names, as a row.
func (p *Portal) orderNamed(r *http.Request) (uuid.UUID, view.ApprovalRow, error) {
	id, err := idOf(r, "order")
	if err != nil {
		return uuid.Nil, view.ApprovalRow{}, err
	}
	o, err := p.Lines.Order(r.Context(), id)
	if err != nil {
		return uuid.Nil, view.ApprovalRow{}, err
	}
	m, err := p.matters(r, nil, []supply.Order{o})
	if err != nil {
		return uuid.Nil, view.ApprovalRow{}, err
	}
	return id, m.order(&o), nil
}

// askOrder serves GET of confirm and refuse of an order.
func (p *Portal) askOrder(confirm bool) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		_, row, err := p.orderNamed(r)
		if err != nil {
			return err
		}
		if !row.Waits {
			return supply.ErrOrderNotPending
		}
		return p.ask(w, r, &row, confirm)
	}
}

// decideOrder serves POST of confirm and refuse of an order.
func (p *Portal) decideOrder(confirm bool) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := visitOf(r)
		id, row, err := p.orderNamed(r)
		if err != nil {
			return err
		}
		if confirm {
			_, err = p.Lines.ConfirmOrder(r.Context(), supply.Speaker{Authorities: []line.Authority{line.Regulator}, Actor: v.who.Actor()}, id)
		} else {
			_, err = p.Lines.RefuseOrder(r.Context(), v.who.Actor(), id, v.id)
		}
		return p.decided(w, r, &row, confirm, err)
	}
}

// isPerson reports whether an actor is the account.
func isPerson(by audit.Actor, account uuid.UUID) bool {
	return by.Kind == audit.Account && by.ID == account
}
