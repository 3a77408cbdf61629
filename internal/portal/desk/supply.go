package desk

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/supply"
)

// The paths of the supply board.
const (
	boardPath         = "/portal/desk/supply"
	boardNetworkPath  = "/portal/desk/supply/{network}"
	boardImportsPath  = "/portal/desk/supply/imports"
	boardImportPath   = "/portal/desk/supply/imports/{import}"
	boardProgressPath = "/portal/desk/supply/imports/{import}/progress"
	boardCSVPath      = "/portal/desk/supply/imports/{import}/refused.csv"
	boardConfirmPath  = "/portal/desk/supply/imports/{import}/confirm"
	boardCancelPath   = "/portal/desk/supply/imports/{import}/cancel"
)

// supplyRoutes are the pages that show all operators side by side.
func (p *Pages) supplyRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: boardPath, Right: portal.Staff, Serve: p.showBoard},
		{Method: get, Path: boardNetworkPath, Right: portal.Staff, Serve: p.showNetwork},
		{Method: get, Path: boardImportPath, Right: portal.Staff, Serve: p.showImport},
		{Method: get, Path: boardProgressPath, Right: portal.Staff, Serve: p.showImportProgress},
		{Method: get, Path: boardCSVPath, Right: portal.Staff, Upload: true, Serve: p.sendRejected},
		{Method: get, Path: boardConfirmPath, Right: portal.Decider, Serve: p.confirmImport},
		{Method: post, Path: boardConfirmPath, Right: portal.Decider, Prove: true, Serve: p.confirmImport},
		{Method: get, Path: boardCancelPath, Right: portal.Decider, Serve: p.cancelImport},
		{Method: post, Path: boardCancelPath, Right: portal.Decider, Serve: p.cancelImport},
	}
}

var boardParent = view.Link{Label: "Supply board", Href: boardPath}

var boardPage = view.Page{Title: "Supply board", Lead: "How well every operator on the numbering plan supplies its lines.", Active: boardPath}

// maxOpenImports is far above the number of open imports: each network can have
// one.
const maxOpenImports = 1000

// showBoard serves GET /portal/desk/supply.
func (p *Pages) showBoard(w http.ResponseWriter, r *http.Request) error {
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	list, err := p.Lines.NetworkStatuses(r.Context(), "", p.Now().UTC().AddDate(0, 0, -present.SupplyDays))
	if err != nil {
		return err
	}
	open, _, err := p.Lines.ImportPage(r.Context(), supply.ImportFilter{Open: true, Limit: maxOpenImports})
	if err != nil {
		return err
	}
	d := deskview.BoardData{Days: present.SupplyDays, Now: p.Now(), Held: orgview.ImportsData{Now: p.Now()}, Open: orgview.ImportsData{Now: p.Now()}}
	held := map[string]int{}
	for i := range open {
		row := present.ImportRow(&open[i], rules.Plan, boardImportsPath)
		if row.Held {
			d.Held.Rows = append(d.Held.Rows, row)
			held[row.Network]++
		} else {
			d.Open.Rows = append(d.Open.Rows, row)
		}
	}
	for i := range list {
		d.Rows = append(d.Rows, deskview.BoardRow{
			StandingData: present.NetworkStatusData(&list[i], rules.Policy), Href: boardPath + "/" + url.PathEscape(list[i].Network), Held: held[list[i].Network],
		})
	}
	d.Heads = portal.SortTable(r, d.Rows, boardColumns)
	return p.Show(w, r, boardPage, deskview.Board(d))
}

// boardColumns are the columns of the board.
var boardColumns = []portal.Column[deskview.BoardRow]{
	{Label: "Operator", Key: "name", Compare: func(a, b *deskview.BoardRow) int { return cmp.Compare(a.Name, b.Name) }},
	{Label: "State", Key: "silent", Compare: func(a, b *deskview.BoardRow) int { return portal.CompareBools(b.Silent, a.Silent) }},
	{Label: "Supplied through", Key: "through", Compare: func(a, b *deskview.BoardRow) int { return a.Through.Compare(b.Through) }},
	{Label: "Share of its ranges", Number: true, Key: "share", Compare: func(a, b *deskview.BoardRow) int { return cmp.Compare(share(a), share(b)) }},
	{Label: "Late", Number: true, Key: "late", Compare: func(a, b *deskview.BoardRow) int { return cmp.Compare(a.Late, b.Late) }},
	{Label: "Early", Number: true, Key: "early", Compare: func(a, b *deskview.BoardRow) int { return cmp.Compare(a.Early, b.Early) }},
	{Label: "Rejected", Number: true, Key: "refused", Compare: func(a, b *deskview.BoardRow) int { return cmp.Compare(a.Rejected, b.Rejected) }},
	{Label: "Held", Number: true, Key: "held", Compare: func(a, b *deskview.BoardRow) int { return cmp.Compare(a.Held, b.Held) }},
}

func share(d *deskview.BoardRow) float64 { return float64(d.Lines) / float64(max(d.Capacity, 1)) }

