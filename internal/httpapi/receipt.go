package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/fault"
)

const receiptPath = "/api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt"

var errNoLog = fault.New(fault.NotFound, "This service has no public log, so there are no receipts. The operator of the service can turn it on.")

// showReceipt serves GET
// /api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt: the proof that the
// service gave an answer, for the organisation that got it. It is sent as it is and not in
// the envelope, because it is kept as a file and verified without this service.
func (a *API) showReceipt(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := requestIDOf(r)
	if err != nil {
		return err
	}
	query, wrong, err := readQuery(r.URL.RawQuery, "pq")
	if err != nil {
		return err
	}
	wrong.Check(query.Get("pq") == "" || query.Get("pq") == "1", "pq", fault.BadFormat, "Send 1, or leave it out.")
	if err := wrong.Err(); err != nil {
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
	made, err := a.Receipts.Make(ctx, b, query.Get("pq") == "1")
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	if kind, _, _ := strings.Cut(r.Header.Get("Accept"), ";"); strings.TrimSpace(kind) == "text/plain" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="receipt-`+id.String()+`.tlog-proof"`)
		_, _ = w.Write([]byte(made.TlogProof())) //nolint:gosec // plain text, to be saved
		return nil
	}
	content, err := json.Marshal(made)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="receipt-`+id.String()+`.json"`)
	_, _ = w.Write(content)
	return nil
}
