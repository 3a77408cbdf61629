package httpapi

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	factorPath        = "/api/regulator/v1/second-factor"
	factorConfirmPath = "/api/regulator/v1/second-factor/confirm"
)

// factorResponse is what an authenticator app needs. The service shows it only
// once.
type factorResponse struct {
	Secret string `json:"secret"`
	URI    string `json:"uri"`
}

// recoveryResponse has the recovery codes. The service shows them only once.
type recoveryResponse struct {
	RecoveryCodes []string `json:"recoveryCodes"`
}

// beginFactor serves POST /api/regulator/v1/second-factor. It takes no body.
func (a *API) beginFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	e, err := a.People.BeginFactor(ctx, principal(ctx), requestID(ctx))
	if err != nil {
		return err
	}
	return a.respond(w, r, factorResponse{Secret: e.Secret.Reveal(), URI: e.URI.Reveal()})
}

// confirmFactor serves POST /api/regulator/v1/second-factor/confirm.
func (a *API) confirmFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var otp string
	found, err := decode(r, field{name: "otp", text: &otp})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentOTP(&wrong, otp)
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	codes, err := a.People.ConfirmFactor(ctx, principal(ctx), otp, requestID(ctx))
	if err != nil {
		return err
	}
	answer := recoveryResponse{RecoveryCodes: make([]string, len(codes))}
	for i, c := range codes {
		answer.RecoveryCodes[i] = c.Reveal()
	}
	return a.respond(w, r, answer)
}

// removeFactor serves DELETE /api/regulator/v1/second-factor.
func (a *API) removeFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var password, otp string
	found, err := decode(r, field{name: "password", text: &password}, field{name: "otp", text: &otp})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentPassword(&wrong, "password", password)
	checkSentOTP(&wrong, otp)
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.RemoveFactor(ctx, principal(ctx), secret.Text(password), otp, requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"Two-factor authentication disabled."})
}

func checkSentOTP(wrong *fault.Form, otp string) {
	wrong.Check(otp != "", "otp", fault.Required, "Enter the code from the authenticator app.")
	wrong.Check(len(otp) <= maxOTPSent, "otp", fault.TooLong, "Use at most 64 characters.")
}