// showNetwork serves GET /portal/desk/supply/{network}.
func (p *Pages) showNetwork(w http.ResponseWriter, r *http.Request) error {
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	code := r.PathValue("network")
	n, ok := rules.Plan.Network(code)
	if !ok {
		return portal.ErrNotFound
	}
	open, _, err := p.Lines.ImportPage(r.Context(), supply.ImportFilter{Network: n, Open: true, Limit: maxOpenImports})
	if err != nil {
		return err
	}
	d := deskview.OperatorData{Held: orgview.ImportsData{Now: p.Now()}}
	for i := range open {
		if row := present.ImportRow(&open[i], rules.Plan, boardImportsPath); row.Held {
			d.Held.Rows = append(d.Held.Rows, row)
		}
	}
	if d.Standing, err = p.NetworkStatus(r, rules, code, n); err != nil {
		return err
	}
	if d.Imports, err = p.ImportList(r, rules, r.URL.Path, boardImportsPath, supply.ImportFilter{Network: n}); err != nil {
		return err
	}
	return p.Show(w, r, view.Page{Title: d.Standing.Name, Crumbs: []view.Link{boardParent}, Active: boardPath}, deskview.Operator(d))
}

// showImport serves GET /portal/desk/supply/imports/{import}.
func (p *Pages) showImport(w http.ResponseWriter, r *http.Request) error {
	d, err := p.importData(r)
	if err != nil {
		return err
	}
	page := present.ImportPage(&d, boardParent)
	page.Crumbs = append(page.Crumbs, view.Link{Label: d.Row.NetworkName, Href: boardPath + "/" + url.PathEscape(d.Row.Network)})
	return p.Show(w, r, page, orgview.Import(d))
}

// showImportProgress serves GET /portal/desk/supply/imports/{import}/progress.
func (p *Pages) showImportProgress(w http.ResponseWriter, r *http.Request) error {
	d, err := p.importData(r)
	if err != nil {
		return err
	}
	return p.ShowFragment(w, r, orgview.Import(d))
}

func (p *Pages) importData(r *http.Request) (orgview.ImportData, error) {
	rules, err := p.Rules(r)
	if err != nil {
		return orgview.ImportData{}, err
	}
	im, err := p.PathImport(r)
	if err != nil {
		return orgview.ImportData{}, err
	}
	d, err := p.ImportData(r, rules, &im, boardImportsPath)
	if err != nil {
		return orgview.ImportData{}, err
	}
	if portal.VisitOf(r).Has(portal.Decider) && im.Open() {
		if im.State == supply.Held {
			d.Tools = append(d.Tools, view.Action{Label: "Apply held file", Href: d.Row.Href + "/confirm", Kind: view.Danger})
		}
		d.Tools = append(d.Tools, view.Action{Label: "Cancel import", Href: d.Row.Href + "/cancel", Kind: view.Secondary})
	}
	d.Timeline, err = p.importMoments(r, im.ID)
	return d, err
}

// importActions describe the entries of the audit trail about imports.
var importActions = map[audit.Action]struct { //nolint:exhaustive // only actions on imports
	text string
	tone view.Tone
}{
	audit.ImportBegun:     {"Uploaded", view.Neutral},
	audit.ImportMeant:     {"Confirmed as intentional", view.Info},
	audit.ImportConfirmed: {"Confirmed", view.Good},
	audit.ImportCancelled: {"Cancelled", view.Warn},
	audit.ImportApplied:   {"Applied", view.Good},
	audit.ImportVoided:    {"Voided", view.Warn},
}

// importMoments returns the history of an import from the audit trail.
func (p *Pages) importMoments(r *http.Request, id uuid.UUID) ([]view.TimelineEntry, error) {
	list, err := audit.List(r.Context(), p.Pool, audit.Filter{Subject: id, Limit: 50})
	if err != nil {
		return nil, err
	}
	names, err := p.trailNames(r, list)
	if err != nil {
		return nil, err
	}
	var moments []view.TimelineEntry
	for i := range list {
		action := importActions[list[i].Action]
		moments = append(moments, view.TimelineEntry{At: list[i].At, Title: action.text + ", by " + names.By(list[i].Actor), Tone: action.tone})
	}
	return moments, nil
}

// sendRejected serves GET /portal/desk/supply/imports/{import}/refused.csv.
func (p *Pages) sendRejected(w http.ResponseWriter, r *http.Request) error {
	im, err := p.PathImport(r)
	if err != nil {
		return err
	}
	return p.SendRejectedRows(w, r, im)
}

// confirmImport serves GET and POST /portal/desk/supply/imports/{import}/confirm.
func (p *Pages) confirmImport(w http.ResponseWriter, r *http.Request) error {
	return p.serveStep(w, r, &present.ConfirmStep)
}

// cancelImport serves GET and POST /portal/desk/supply/imports/{import}/cancel.
func (p *Pages) cancelImport(w http.ResponseWriter, r *http.Request) error {
	return p.serveStep(w, r, &present.CancelStep)
}

// serveStep serves GET and POST of a step with any import.
func (p *Pages) serveStep(w http.ResponseWriter, r *http.Request, step *present.ImportStep) error {
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	im, err := p.PathImport(r)
	if err != nil {
		return err
	}
	return p.ServeStep(w, r, step, present.ImportContext{Import: &im, Network: rules.Plan.Code(im.Network), Base: boardImportsPath, Parent: boardParent})
}
