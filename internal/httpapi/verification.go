package httpapi

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/verify"
)

// showVerification serves GET
// /api/v1/phone/api/phone-numbers/verifications/{requestId}: the recorded answer,
// unchanged, for the organisation that got it. For others the record does not
// exist.
func (a *API) showVerification(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	text := r.PathValue("requestId")
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text { // only the spelling that the service sends
		return journal.ErrNotFound
	}
	record, err := a.Record(ctx, id)
	if err != nil {
		return err
	}
	// A test key sees no real line, not even in the records of a live key.
	if who := principal(ctx); record.Entity != who.Entity || record.Mode != who.Mode {
		return journal.ErrNotFound
	}
	logOf(ctx).record = text
	answer := verify.Answer{RequestID: id, At: record.At, Status: line.Status(record.Status), Network: record.MobileNetwork, ExtraJSON: record.Extra}
	sendAnswer(w, r, record.PhoneNumber, &answer, text, record.ExternalID)
	return nil
}
