package operators

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// StaffPages serves the pages on which staff see how operators supply.
type StaffPages struct {
	Supply
}

// The paths of the supply board.
const (
	boardNetworkPath  = "/portal/desk/supply/{network}"
	boardImportPath   = "/portal/desk/supply/imports/{import}"
	boardProgressPath = "/portal/desk/supply/imports/{import}/progress"
	boardCSVPath      = "/portal/desk/supply/imports/{import}/refused.csv"
	boardConfirmPath  = "/portal/desk/supply/imports/{import}/confirm"
	boardCancelPath   = "/portal/desk/supply/imports/{import}/cancel"
	boardAcceptPath   = "/portal/desk/accept-topic/{network}/{topic}"
)

// Routes are the pages that show all operators side by side.
func (p *StaffPages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: portal.BoardPath, Right: portal.Staff, Serve: p.showBoard},
		{Method: get, Path: boardNetworkPath, Right: portal.Staff, Serve: p.showNetwork},
		{Method: get, Path: boardImportPath, Right: portal.Staff, Serve: p.showImport},
		{Method: get, Path: boardProgressPath, Right: portal.Staff, Serve: p.showImportProgress},
		{Method: get, Path: boardCSVPath, Right: portal.Staff, Upload: true, Serve: p.sendRejected},
		{Method: get, Path: boardConfirmPath, Right: portal.Decider, Serve: p.confirmImport},
		{Method: post, Path: boardConfirmPath, Right: portal.Decider, Action: stepup.DecideImport, Serve: p.confirmImport},
		{Method: get, Path: boardCancelPath, Right: portal.Decider, Serve: p.cancelImport},
		{Method: post, Path: boardCancelPath, Right: portal.Decider, Action: stepup.DecideImport, Serve: p.cancelImport},
		{Method: get, Path: boardAcceptPath, Right: portal.Decider, Serve: p.acceptTopic},
		{Method: post, Path: boardAcceptPath, Right: portal.Decider, Action: stepup.DecideImport, Serve: p.acceptTopic},
	}
}

var boardParent = kit.Link{Label: "Supply board", Href: portal.BoardPath}

var boardPage = kit.Page{Title: "Supply board", Lead: "How well every operator on the numbering plan supplies its lines.", Active: portal.BoardPath}

// maxOpenImports is far above the number of open imports: each network can have
// one.
const maxOpenImports = 1000

// showBoard serves GET /portal/desk/supply.
func (p *StaffPages) showBoard(w http.ResponseWriter, r *http.Request) error {
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	list, err := p.Lines.NetworkStatuses(r.Context(), "", p.Now().UTC().AddDate(0, 0, -SupplyDays))
	if err != nil {
		return err
	}
	open, _, err := p.Lines.ImportPage(r.Context(), supply.ImportFilter{Open: true, Limit: maxOpenImports})
	if err != nil {
		return err
	}
	d := BoardData{Days: SupplyDays, Now: p.Now(), Held: ImportsData{Now: p.Now()}, Open: ImportsData{Now: p.Now()}}
	held := map[string]int{}
	for i := range open {
		row := NewImportRow(&open[i], rules.Plan, portal.ImportsPath)
		if row.Held {
			d.Held.Rows = append(d.Held.Rows, row)
			held[row.Network]++
		} else {
			d.Open.Rows = append(d.Open.Rows, row)
		}
	}
	for i := range list {
		d.Rows = append(d.Rows, BoardRow{
			StandingData: NetworkStatusData(&list[i], rules.Policy), Href: portal.BoardPath + "/" + url.PathEscape(list[i].Network), Held: held[list[i].Network],
		})
	}
	d.Heads = portal.SortTable(r, d.Rows, boardColumns)
	return p.Show(w, r, boardPage, Board(d))
}

// boardColumns are the columns of the board.
var boardColumns = []portal.Column[BoardRow]{
	{Label: "Operator", Key: "name", Compare: func(a, b *BoardRow) int { return cmp.Compare(a.Name, b.Name) }},
	{Label: "State", Key: "silent", Compare: func(a, b *BoardRow) int { return portal.CompareBools(b.Silent, a.Silent) }},
	{Label: "Supplied through", Key: "through", Compare: func(a, b *BoardRow) int { return a.Through.Compare(b.Through) }},
	{Label: "Share of its ranges", Number: true, Key: "share", Compare: func(a, b *BoardRow) int { return cmp.Compare(share(a), share(b)) }},
	{Label: "Late", Number: true, Key: "late", Compare: func(a, b *BoardRow) int { return cmp.Compare(a.Late, b.Late) }},
	{Label: "Early", Number: true, Key: "early", Compare: func(a, b *BoardRow) int { return cmp.Compare(a.Early, b.Early) }},
	{Label: "Rejected", Number: true, Key: "refused", Compare: func(a, b *BoardRow) int { return cmp.Compare(a.Rejected, b.Rejected) }},
	{Label: "Held", Number: true, Key: "held", Compare: func(a, b *BoardRow) int { return cmp.Compare(a.Held, b.Held) }},
}

func share(d *BoardRow) float64 { return float64(d.Lines) / float64(max(d.Capacity, 1)) }

