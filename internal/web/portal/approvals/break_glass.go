package approvals

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// pathOwnRequest returns the approval that the path names. Only whoever requested it is shown
// the question; the form itself says why it is refused.
func (p *Pages) pathOwnRequest(r *http.Request) (pendingRow, error) {
	at, err := p.pathApproval(r)
	if err == nil && r.Method != http.MethodPost && !at.row.CanBreak {
		return at, portal.ErrNotFound
	}
	return at, err
}

// breakGlass is for a change that cannot wait for a second person.
func (p *Pages) breakGlass() portal.Action[pendingRow] {
	return portal.Action[pendingRow]{
		Path: "/portal/desk/approvals/{approval}/break-glass", Right: portal.Decider, Change: stepup.Decide,
		Ask: func(at *pendingRow, _ kit.Form) kit.ConfirmData {
			return kit.ConfirmData{
				Title: "Break glass", Crumbs: approvalCrumb, Label: "Notify all staff", Kind: kit.Danger, Cancel: portal.ApprovalsPath, Reason: true, Extra: ApprovalFacts(at.row),
				Text: "For a change that cannot wait until there is a second person: all staff get an e-mail now, and everybody who could confirm it can reject it. After 24 hours you can confirm it yourself. " +
					"Say why it cannot wait.",
			}
		},
		Do: func(r *http.Request, v *portal.Visit, at *pendingRow) (string, error) {
			_, err := p.Approvals.BreakGlass(r.Context(), at.id, portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
			return "approval.broken", err
		},
	}
}
