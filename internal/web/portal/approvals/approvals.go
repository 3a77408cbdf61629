package approvals

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths of actions that need a second person.
const (
	approvalConfirmPath = "/portal/desk/approvals/{approval}/confirm"
	approvalRefusePath  = "/portal/desk/approvals/{approval}/refuse"
	ordersPath          = "/portal/desk/orders"
	orderConfirmPath    = "/portal/desk/orders/{order}/confirm"
	orderRefusePath     = "/portal/desk/orders/{order}/refuse"
)

// approvalRoutes are the pages of actions that need a second person.
func (p *Pages) approvalRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return append(portal.Actions(p.Portal, p.pathOwnRequest, p.breakGlass()), []portal.Route{
		{Method: get, Path: portal.ApprovalsPath, Right: portal.Staff, Serve: p.showApprovals},
		{Method: get, Path: approvalConfirmPath, Right: portal.Decider, Serve: p.confirmDecision(p.approvals(), true)},
		{Method: post, Path: approvalConfirmPath, Right: portal.Decider, Action: stepup.Decide, Serve: p.decide(p.approvals(), true)},
		{Method: get, Path: approvalRefusePath, Right: portal.Decider, Serve: p.confirmDecision(p.approvals(), false)},
		{Method: post, Path: approvalRefusePath, Right: portal.Decider, Action: stepup.Decide, Serve: p.decide(p.approvals(), false)},
		{Method: get, Path: orderConfirmPath, Right: portal.Decider, Serve: p.confirmDecision(p.orders(), true)},
		{Method: post, Path: orderConfirmPath, Right: portal.Decider, Action: stepup.Order, Serve: p.decide(p.orders(), true)},
		{Method: get, Path: orderRefusePath, Right: portal.Decider, Serve: p.confirmDecision(p.orders(), false)},
		{Method: post, Path: orderRefusePath, Right: portal.Decider, Action: stepup.Order, Serve: p.decide(p.orders(), false)},
	}...)
}

const (
	maxDecided = 20 // of each kind
)

var approvalCrumb = []kit.Link{{Label: "Approvals", Href: portal.ApprovalsPath}}

var approvalsPage = kit.Page{Title: "Approvals", Lead: "Actions that need two people. They take effect when a second person confirms them.", Active: portal.ApprovalsPath}

// showApprovals serves GET /portal/desk/approvals.
func (p *Pages) showApprovals(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	approvals, err := p.Approvals.List(ctx, false, portal.MaxWaiting)
	if err != nil {
		return err
	}
	orders, err := p.orderService().List(ctx, true, portal.MaxWaiting)
	if err != nil {
		return err
	}
	d := ApprovalsData{Now: p.Now()}
	if d.Waiting, err = Rows(r, p.Portal, p.Approvals, approvals, orders); err != nil {
		return err
	}
	if approvals, err = p.Approvals.List(ctx, true, portal.MaxWaiting); err != nil {
		return err
	}
	if orders, err = p.orderService().Decided(ctx, maxDecided); err != nil {
		return err
	}
	if d.Decided, err = Rows(r, p.Portal, p.Approvals, decided(approvals), orders); err != nil {
		return err
	}
	return p.Show(w, r, approvalsPage, Approvals(d))
}

// decided returns the newest approvals that no longer wait.
func decided(list []approval.Approval) []approval.Approval {
	var past []approval.Approval
	for i := range list {
		if list[i].State != approval.Waiting && len(past) < maxDecided {
			past = append(past, list[i])
		}
	}
	return past
}

// decisionQuestion is the form in which an action is confirmed or rejected.
func decisionQuestion(row *ApprovalRow, confirm bool, form kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{Text: row.Effect, Action: row.Href + "/confirm", Label: "Confirm", Kind: kit.Primary, Cancel: portal.ApprovalsPath, Form: form, Extra: ApprovalFacts(*row)}
	if confirm {
		if row.Severe {
			q.Kind = kit.Danger
		}
		return q
	}
	q.Action, q.Label = row.Href+"/refuse", "Reject"
	switch {
	case row.Acts:
		q.Text = "Nobody can confirm it then, and it ends at the time below. To end it sooner, order UNBAR."
	case row.Own:
		q.Text, q.Label = "Your request is withdrawn and does not take effect.", "Withdraw"
	default:
		q.Text = "It is rejected and does not take effect. The person who requested it can request it again."
	}
	if !row.Own {
		q.Extra = Rejection(*row, form)
	}
	return q
}

func decisionPage(row *ApprovalRow, q *kit.ConfirmData) kit.Page {
	return kit.Page{Title: q.Label + ": " + row.What, Crumbs: approvalCrumb, Active: portal.ApprovalsPath}
}

// showDecision shows the form of an action that waits. A visitor who cannot be the
// second person reads why, and gets no form.
func (p *Pages) showDecision(w http.ResponseWriter, r *http.Request, row *ApprovalRow, confirm bool) error {
	q := decisionQuestion(row, confirm, kit.Form{})
	if confirm && row.NotConfirmable != "" {
		return p.Show(w, r, decisionPage(row, &q), ApprovalNotYours(*row))
	}
	return p.Show(w, r, decisionPage(row, &q), kit.Confirm(q))
}

