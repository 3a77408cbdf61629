package desk

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
)

var breakGlassPage = view.Page{Title: "Break glass", Crumbs: []view.Link{{Label: "Approvals", Href: approvalsPath}}, Active: approvalsPath}

func breakGlassQuestion(row *deskview.ApprovalRow, form view.Form) view.ConfirmData {
	return view.ConfirmData{
		Text: "For a change that cannot wait until there is a second person: all staff get an e-mail now, and everybody who could confirm it can reject it. After 24 hours you can confirm it yourself. " +
			"Say why it cannot wait.",
		Action: row.Href + "/break-glass", Label: "Notify all staff", Kind: view.Danger, Cancel: approvalsPath, Reason: true, Form: form, Extra: deskview.ApprovalFacts(*row),
	}
}

// confirmBreakGlass serves GET /portal/desk/approvals/{approval}/break-glass, and
// breakGlass POST.
func (p *Pages) confirmBreakGlass(w http.ResponseWriter, r *http.Request) error {
	_, row, err := p.pathApproval(r)
	if err != nil {
		return err
	}
	if !row.CanBreak {
		return portal.ErrNotFound
	}
	return p.Show(w, r, breakGlassPage, view.Confirm(breakGlassQuestion(&row, view.Form{})))
}

func (p *Pages) breakGlass(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	id, row, err := p.pathApproval(r)
	if err != nil {
		return err
	}
	_, err = p.Approvals.BreakGlass(r.Context(), id, portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, breakGlassPage, view.Confirm(breakGlassQuestion(&row, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, approvalsPath, "approval.broken")
}
