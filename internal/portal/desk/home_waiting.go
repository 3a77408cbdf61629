package desk

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/supply"
)

// waitingItems is how many things of each kind the home page lists. Each leads to the page
// on which it is decided.
const waitingItems = 3

// fillWaiting fills in what waits for the visitor: the count of each kind, and its newest.
func (p *Pages) fillWaiting(r *http.Request, d *deskview.HomeData) error {
	v := portal.VisitOf(r)
	waits, err := p.work(r.Context())
	if err != nil {
		return err
	}
	for _, row := range p.waitingRows(&waits, v) {
		shown := deskview.WaitingRow{Label: row.label, N: row.n, Max: row.n >= maxWork}
		if p.Opens(v, row.href) {
			shown.Href = row.href
		}
		var list func(*http.Request) ([]view.Link, error)
		switch row.href {
		case approvalsPath:
			list = p.waitingApprovals
		case boardPath:
			list = p.waitingFiles
		case documentsPath:
			list = p.waitingDocuments
		case limitsPath:
			list = p.waitingAlerts
		}
		if list != nil {
			if shown.Items, err = list(r); err != nil {
				return err
			}
			shown.N = max(shown.N, len(shown.Items)) // the count can be a few seconds old
		}
		d.Waiting = append(d.Waiting, shown)
	}
	return nil
}

// itemText shortens a text for the list.
func itemText(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return text
}

// waitingApprovals are the newest requests of others that the visitor may confirm.
func (p *Pages) waitingApprovals(r *http.Request) (items []view.Link, err error) {
	approvals, err := p.Approvals.List(r.Context(), false, maxWork)
	if err != nil {
		return nil, err
	}
	orders, err := p.orderService().List(r.Context(), true, maxWork)
	if err != nil {
		return nil, err
	}
	m, err := p.approvalRows(r, approvals, orders)
	if err != nil {
		return nil, err
	}
	for _, row := range m.rows() {
		if row.Pending && row.CanDecide && row.NotConfirmable == "" && len(items) < waitingItems {
			items = append(items, view.Link{Label: itemText(row.What + ": " + row.Reason), Href: row.Href + "/confirm"})
		}
	}
	return items, nil
}

// waitingFiles are the newest files that are held.
func (p *Pages) waitingFiles(r *http.Request) (items []view.Link, err error) {
	open, _, err := p.Lines.ImportPage(r.Context(), supply.ImportFilter{Open: true, Limit: maxWork})
	if err != nil || len(open) == 0 {
		return nil, err
	}
	rules, err := p.Rules(r)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if row := present.ImportRow(&open[i], rules.Plan, boardImportsPath); row.Held && len(items) < waitingItems {
			items = append(items, view.Link{Label: row.Kind + " of " + row.NetworkName, Href: row.Href})
		}
	}
	return items, nil
}

// waitingDocuments are documents that can be reviewed.
func (p *Pages) waitingDocuments(r *http.Request) (items []view.Link, err error) {
	list, _, err := p.Documents.List(r.Context(), document.Filter{States: []document.State{document.Clean}, Limit: waitingItems})
	for i := range list {
		items = append(items, view.Link{Label: itemText(present.DocumentType(list[i].Type) + " of " + list[i].EntityName), Href: documentsPath + "/" + list[i].ID.String()})
	}
	return items, err
}

// waitingAlerts are the newest alerts that somebody has to end.
func (p *Pages) waitingAlerts(r *http.Request) (items []view.Link, err error) {
	list, err := guard.Find(r.Context(), p.Pool, p.Now(), guard.AlertFilter{Limit: waitingItems})
	if err != nil {
		return nil, err
	}
	rows, err := p.alertRows(r, list, p.Now())
	for i := range rows {
		if rows[i].Releasable {
			items = append(items, view.Link{Label: itemText(rows[i].Name + ": " + rows[i].Level), Href: limitsPath + "/" + rows[i].Subject + "/release"})
		}
	}
	return items, err
}
