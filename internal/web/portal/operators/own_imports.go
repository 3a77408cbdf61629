package operators

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// ownImport returns the import that the path names, if it belongs to the network
// of the visitor's organisation.
func (p *Pages) ownImport(r *http.Request) (supply.Import, Rules, error) {
	rules, err := p.Rules(r)
	if err != nil {
		return supply.Import{}, rules, err
	}
	_, n, err := p.ownNetwork(r, rules.Plan)
	if errors.Is(err, supply.ErrNoNetwork) {
		return supply.Import{}, rules, portal.ErrNotFound
	}
	if err != nil {
		return supply.Import{}, rules, err
	}
	im, err := p.PathImport(r)
	if err == nil && im.Network != n {
		return supply.Import{}, rules, portal.ErrNotFound
	}
	return im, rules, err
}

// showImport serves GET /portal/supply/imports/{import}.
func (p *Pages) showImport(w http.ResponseWriter, r *http.Request) error {
	d, err := p.importData(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, ImportPage(&d, parent), Import(d))
}

// showImportProgress serves GET /portal/supply/imports/{import}/progress: the
// content of the page, by which a script refreshes it.
func (p *Pages) showImportProgress(w http.ResponseWriter, r *http.Request) error {
	d, err := p.importData(r)
	if err != nil {
		return err
	}
	return p.ShowFragment(w, r, Import(d))
}

func (p *Pages) importData(r *http.Request) (ImportData, error) {
	im, rules, err := p.ownImport(r)
	if err != nil {
		return ImportData{}, err
	}
	d, err := p.ImportData(r, rules, &im, importsPath)
	if err != nil {
		return ImportData{}, err
	}
	d.Receipt = p.Receipts != nil && (im.State == supply.Finished || im.State == supply.Voiding || im.State == supply.Voided) && !im.DryRun
	confirm := kit.Action{Label: "Confirm this is intentional", Href: d.Row.Href + "/mean", Kind: kit.Primary}
	withdraw := kit.Action{Label: "Withdraw file", Href: d.Row.Href + "/withdraw", Kind: kit.Danger}
	missing, err := p.missing(r)
	if err != nil || missing.Any() {
		return d, err
	}
	switch im.State {
	case supply.Held:
		d.Tools = []kit.Action{confirm, withdraw}
	case supply.Checking:
		d.Tools = []kit.Action{withdraw}
	}
	return d, nil
}

// sendRejected serves GET /portal/supply/imports/{import}/refused.csv.
func (p *Pages) sendRejected(w http.ResponseWriter, r *http.Request) error {
	im, _, err := p.ownImport(r)
	if err != nil {
		return err
	}
	return p.SendRejectedRows(w, r, im)
}

// sendReceipt serves GET /portal/supply/imports/{import}/receipt: the receipt of an applied
// file, as a file.
func (p *Pages) sendReceipt(w http.ResponseWriter, r *http.Request) error {
	im, _, err := p.ownImport(r)
	if err != nil {
		return err
	}
	if p.Receipts == nil {
		return portal.ErrNotFound
	}
	committed, err := p.Lines.Committed(r.Context(), im)
	if err != nil {
		return err
	}
	made, err := p.Receipts.MakeSupply(r.Context(), committed, false)
	if err != nil {
		return err
	}
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	portal.StartDownload(w, "application/json", "receipt-"+im.ID.String()+".json")
	_, _ = w.Write(text)
	return nil
}

// serveStep serves GET and POST of a step with one of the visitor's imports.
func (p *Pages) serveStep(w http.ResponseWriter, r *http.Request, step *ImportStep) error {
	im, rules, err := p.ownImport(r)
	if err != nil {
		return err
	}
	return p.ServeStep(w, r, step, ImportContext{Import: &im, Network: rules.Plan.Code(im.Network), Base: importsPath, Parent: parent})
}

// confirmIntent serves GET and POST /portal/supply/imports/{import}/mean.
func (p *Pages) confirmIntent(w http.ResponseWriter, r *http.Request) error {
	return p.serveStep(w, r, &ConfirmIntentStep)
}

// withdrawImport serves GET and POST /portal/supply/imports/{import}/withdraw.
func (p *Pages) withdrawImport(w http.ResponseWriter, r *http.Request) error {
	return p.serveStep(w, r, &WithdrawStep)
}
