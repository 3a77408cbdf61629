package portal

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

// The paths of the supply board.
const (
	boardPath        = "/portal/desk/supply"
	boardNetworkPath = "/portal/desk/supply/{network}"
	boardImportsBase = "/portal/desk/supply/imports"
	boardImportPath  = "/portal/desk/supply/imports/{import}"
	boardPartPath    = "/portal/desk/supply/imports/{import}/progress"
	boardCSVPath     = "/portal/desk/supply/imports/{import}/refused.csv"
	boardConfirmPath = "/portal/desk/supply/imports/{import}/confirm"
	boardCancelPath  = "/portal/desk/supply/imports/{import}/cancel"
)

// deskSupplyRoutes are the pages that show all operators side by side.
func (p *Portal) deskSupplyRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: boardPath, who: staff, serve: p.showBoard},
		{method: get, path: boardNetworkPath, who: staff, serve: p.showOperator},
		{method: get, path: boardImportPath, who: staff, serve: p.showAnyImport},
		{method: get, path: boardPartPath, who: staff, serve: p.showAnyImportPart},
		{method: get, path: boardCSVPath, who: staff, upload: true, serve: p.sendAnyRefused},
		{method: get, path: boardConfirmPath, who: decider, serve: p.confirmImport},
		{method: post, path: boardConfirmPath, who: decider, serve: p.confirmImport},
		{method: get, path: boardCancelPath, who: decider, serve: p.cancelImport},
		{method: post, path: boardCancelPath, who: decider, serve: p.cancelImport},
	}
}

var boardPage = view.Page{Title: "Supply board", Lead: "How every operator on the numbering plan tells what happens to its lines.", Active: boardPath}

// mostOpen is far more imports than can be open: each network has one.
const mostOpen = 1000

// showBoard serves GET /portal/desk/supply.
func (p *Portal) showBoard(w http.ResponseWriter, r *http.Request) error {
	rules, err := p.lineRules(r)
	if err != nil {
		return err
	}
	list, err := p.Lines.Standings(r.Context(), "", p.Now().UTC().AddDate(0, 0, -supplyDays))
	if err != nil {
		return err
	}
	open, _, err := p.Lines.ImportPage(r.Context(), supply.ImportFilter{Open: true, Limit: mostOpen})
	if err != nil {
		return err
	}
	d := view.BoardData{Days: supplyDays, Now: p.Now(), Open: view.ImportsData{Now: p.Now()}}
	held := map[string]int{}
	for i := range open {
		row := importRow(&open[i], rules.plan, boardImportsBase)
		d.Open.Rows = append(d.Open.Rows, row)
		if row.Held {
			held[row.Network]++
		}
	}
	for i := range list {
		d.Rows = append(d.Rows, view.BoardRow{
			StandingData: standingData(&list[i], rules.policy), Href: boardPath + "/" + url.PathEscape(list[i].Network), Held: held[list[i].Network],
		})
	}
	d.Heads = inOrder(r, d.Rows, boardColumns)
	return p.show(w, r, boardPage, view.Board(d))
}

// boardColumns are the columns of the board, in the order of its cells.
var boardColumns = []column[view.BoardRow]{
	{label: "Operator", key: "name", compare: func(a, b *view.BoardRow) int { return cmp.Compare(a.Name, b.Name) }},
	{label: "State", key: "silent", compare: func(a, b *view.BoardRow) int { return compareBools(b.Silent, a.Silent) }},
	{label: "Supplied through", key: "through", compare: func(a, b *view.BoardRow) int { return a.Through.Compare(b.Through) }},
	{label: "Share of its ranges", number: true, key: "share", compare: func(a, b *view.BoardRow) int { return cmp.Compare(share(a), share(b)) }},
	{label: "Late", number: true, key: "late", compare: func(a, b *view.BoardRow) int { return cmp.Compare(a.Late, b.Late) }},
	{label: "Early", number: true, key: "early", compare: func(a, b *view.BoardRow) int { return cmp.Compare(a.Early, b.Early) }},
	{label: "Refused", number: true, key: "refused", compare: func(a, b *view.BoardRow) int { return cmp.Compare(a.Refused, b.Refused) }},
	{label: "Held", number: true, key: "held", compare: func(a, b *view.BoardRow) int { return cmp.Compare(a.Held, b.Held) }},
}

