package httpapi

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/verify"
)

var errNotMobile = fault.New(fault.NotApplicable, "The number is not a mobile number of this country, so the service has nothing to say about it.").With(fault.Violation{
	Field: "phoneNumber", Code: fault.NotAllowed, Message: "Ask about a mobile number of this country.",
})

type verifyResponse struct {
	PhoneNumber           string `json:"phoneNumber"` // in the form in which it was sent
	Status                string `json:"status"`
	RequestID             string `json:"requestId"`
	MobileNetwork         string `json:"mobileNetwork"`
	VerificationTimestamp string `json:"verificationTimestamp"`
}

// verifyNumber serves POST /api/v1/phone/api/phone-numbers/verify.
func (a *API) verifyNumber(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var sent string
	found, err := decode(w, r, field{name: "phoneNumber", text: &sent})
	if err != nil {
		return err
	}
	number, err := a.Region.ParseMobile(sent)
	var wrong fault.Form
	wrong.Check(sent != "", "phoneNumber", fault.Required, "Give the phone number to ask about.")
	wrong.Check(sent == "" || !errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.BadFormat,
		"Write a phone number, for example +2348031234567 or 08031234567.")
	if err := merge(found, wrong.Err()); err != nil {
		return err
	}
	if err != nil {
		return errNotMobile
	}
	who := access.PrincipalFrom(ctx)
	answer, err := a.Verifier.Ask(ctx, verify.Question{
		Entity: who.Entity, Key: who.ID, Mode: who.Mode, Purpose: who.Purpose, Correlator: correlator(ctx), Number: number, Sent: sent,
	})
	if err != nil {
		return err
	}
	// From here on the record's id is the request's id, so that one id leads from
	// the answer to the journal and to the log.
	w.Header().Set("X-Request-Id", answer.RequestID.String())
	add(ctx, slog.String("record_id", answer.RequestID.String()))
	return a.respond(w, r, verifyResponse{
		PhoneNumber: sent, Status: string(answer.Status), RequestID: answer.RequestID.String(),
		MobileNetwork: answer.Network, VerificationTimestamp: stamp(answer.At),
	})
}
