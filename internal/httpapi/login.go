package httpapi

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/secret"
)

const loginPath = "/api/regulator/v1/login"

// userType is constant in every session.
const userType = "REGULATOR"

// maxEmailSent and maxPasswordSent keep what goes into the hash small; longer
// ones cannot be right.
const (
	maxEmailSent    = 254
	maxPasswordSent = 1024
)

type loginResponse struct {
	FullName   string    `json:"fullName"`
	UserType   string    `json:"userType"`
	TokenMeta  tokenMeta `json:"tokenMeta"`
	IsVerified bool      `json:"isVerified"`
}

type tokenMeta struct {
	Token      string `json:"token"`
	Expiration string `json:"expiration"`
}

// logIn serves POST /api/regulator/v1/login.
func (a *API) logIn(w http.ResponseWriter, r *http.Request) error {
	var email, password, otp string
	found, err := decode(w, r, field{name: "email", text: &email}, field{name: "password", text: &password}, field{name: "otp", text: &otp})
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(email != "", "email", fault.Required, "Give the e-mail address of the account.")
	wrong.Check(len(email) <= maxEmailSent, "email", fault.TooLong, "Use at most 254 characters.")
	wrong.Check(password != "", "password", fault.Required, "Give the password.")
	wrong.Check(len(password) <= maxPasswordSent, "password", fault.TooLong, "Use at most 1,024 bytes.")
	if err := merge(found, wrong.Err()); err != nil {
		return err
	}
	l, err := a.Keeper.LogIn(r.Context(), email, secret.Text(password), requestID(r.Context()))
	if err != nil {
		return err
	}
	return a.respond(w, r, loginResponse{
		FullName: l.FullName, UserType: userType, IsVerified: l.Verified,
		TokenMeta: tokenMeta{Token: l.Text.Reveal(), Expiration: stamp(l.ExpiresAt)},
	})
}