func share(d *view.BoardRow) float64 { return float64(d.Lines) / float64(max(d.Capacity, 1)) }

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// showOperator serves GET /portal/desk/supply/{network}.
func (p *Portal) showOperator(w http.ResponseWriter, r *http.Request) error {
	rules, err := p.lineRules(r)
	if err != nil {
		return err
	}
	code := r.PathValue("network")
	n, ok := rules.plan.Network(code)
	if !ok {
		return errNoPage
	}
	d := view.OperatorData{}
	if d.Standing, err = p.standing(r, rules, code, n); err != nil {
		return err
	}
	if d.Imports, err = p.importList(r, rules, r.URL.Path, boardImportsBase, supply.ImportFilter{Network: n}); err != nil {
		return err
	}
	return p.show(w, r, view.Page{Title: d.Standing.Name, Crumbs: []view.Link{{Label: "Supply board", Href: boardPath}}, Active: boardPath}, view.Operator(d))
}

// showAnyImport serves GET /portal/desk/supply/imports/{import}.
func (p *Portal) showAnyImport(w http.ResponseWriter, r *http.Request) error {
	d, err := p.anyImportData(r)
	if err != nil {
		return err
	}
	page := importPage(&d, "Supply board", boardPath)
	page.Crumbs = append(page.Crumbs, view.Link{Label: d.Row.Called, Href: boardPath + "/" + url.PathEscape(d.Row.Network)})
	return p.show(w, r, page, view.Import(d))
}

// showAnyImportPart serves GET /portal/desk/supply/imports/{import}/progress.
func (p *Portal) showAnyImportPart(w http.ResponseWriter, r *http.Request) error {
	d, err := p.anyImportData(r)
	if err != nil {
		return err
	}
	return p.showPart(w, r, view.Import(d))
}

func (p *Portal) anyImportData(r *http.Request) (view.ImportData, error) {
	rules, err := p.lineRules(r)
	if err != nil {
		return view.ImportData{}, err
	}
	im, err := p.importNamed(r)
	if err != nil {
		return view.ImportData{}, err
	}
	d, err := p.importData(r, rules, &im, boardImportsBase)
	if err != nil {
		return view.ImportData{}, err
	}
	if visitOf(r).has(decider) && im.Open() {
		if im.State == supply.Held {
			d.Tools = append(d.Tools, view.Action{Label: "Confirm", Href: d.Row.Href + "/confirm", Kind: view.Primary})
		}
		d.Tools = append(d.Tools, view.Action{Label: "End the import", Href: d.Row.Href + "/cancel", Kind: view.Danger})
	}
	d.Moments, err = p.importMoments(r, im.ID)
	return d, err
}

// importDeeds are what is said of the entries of the audit trail about imports.
var importDeeds = map[audit.Action]struct { //nolint:exhaustive // of those about imports
	words string
	tone  view.Tone
}{
	audit.ImportBegun:     {"Sent", view.Neutral},
	audit.ImportMeant:     {"Said to be meant", view.Info},
	audit.ImportConfirmed: {"Confirmed", view.Good},
	audit.ImportCancelled: {"Ended", view.Warn},
	audit.ImportApplied:   {"Applied", view.Good},
}

// importMoments is what the audit trail says of an import.
func (p *Portal) importMoments(r *http.Request, id uuid.UUID) ([]view.Moment, error) {
	list, err := audit.List(r.Context(), p.Pool, audit.Filter{Subject: id, Limit: 50})
	if err != nil {
		return nil, err
	}
	names, err := p.trailCast(r, list)
	if err != nil {
		return nil, err
	}
	var moments []view.Moment
	for i := range list {
		deed := importDeeds[list[i].Action]
		moments = append(moments, view.Moment{At: list[i].At, Title: deed.words + ", by " + names.by(list[i].Actor), Tone: deed.tone})
	}
	return moments, nil
}

// sendAnyRefused serves GET /portal/desk/supply/imports/{import}/refused.csv.
func (p *Portal) sendAnyRefused(w http.ResponseWriter, r *http.Request) error {
	im, err := p.importNamed(r)
	if err != nil {
		return err
	}
	return p.sendRefusedRows(w, r, im)
}

// confirmImport serves GET and POST /portal/desk/supply/imports/{import}/confirm.
func (p *Portal) confirmImport(w http.ResponseWriter, r *http.Request) error {
	return p.staffStep(w, r, &confirmStep)
}

// cancelImport serves GET and POST /portal/desk/supply/imports/{import}/cancel.
func (p *Portal) cancelImport(w http.ResponseWriter, r *http.Request) error {
	return p.staffStep(w, r, &cancelStep)
}
