package httpapi

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/verify"
)

// showVerification serves GET
// /api/v1/phone/api/phone-numbers/verifications/{requestId}: what was answered
// then, in the same words, for whoever asked. Nobody else learns that there is
// such a record.
func (a *API) showVerification(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	text := r.PathValue("requestId")
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text { // one spelling, as we gave it
		return journal.ErrNotFound
	}
	record, err := a.Record(ctx, id)
	if err != nil {
		return err
	}
	// A key for tests sees no line, also not one that a live key asked about.
	if who := principal(ctx); record.Entity != who.Entity || record.Mode != who.Mode {
		return journal.ErrNotFound
	}
	notesOf(ctx).record = text
	said := verify.Answer{RequestID: id, At: record.At, Status: line.Status(record.Status), Network: record.MobileNetwork, Said: record.Extra}
	sendAnswer(w, r, record.PhoneNumber, &said, text)
	return nil
}
