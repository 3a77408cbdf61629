package httpapi

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const provePath = "/api/regulator/v1/session/prove"

// proveSession serves POST /api/regulator/v1/session/prove. For some minutes afterwards the
// session may do what needs the password; package stepup has the list.
func (a *API) proveSession(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var password, otp string
	found, err := decode(r, field{name: "password", text: &password}, field{name: "otp", text: &otp})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentPassword(&wrong, "password", password)
	wrong.Check(len(otp) <= maxOTPSent, "otp", fault.TooLong, "Use at most 64 characters.")
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	if err := a.People.Prove(ctx, principal(ctx), secret.Text(password), otp, requestID(ctx)); err != nil {
		return err
	}
	return a.respond(w, r, messageResponse{"Password accepted. For the next 5 minutes this session can do what needs the password."})
}