// showNetwork serves GET /portal/desk/supply/{network}.
func (p *StaffPages) showNetwork(w http.ResponseWriter, r *http.Request) error {
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
	d := OperatorData{Held: ImportsData{Now: p.Now()}}
	for i := range open {
		if row := NewImportRow(&open[i], rules.Plan, portal.ImportsPath); row.Held {
			d.Held.Rows = append(d.Held.Rows, row)
		}
	}
	if d.Standing, err = p.NetworkStatus(r, rules, code, n); err != nil {
		return err
	}
	if d.Imports, err = p.ImportList(r, rules, r.URL.Path, portal.ImportsPath, supply.ImportFilter{Network: n}); err != nil {
		return err
	}
	page := kit.Page{Title: d.Standing.Name, Crumbs: []kit.Link{boardParent}, Active: portal.BoardPath}
	if portal.VisitOf(r).Has(portal.Decider) {
		for _, topic := range d.Standing.Doubtful {
			page.Actions = append(page.Actions, kit.Action{Label: "Accept " + topic + " again", Href: "/portal/desk/accept-topic/" + url.PathEscape(code) + "/" + topic, Kind: kit.Danger})
		}
	}
	return p.Show(w, r, page, Operator(d))
}

// showImport serves GET /portal/desk/supply/imports/{import}.
func (p *StaffPages) showImport(w http.ResponseWriter, r *http.Request) error {
	d, err := p.importData(r)
	if err != nil {
		return err
	}
	page := ImportPage(&d, boardParent)
	if d.Row.Network != "" {
		page.Crumbs = append(page.Crumbs, kit.Link{Label: d.Row.NetworkName, Href: portal.BoardPath + "/" + url.PathEscape(d.Row.Network)})
	}
	return p.Show(w, r, page, Import(d))
}

// showImportProgress serves GET /portal/desk/supply/imports/{import}/progress.
func (p *StaffPages) showImportProgress(w http.ResponseWriter, r *http.Request) error {
	d, err := p.importData(r)
	if err != nil {
		return err
	}
	return p.ShowFragment(w, r, Import(d))
}

func (p *StaffPages) importData(r *http.Request) (ImportData, error) {
	rules, err := p.Rules(r)
	if err != nil {
		return ImportData{}, err
	}
	im, err := p.PathImport(r)
	if err != nil {
		return ImportData{}, err
	}
	d, err := p.ImportData(r, rules, &im, portal.ImportsPath)
	if err != nil {
		return ImportData{}, err
	}
	if portal.VisitOf(r).Has(portal.Decider) && im.Open() {
		if im.State == supply.Held {
			d.Tools = append(d.Tools, kit.Action{Label: "Apply held file", Href: d.Row.Href + "/confirm", Kind: kit.Danger})
		}
		d.Tools = append(d.Tools, kit.Action{Label: "Cancel import", Href: d.Row.Href + "/cancel", Kind: kit.Secondary})
	}
	d.Timeline, err = p.importMoments(r, im.ID)
	return d, err
}

// importActions describe the entries of the audit trail about imports.
var importActions = map[audit.Action]struct { //nolint:exhaustive // only actions on imports
	text string
	tone kit.Tone
}{
	audit.ImportBegun:     {"Uploaded", kit.Neutral},
	audit.ImportMeant:     {"Confirmed as intentional", kit.Info},
	audit.ImportConfirmed: {"Confirmed", kit.Good},
	audit.ImportCancelled: {"Cancelled", kit.Warn},
	audit.ImportApplied:   {"Applied", kit.Good},
	audit.ImportVoided:    {"Voided", kit.Warn},
}

// importMoments returns the history of an import from the audit trail.
func (p *StaffPages) importMoments(r *http.Request, id uuid.UUID) ([]kit.TimelineEntry, error) {
	list, err := audit.List(r.Context(), p.Pool, audit.Filter{Subject: id, Limit: 50})
	if err != nil {
		return nil, err
	}
	names, err := approvals.TrailNames(r, p.Portal, list)
	if err != nil {
		return nil, err
	}
	var moments []kit.TimelineEntry
	for i := range list {
		action := importActions[list[i].Action]
		moments = append(moments, kit.TimelineEntry{At: list[i].At, Title: action.text + ", by " + names.By(list[i].Actor), Tone: action.tone})
	}
	return moments, nil
}

// sendRejected serves GET /portal/desk/supply/imports/{import}/refused.csv.
func (p *StaffPages) sendRejected(w http.ResponseWriter, r *http.Request) error {
	im, err := p.PathImport(r)
	if err != nil {
		return err
	}
	return p.SendRejectedRows(w, r, im)
}

// confirmImport serves GET and POST /portal/desk/supply/imports/{import}/confirm.
func (p *StaffPages) confirmImport(w http.ResponseWriter, r *http.Request) error {
	return p.serveStep(w, r, &ConfirmStep)
}

// cancelImport serves GET and POST /portal/desk/supply/imports/{import}/cancel.
func (p *StaffPages) cancelImport(w http.ResponseWriter, r *http.Request) error {
	return p.serveStep(w, r, &CancelStep)
}

// serveStep serves GET and POST of a step with any import.
func (p *StaffPages) serveStep(w http.ResponseWriter, r *http.Request, step *ImportStep) error {
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	im, err := p.PathImport(r)
	if err != nil {
		return err
	}
	return p.ServeStep(w, r, step, ImportContext{Import: &im, Network: rules.Plan.Code(im.Network), Base: portal.ImportsPath, Parent: boardParent})
}
