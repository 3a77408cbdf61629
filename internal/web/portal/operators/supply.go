// Package operators has the pages of supply: what operators have supplied and how well, and
// their imports, as the operators see them and as staff do.
package operators

import (
	"errors"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/keys"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Pages serves the pages of organisations that supply lines.
type Pages struct {
	Supply

	ImportMaxBytes int64             // of a file of lines, as it is sent
	Receipts       *logreceipt.Maker // nil without a public log
}

const (
	supplyPath         = "/portal/supply"
	importsPath        = "/portal/supply/imports"
	importPath         = "/portal/supply/imports/{import}"
	importProgressPath = "/portal/supply/imports/{import}/progress"
	importCSVPath      = "/portal/supply/imports/{import}/refused.csv"
	importReceiptPath  = "/portal/supply/imports/{import}/receipt"
	importIntentPath   = "/portal/supply/imports/{import}/mean"
	importWithdrawPath = "/portal/supply/imports/{import}/withdraw"
)

// Routes returns the routes of these pages.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: supplyPath, Right: portal.TelcoMember, Serve: p.ShowForm(p.supply)},
		{Method: post, Path: importsPath, Right: portal.TelcoMember, Action: stepup.SupplyLines, Upload: true, Form: supplyPath, Serve: p.bySupplier(p.uploadLines)},
		{Method: get, Path: importPath, Right: portal.TelcoMember, Serve: p.showImport},
		{Method: get, Path: importProgressPath, Right: portal.TelcoMember, Serve: p.showImportProgress},
		{Method: get, Path: importCSVPath, Right: portal.TelcoMember, Upload: true, Serve: p.sendRejected},
		{Method: get, Path: importReceiptPath, Right: portal.TelcoMember, Serve: p.sendReceipt},
		{Method: get, Path: importIntentPath, Right: portal.TelcoMember, Serve: p.bySupplier(p.confirmIntent)},
		{Method: post, Path: importIntentPath, Right: portal.TelcoMember, Action: stepup.SupplyLines, Serve: p.bySupplier(p.confirmIntent)},
		{Method: get, Path: importWithdrawPath, Right: portal.TelcoMember, Serve: p.bySupplier(p.withdrawImport)},
		{Method: post, Path: importWithdrawPath, Right: portal.TelcoMember, Action: stepup.WithdrawImport, Serve: p.bySupplier(p.withdrawImport)},
	}
}

var supplyPage = kit.Page{Title: "Supply", Lead: "How your organisation reports what happens to its lines, and the state of its imports.", Active: supplyPath}

// parent is the page above the pages of imports.
var parent = kit.Link{Label: supplyPage.Title, Href: supplyPath}

// ownNetwork returns the network for which the visitor's organisation supplies:
// the one of the client that onboarded it, as long as the client may supply.
func (p *Pages) ownNetwork(r *http.Request, plan *numbering.Plan) (code string, n numbering.Network, err error) {
	if code, err = p.Access.NetworkOf(r.Context(), portal.VisitOf(r).Client); err != nil {
		return "", 0, err
	}
	n, ok := plan.Network(code)
	if !ok {
		return "", 0, supply.ErrNoNetwork
	}
	return code, n, nil
}

// bySupplier lets only people supply lines who may: a member needs the right, and everybody a
// complete account. Others come back to the page that says what is missing.
func (p *Pages) bySupplier(serve func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := p.People.CheckSupplier(r.Context(), p.Pool, portal.VisitOf(r).Who.Account)
		if err == nil {
			return serve(w, r)
		}
		if !errors.Is(err, people.ErrNoSupplyRight) && !errors.Is(err, people.ErrIncompleteSupplier) {
			return err
		}
		portal.Drain(r.Body) // browsers show the response only after they have sent everything
		return p.ShowAgain(w, r, err, p.supply, kit.Form{})
	}
}

// supply is the page /portal/supply. For an organisation without a network it says so.
func (p *Pages) supply(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	rules, err := p.Rules(r)
	if err != nil {
		return supplyPage, nil, err
	}
	code, n, err := p.ownNetwork(r, rules.Plan)
	if errors.Is(err, supply.ErrNoNetwork) {
		return supplyPage, SupplyPage(SupplyData{}), nil
	}
	if err != nil {
		return supplyPage, nil, err
	}
	d := SupplyData{Form: form, Max: kit.Bytes(p.ImportMaxBytes), Minutes: int(portal.UploadTimeout / time.Minute), HoldPercent: rules.Policy.HoldPercent}
	if d.Missing, err = p.missing(r); err != nil {
		return supplyPage, nil, err
	}
	if d.Standing, err = p.NetworkStatus(r, rules, code, n); err != nil {
		return supplyPage, nil, err
	}
	if d.Last, err = p.LastImport(r, rules, n, importsPath); err != nil {
		return supplyPage, nil, err
	}
	d.Imports, err = p.ImportList(r, rules, supplyPath, importsPath, supply.ImportFilter{Network: n})
	return supplyPage, SupplyPage(d), err
}

// missing returns what the visitor's account lacks for supplying lines.
func (p *Pages) missing(r *http.Request) (keys.Missing, error) {
	m, err := keys.MissingOf(p.People.CheckSupplier(r.Context(), p.Pool, portal.VisitOf(r).Who.Account))
	m.Supply = true
	return m, err
}
