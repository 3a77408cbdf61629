package records

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/receipt"
)

var receiptsPage = kit.Page{Title: "Verify receipt", Lead: "A receipt proves which answer was given to whom and when. Your browser verifies it, and sends nothing.", Active: receiptsPath, Script: kit.ReceiptScript}

// showReceipts serves GET /portal/receipts, also to those who have no account.
func (p *Pages) showReceipts(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, receiptsPage, kit.ReceiptVerifier(kit.ReceiptData{Policy: p.LogPolicy}))
}

// sendVerifier serves GET /portal/export/verify-receipt.html: the page as one file.
func (p *Pages) sendVerifier(w http.ResponseWriter, r *http.Request) error {
	file, err := kit.ReceiptFile(r.Context(), "Lineproof "+p.RegulatorCode, p.LogPolicy)
	if err != nil {
		return err
	}
	portal.StartDownload(w, "text/html; charset=utf-8", "verify-receipt.html")
	_, _ = w.Write(file) // the browser may have closed the connection
	return nil
}

// showReceipt serves GET /portal/journal/{request}/receipt: the receipt of an answer, and
// what it proves.
func (p *Pages) showReceipt(w http.ResponseWriter, r *http.Request) error {
	id, text, err := p.ownReceipt(r)
	if err != nil {
		return err
	}
	page := receiptsPage
	page.Title, page.Active = "Receipt", recordsPath
	page.Crumbs = []kit.Link{{Label: "Journal", Href: recordsPath}, {Label: "Record", Href: recordsPath + "/" + id.String()}}
	return p.Show(w, r, page, kit.ReceiptVerifier(kit.ReceiptData{Text: string(text), Policy: p.LogPolicy, File: "/portal/export/receipts/" + id.String()}))
}

// sendReceipt serves GET /portal/export/receipts/{request}: the receipt as a file.
func (p *Pages) sendReceipt(w http.ResponseWriter, r *http.Request) error {
	id, text, err := p.ownReceipt(r)
	if err != nil {
		return err
	}
	portal.StartDownload(w, "application/json", "receipt-"+id.String()+".json")
	_, _ = w.Write(text) // a file of the service; an error is that of a closed connection
	return nil
}

// ownReceipt makes the receipt of an answer to the visitor's organisation.
func (p *Pages) ownReceipt(r *http.Request) (uuid.UUID, []byte, error) {
	id, err := portal.PathID(r, "request")
	if err != nil {
		return id, nil, err
	}
	if p.Receipts == nil {
		return id, nil, portal.ErrNotFound
	}
	if _, err := p.ownRecord(r, id); err != nil {
		return id, nil, err
	}
	made, err := p.makeReceipt(r, id)
	if err != nil {
		return id, nil, err
	}
	text, err := json.Marshal(made)
	return id, text, err
}

func (p *Pages) makeReceipt(r *http.Request, id uuid.UUID) (*receipt.Receipt, error) {
	b, err := p.Receipts.Find(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return p.Receipts.Make(r.Context(), b, false)
}
