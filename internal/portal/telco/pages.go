// Package telco serves the pages of organisations that supply lines: the state of
// their supply, the import of files, and the secrets of their API client.
package telco

import (
	"errors"
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/logreceipt"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/supply"
)

// Pages serves the pages of organisations that supply lines.
type Pages struct {
	present.Supply

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
		{Method: get, Path: supplyPath, Right: portal.TelcoMember, Serve: p.showSupply},
		{Method: post, Path: importsPath, Right: portal.TelcoMember, Upload: true, Serve: p.uploadLines},
		{Method: get, Path: importPath, Right: portal.TelcoMember, Serve: p.showImport},
		{Method: get, Path: importProgressPath, Right: portal.TelcoMember, Serve: p.showImportProgress},
		{Method: get, Path: importCSVPath, Right: portal.TelcoMember, Upload: true, Serve: p.sendRejected},
		{Method: get, Path: importReceiptPath, Right: portal.TelcoMember, Serve: p.sendReceipt},
		{Method: get, Path: importIntentPath, Right: portal.TelcoMember, Serve: p.confirmIntent},
		{Method: post, Path: importIntentPath, Right: portal.TelcoMember, Serve: p.confirmIntent},
		{Method: get, Path: importWithdrawPath, Right: portal.TelcoMember, Serve: p.withdrawImport},
		{Method: post, Path: importWithdrawPath, Right: portal.TelcoMember, Serve: p.withdrawImport},
		{Method: get, Path: clientPath, Right: portal.TelcoAdmin, Serve: p.showClient},
		{Method: post, Path: secretsPath, Right: portal.TelcoAdmin, Prove: true, Serve: p.addSecret},
		{Method: get, Path: secretRevokePath, Right: portal.TelcoAdmin, Serve: p.confirmRevokeSecret},
		{Method: post, Path: secretRevokePath, Right: portal.TelcoAdmin, Prove: true, Serve: p.revokeSecret},
	}
}

var supplyPage = view.Page{Title: "Supply", Lead: "How your organisation reports what happens to its lines, and the state of its imports.", Active: supplyPath}

// parent is the page above the pages of imports.
var parent = view.Link{Label: supplyPage.Title, Href: supplyPath}

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

// showSupply serves GET /portal/supply.
func (p *Pages) showSupply(w http.ResponseWriter, r *http.Request) error {
	d, err := p.supplyData(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, supplyPage, orgview.Supply(d))
}

// supplyData returns no data for an organisation without a network; the page
// then says so.
func (p *Pages) supplyData(r *http.Request, form view.Form) (orgview.SupplyData, error) {
	rules, err := p.Rules(r)
	if err != nil {
		return orgview.SupplyData{}, err
	}
	code, n, err := p.ownNetwork(r, rules.Plan)
	if errors.Is(err, supply.ErrNoNetwork) {
		return orgview.SupplyData{}, nil
	}
	if err != nil {
		return orgview.SupplyData{}, err
	}
	d := orgview.SupplyData{Form: form, Max: view.Bytes(p.ImportMaxBytes), Minutes: int(portal.UploadTimeout / time.Minute), HoldPercent: rules.Policy.HoldPercent}
	if d.Standing, err = p.NetworkStatus(r, rules, code, n); err != nil {
		return orgview.SupplyData{}, err
	}
	if d.Last, err = p.LastImport(r, rules, n, importsPath); err != nil {
		return orgview.SupplyData{}, err
	}
	d.Imports, err = p.ImportList(r, rules, supplyPath, importsPath, supply.ImportFilter{Network: n})
	return d, err
}