// finishDecision leads to the list, or shows the form again with the reason why the
// decision failed.
func (p *Pages) finishDecision(w http.ResponseWriter, r *http.Request, row *ApprovalRow, confirm bool, err error) error {
	form, invalid := portal.FormErrors(r, err)
	if portal.IsCode(err, fault.PermissionDenied) { // the visitor cannot be the second person; the form says why
		form.Message, invalid = portal.FaultOf(err).Message, true
	}
	q := decisionQuestion(row, confirm, form)
	switch {
	case invalid && confirm && row.Unknown:
		return p.ShowInvalid(w, r, err, decisionPage(row, &q), ApprovalNotYours(*row))
	case invalid:
		return p.ShowInvalid(w, r, err, decisionPage(row, &q), kit.Confirm(q))
	case err != nil:
		return err
	case confirm:
		return p.RedirectWithFlash(w, r, portal.ApprovalsPath, "approval.given")
	case row.Acts:
		return p.RedirectWithFlash(w, r, portal.ApprovalsPath, "approval.bar.acts")
	}
	return p.RedirectWithFlash(w, r, portal.ApprovalsPath, "approval.refused")
}

// pendingRow is a change that waits for a second person, and its row.
type pendingRow struct {
	id  uuid.UUID
	row ApprovalRow
}

// pathApproval returns the approval that the path names, with its row.
func (p *Pages) pathApproval(r *http.Request) (pendingRow, error) {
	id, err := portal.PathID(r, "approval")
	if err != nil {
		return pendingRow{}, err
	}
	a, err := p.Approvals.Find(r.Context(), id)
	if err != nil {
		return pendingRow{}, err
	}
	rows, err := Rows(r, p.Portal, p.Approvals, []approval.Approval{a}, nil)
	if err != nil {
		return pendingRow{}, err
	}
	return pendingRow{id, rows[0]}, nil
}

// About returns the rows of the newest request of a kind about a subject, or none.
func About(r *http.Request, p *portal.Portal, all *approval.Service, kind approval.Kind, subject uuid.UUID) ([]ApprovalRow, error) {
	list, err := all.List(r.Context(), true, portal.MaxWaiting)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Kind == kind && list[i].Subject == subject {
			return Rows(r, p, all, list[i:i+1], nil)
		}
	}
	return nil, nil
}

// pathOrder returns the order that the path names, with its row.
func (p *Pages) pathOrder(r *http.Request) (pendingRow, error) {
	id, err := portal.PathID(r, "order")
	if err != nil {
		return pendingRow{}, err
	}
	o, err := p.orderService().Find(r.Context(), id)
	if err != nil {
		return pendingRow{}, err
	}
	rows, err := Rows(r, p.Portal, p.Approvals, nil, []order.Order{o})
	if err != nil {
		return pendingRow{}, err
	}
	at := pendingRow{id, rows[0]}
	return at, p.previewOrder(r, &o, &at.row)
}

// previewOrder fills in the answer about the number now, and with the order. Who sees
// the page learns the number's status, so it is recorded like every look-up.
func (p *Pages) previewOrder(r *http.Request, o *order.Order, row *ApprovalRow) error {
	if !row.Pending || !row.CanDecide || r.Method != http.MethodGet {
		return nil
	}
	v := portal.VisitOf(r)
	would, err := p.orderService().PreviewOf(r.Context(), supply.Supplier{Actor: v.Who.Actor()}, *o)
	if _, invalid := portal.FormErrors(r, err); invalid {
		return nil // the confirmation says why it is not possible
	}
	if err != nil {
		return err
	}
	_, err = p.Lines.StaffLookup(r.Context(), supply.HistoryQuery{Number: o.Number}, p.LookUp(r, "Decides on order "+o.ID.String()))
	row.Before, row.After = string(would.Before.Status), string(would.After.Status)
	row.BeforeTone, row.AfterTone = kit.StatusTone(row.Before), kit.StatusTone(row.After)
	return err
}

// waiting is an action that waits for a second person, as its decision needs it.
type waiting struct {
	find       func(*http.Request) (pendingRow, error) // the one that the path names
	decide     func(ctx context.Context, id uuid.UUID, confirm bool, reason string, v *portal.Visit) error
	notWaiting error // for one that was decided already
}

func (p *Pages) approvals() waiting {
	return waiting{find: p.pathApproval, notWaiting: approval.ErrNotWaiting, decide: func(ctx context.Context, id uuid.UUID, confirm bool, reason string, v *portal.Visit) (err error) {
		if confirm {
			_, err = p.Approvals.Confirm(ctx, id, v.Who.Actor(), v.ID)
		} else {
			_, err = p.Approvals.Refuse(ctx, id, reason, v.Who.Actor(), v.ID)
		}
		return err
	}}
}

func (p *Pages) orderService() *order.Service {
	return &order.Service{Supply: p.Lines, CheckClient: access.CheckOrders}
}

func (p *Pages) orders() waiting {
	return waiting{find: p.pathOrder, notWaiting: order.ErrNotPending, decide: func(ctx context.Context, id uuid.UUID, confirm bool, reason string, v *portal.Visit) (err error) {
		if confirm {
			_, err = p.orderService().Confirm(ctx, supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: v.Who.Actor()}, id)
		} else {
			_, err = p.orderService().Refuse(ctx, v.Who.Actor(), id, reason, v.ID)
		}
		return err
	}}
}

// confirmDecision serves GET of the pages confirm and refuse.
func (p *Pages) confirmDecision(a waiting, confirm bool) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		at, err := a.find(r)
		if err != nil {
			return err
		}
		if !at.row.CanDecide { // the rule of this action wants another role
			return portal.ErrNotFound
		}
		if !at.row.Pending {
			return a.notWaiting
		}
		return p.showDecision(w, r, &at.row, confirm)
	}
}

// decide serves POST of the pages confirm and refuse.
func (p *Pages) decide(a waiting, confirm bool) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		at, err := a.find(r)
		if err != nil {
			return err
		}
		if !at.row.CanDecide {
			return portal.ErrNotFound
		}
		return p.finishDecision(w, r, &at.row, confirm, a.decide(r.Context(), at.id, confirm, portal.OneLine(r.PostFormValue("reason")), portal.VisitOf(r)))
	}
}
