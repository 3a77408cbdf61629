package portal

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

// The paths of whoever works for an organisation that supplies lines.
const (
	supplyPath     = "/portal/supply"
	importsPath    = "/portal/supply/imports"
	importPath     = "/portal/supply/imports/{import}"
	importPartPath = "/portal/supply/imports/{import}/progress"
	importCSVPath  = "/portal/supply/imports/{import}/refused.csv"
	importMeanPath = "/portal/supply/imports/{import}/mean"
	importBackPath = "/portal/supply/imports/{import}/withdraw"
)

// operatorRoutes are the pages of whoever works for an organisation that
// supplies lines.
func (p *Portal) operatorRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: supplyPath, who: operator, serve: p.showSupply},
		{method: post, path: importsPath, who: operator, upload: true, serve: p.uploadLines},
		{method: get, path: importPath, who: operator, serve: p.showImport},
		{method: get, path: importPartPath, who: operator, serve: p.showImportPart},
		{method: get, path: importCSVPath, who: operator, upload: true, serve: p.sendRefused},
		{method: get, path: importMeanPath, who: operator, serve: p.meanImport},
		{method: post, path: importMeanPath, who: operator, serve: p.meanImport},
		{method: get, path: importBackPath, who: operator, serve: p.withdrawImport},
		{method: post, path: importBackPath, who: operator, serve: p.withdrawImport},
	}
}

const (
	supplyDays   = 30 // over how many days the duty to supply is counted, as over the API
	importsShown = 25
)

var supplyPage = view.Page{Title: "Supply", Lead: "How your organisation tells what happens to its lines, and what became of it.", Active: supplyPath}

// ownNetwork returns the network for which the visitor's organisation supplies:
// that of the client which brought it in, as long as the client may supply.
func (p *Portal) ownNetwork(r *http.Request, plan *numbering.Plan) (code string, n numbering.Network, err error) {
	if code, err = p.Keeper.NetworkOf(r.Context(), visitOf(r).client); err != nil {
		return "", 0, err
	}
	n, ok := plan.Network(code)
	if !ok {
		return "", 0, supply.ErrNoNetwork
	}
	return code, n, nil
}

// showSupply serves GET /portal/supply.
func (p *Portal) showSupply(w http.ResponseWriter, r *http.Request) error {
	d, err := p.supply(r, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, supplyPage, view.Supply(d))
}

func (p *Portal) supply(r *http.Request, form view.Form) (view.SupplyData, error) {
	rules, err := p.lineRules(r)
	if err != nil {
		return view.SupplyData{}, err
	}
	code, n, err := p.ownNetwork(r, rules.plan)
	if isNoNetwork(err) {
		return view.SupplyData{}, nil
	}
	if err != nil {
		return view.SupplyData{}, err
	}
	d := view.SupplyData{Form: form, Most: view.Bytes(p.ImportMaxBytes), Minutes: int(uploadTime / time.Minute), HoldPercent: rules.policy.HoldPercent}
	if d.Standing, err = p.standing(r, rules, code, n); err != nil {
		return view.SupplyData{}, err
	}
	d.Imports, err = p.importList(r, rules, supplyPath, importsPath, supply.ImportFilter{Network: n})
	return d, err
}

// speaker is the visitor as somebody who tells of lines.
func speaker(v *visit, network string) supply.Speaker {
	return supply.Speaker{Authorities: []line.Authority{line.Operator}, Network: network, Actor: v.who.Actor()}
}

// ownImport returns the import that the path names, if it is one of the network
// of the visitor's organisation.
func (p *Portal) ownImport(r *http.Request) (supply.Import, lineRules, error) {
	rules, err := p.lineRules(r)
	if err != nil {
		return supply.Import{}, rules, err
	}
	_, n, err := p.ownNetwork(r, rules.plan)
	if isNoNetwork(err) {
		return supply.Import{}, rules, errNoPage
	}
	if err != nil {
		return supply.Import{}, rules, err
	}
	im, err := p.importNamed(r)
	if err == nil && im.Network != n {
		return supply.Import{}, rules, errNoPage
	}
	return im, rules, err
}

// showImport serves GET /portal/supply/imports/{import}.
func (p *Portal) showImport(w http.ResponseWriter, r *http.Request) error {
	d, err := p.ownImportData(r)
	if err != nil {
		return err
	}
	return p.show(w, r, importPage(&d, "Supply", supplyPath), view.Import(d))
}

// showImportPart serves GET /portal/supply/imports/{import}/progress: the page
// without its frame, for a page that is kept up to date.
func (p *Portal) showImportPart(w http.ResponseWriter, r *http.Request) error {
	d, err := p.ownImportData(r)
	if err != nil {
		return err
	}
	return p.showPart(w, r, view.Import(d))
}

func (p *Portal) ownImportData(r *http.Request) (view.ImportData, error) {
	im, rules, err := p.ownImport(r)
	if err != nil {
		return view.ImportData{}, err
	}
	d, err := p.importData(r, rules, &im, importsPath)
	if err != nil {
		return view.ImportData{}, err
	}
	href := importHref(importsPath, im.ID)
	switch im.State {
	case supply.Held:
		d.Tools = []view.Action{{Label: "Say that it is meant", Href: href + "/mean", Kind: view.Primary}, {Label: "Withdraw", Href: href + "/withdraw", Kind: view.Danger}}
	case supply.Checking:
		d.Tools = []view.Action{{Label: "Withdraw", Href: href + "/withdraw", Kind: view.Danger}}
	}
	return d, nil
}

// sendRefused serves GET /portal/supply/imports/{import}/refused.csv.
func (p *Portal) sendRefused(w http.ResponseWriter, r *http.Request) error {
	im, _, err := p.ownImport(r)
	if err != nil {
		return err
	}
	return p.sendRefusedRows(w, r, im)
}

func importHref(base string, id uuid.UUID) string { return base + "/" + id.String() }
