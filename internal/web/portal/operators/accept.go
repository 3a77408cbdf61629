package operators

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// acceptTopic serves GET and POST /portal/desk/accept-topic/{network}/{topic}: the request that a
// topic be believed again whose statements were false too often.
func (p *StaffPages) acceptTopic(w http.ResponseWriter, r *http.Request) error {
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	code, topic := r.PathValue("network"), r.PathValue("topic")
	n, ok := rules.Plan.Network(code)
	if !ok || topic != "LIFECYCLE" && topic != "SIM" {
		return portal.ErrNotFound
	}
	back := portal.BoardPath + "/" + url.PathEscape(code)
	page := func(r *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
		head, body := portal.Question(r, kit.ConfirmData{
			Title: "Accept " + topic + " again", Crumbs: []kit.Link{boardParent, {Label: rules.Plan.Name(n), Href: back}},
			Text: "The operator's statements about " + topic + " were false too often, so that its lines are answered with UNKNOWN. Request it when you know what was wrong and that it is corrected. " +
				"They are believed again when a second person has confirmed it, under Approvals.",
			Label: "Request approval", Kind: kit.Danger, Cancel: back, Reason: true,
		}, f)
		return head, body, nil
	}
	if r.Method != http.MethodPost {
		return p.ShowForm(page)(w, r)
	}
	v := portal.VisitOf(r)
	_, err = (&order.Service{Supply: p.Lines}).Accept(r.Context(), order.Acceptance{
		Network: code, Topic: topic, Reason: portal.OneLine(r.PostFormValue("reason")), By: v.Who.Actor(), Request: v.ID,
	})
	return p.EndForm(w, r, err, page, back, "import.requested")
}
