package httpapi

import (
	"context"
	"net/http"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
)

// showVerification serves GET
// /api/v1/phone/api/phone-numbers/verifications/{requestId}: the recorded answer,
// unchanged, for the organisation that got it. For others the record does not
// exist.
func (a *API) showVerification(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := pathID(r, "requestId", journal.ErrNotFound)
	if err != nil {
		return err
	}
	found, err := a.Record(ctx, id)
	if err != nil {
		return err
	}
	if err := requireOwn(ctx, &found); err != nil {
		return err
	}
	answer := verify.Answer{RequestID: id, At: found.At, Status: line.Status(found.Status), Network: found.MobileNetwork, ExtraJSON: found.Extra}
	sendAnswer(w, r, found.PhoneNumber, &answer, id.String(), found.ExternalID)
	return nil
}

// requireOwn names the record in the request's log line, if it is the caller's: for others
// it does not exist. A test key sees no real line, not even in the records of a live key.
func requireOwn(ctx context.Context, e *record.Entry) error {
	if who := principal(ctx); e.Entity != who.Entity || e.Mode != who.Mode {
		return journal.ErrNotFound
	}
	logOf(ctx).record = e.RequestID.String()
	return nil
}
