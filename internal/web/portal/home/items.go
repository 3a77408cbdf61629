package home

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
	"github.com/lineproof/lineproof/internal/web/portal/rules"
)

// waitingItems is how many things of each kind the home page lists. Each leads to the page
// on which it is decided.
const waitingItems = 3

// fillWaiting fills in what waits for the visitor: the count of each kind, and its newest.
func (p *Pages) fillWaiting(r *http.Request, d *HomeData) error {
	v := portal.VisitOf(r)
	waits, err := p.work(r.Context())
	if err != nil {
		return err
	}
	for _, row := range p.waitingRows(&waits, v) {
		shown := WaitingRow{Label: row.label, N: row.n, Max: row.n >= maxWork}
		if p.Opens(v, row.href) {
			shown.Href = row.href
		}
		var list func(*http.Request) ([]kit.Link, error)
		switch row.href {
		case portal.ApprovalsPath:
			list = p.waitingApprovals
		case portal.BoardPath:
			list = p.waitingFiles
		case documents.ReviewsPath:
			list = p.waitingDocuments
		case portal.LimitsPath:
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
func (p *Pages) waitingApprovals(r *http.Request) (items []kit.Link, err error) {
	requests, err := p.Approvals.List(r.Context(), false, maxWork)
	if err != nil {
		return nil, err
	}
	orders, err := (&order.Service{Supply: p.Lines}).List(r.Context(), true, maxWork)
	if err != nil {
		return nil, err
	}
	rows, err := approvals.Rows(r, p.Portal, p.Approvals, requests, orders)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Pending && row.CanDecide && row.NotConfirmable == "" && len(items) < waitingItems {
			items = append(items, kit.Link{Label: itemText(row.What + ": " + row.Reason), Href: row.Href + "/confirm"})
		}
	}
	return items, nil
}

// waitingFiles are the newest files that are held.
func (p *Pages) waitingFiles(r *http.Request) (items []kit.Link, err error) {
	open, _, err := p.Lines.ImportPage(r.Context(), supply.ImportFilter{Open: true, Limit: maxWork})
	if err != nil || len(open) == 0 {
		return nil, err
	}
	rules, err := p.Rules(r)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if row := operators.NewImportRow(&open[i], rules.Plan, portal.ImportsPath); row.Held && len(items) < waitingItems {
			items = append(items, kit.Link{Label: row.Kind + " of " + row.NetworkName, Href: row.Href})
		}
	}
	return items, nil
}

// waitingDocuments are documents that can be reviewed.
func (p *Pages) waitingDocuments(r *http.Request) (items []kit.Link, err error) {
	list, _, err := p.Documents.List(r.Context(), document.Filter{States: []document.State{document.Clean}, Limit: waitingItems})
	for i := range list {
		items = append(items, kit.Link{Label: itemText(documents.DocumentType(list[i].Type) + " of " + list[i].EntityName), Href: documents.ReviewsPath + "/" + list[i].ID.String()})
	}
	return items, err
}

// waitingAlerts are the newest alerts that somebody has to end.
func (p *Pages) waitingAlerts(r *http.Request) (items []kit.Link, err error) {
	list, err := guard.Find(r.Context(), p.Pool, p.Now(), guard.AlertFilter{Limit: waitingItems})
	if err != nil {
		return nil, err
	}
	rows, err := rules.AlertRows(r, p.Portal, list, p.Now())
	for i := range rows {
		if rows[i].Releasable {
			items = append(items, kit.Link{Label: itemText(rows[i].Name + ": " + rows[i].Level), Href: portal.LimitsPath + "/" + rows[i].Subject + "/release"})
		}
	}
	return items, err
}
