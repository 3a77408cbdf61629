package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	receiptPath       = "/api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt"
	importReceiptPath = importsPath + "/{importId}/receipt"
)

var errNoLog = fault.New(fault.NotFound, "This service has no public log, so there are no receipts. The operator of the service can turn it on.")

// showReceipt serves GET
// /api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt: the proof that the
// service gave an answer, for the organisation that got it.
func (a *API) showReceipt(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := pathID(r, "requestId", journal.ErrNotFound)
	if err != nil {
		return err
	}
	postQuantum, err := readReceiptQuery(r)
	if err != nil {
		return err
	}
	if a.Receipts == nil {
		return errNoLog
	}
	b, err := a.Receipts.Find(ctx, id)
	if err != nil {
		return err
	}
	if err := requireOwn(ctx, &b.Entry); err != nil {
		return err
	}
	made, err := a.Receipts.Make(ctx, b, postQuantum)
	if err != nil {
		return err
	}
	return sendReceipt(w, r, id.String(), made)
}

// showImportReceipt serves GET /api/v1/lines/imports/{importId}/receipt: the proof that
// the service applied a file, for the network that supplied it.
func (a *API) showImportReceipt(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	postQuantum, err := readReceiptQuery(r)
	if err != nil {
		return err
	}
	im, _, err := a.importNamed(r)
	if err != nil {
		return err
	}
	if a.Receipts == nil {
		return errNoLog
	}
	committed, err := a.Lines.Committed(ctx, im)
	if err != nil {
		return err
	}
	made, err := a.Receipts.MakeSupply(ctx, committed, postQuantum)
	if err != nil {
		return err
	}
	return sendReceipt(w, r, im.ID.String(), made)
}

// readReceiptQuery reports whether the caller wants the signatures that withstand quantum
// computers.
func readReceiptQuery(r *http.Request) (postQuantum bool, err error) {
	query, wrong, err := readQuery(r.URL.RawQuery, "pq")
	if err != nil {
		return false, err
	}
	wrong.Check(query.Get("pq") == "" || query.Get("pq") == "1", "pq", fault.NotAllowed, "Send 1, or leave it out.")
	return query.Get("pq") == "1", wrong.Err()
}

// sendReceipt sends a receipt as it is and not in the envelope, because it is kept as a
// file and verified without this service.
func sendReceipt(w http.ResponseWriter, r *http.Request, id string, made interface{ TlogProof() string }) error {
	kind, name := "application/json", "receipt-"+id+".json"
	content, err := json.Marshal(made)
	if err != nil {
		return err
	}
	if accepts, _, _ := strings.Cut(r.Header.Get("Accept"), ";"); strings.TrimSpace(accepts) == "text/plain" {
		kind, name, content = "text/plain; charset=utf-8", "receipt-"+id+".tlog-proof", []byte(made.TlogProof())
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, _ = w.Write(content)
	return nil
}
