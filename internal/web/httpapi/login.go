package httpapi

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	loginPath  = "/api/regulator/v1/login"
	loginRoute = "POST " + loginPath
)

// userType is the same in every login response; the contract requires it.
const userType = "REGULATOR"

// The lengths are limited before the values reach a hash function. Longer values
// cannot be correct.
const (
	maxEmailSent    = 254
	maxPasswordSent = 1024
	maxOTPSent      = 64
	maxTokenSent    = 128
	maxDeviceSent   = 128
)

// deviceHeader has the device token that an earlier login returned.
const deviceHeader = "X-Device"

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
	ctx := r.Context()
	var email, password, otp string
	found, err := decode(r, field{name: "email", text: &email}, field{name: "password", text: &password}, field{name: "otp", text: &otp})
	if err != nil {
		return err
	}
	var wrong fault.Form
	checkSentEmail(&wrong, email)
	checkSentPassword(&wrong, "password", password)
	wrong.Check(len(otp) <= maxOTPSent, "otp", fault.TooLong, "Use at most 64 characters.")
	device := r.Header.Get(deviceHeader)
	wrong.Check(len(device) <= maxDeviceSent && len(r.Header.Values(deviceHeader)) <= 1, deviceHeader, fault.BadFormat,
		"Send one device token from an earlier login, or the word new.")
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	l, err := a.People.LogIn(ctx, people.Attempt{
		Email: email, Password: secret.Text(password), OTP: otp, From: callerAddr(ctx), Agent: r.UserAgent(), Device: device,
	}, requestID(ctx))
	if err != nil {
		return err
	}
	if l.Device != "" {
		w.Header().Set(deviceHeader, l.Device.Reveal())
	}
	return a.respond(w, r, loginResponse{
		FullName: l.FullName, UserType: userType, IsVerified: l.Verified,
		TokenMeta: tokenMeta{Token: l.Text.Reveal(), Expiration: stamp(l.ExpiresAt)},
	})
}

func checkSentEmail(wrong *fault.Form, email string) {
	wrong.Check(email != "", "email", fault.Required, "Enter the e-mail address of the account.")
	wrong.Check(len(email) <= maxEmailSent, "email", fault.TooLong, "Use at most 254 characters.")
}

func checkSentPassword(wrong *fault.Form, field, password string) {
	wrong.Check(password != "", field, fault.Required, "Enter the password.")
	wrong.Check(len(password) <= maxPasswordSent, field, fault.TooLong, "Use at most 1,024 bytes.")
}

func checkSentToken(wrong *fault.Form, token string) {
	wrong.Check(token != "", "token", fault.Required, "Enter the part of the link after the #.")
	wrong.Check(len(token) <= maxTokenSent, "token", fault.TooLong, "Use at most 128 characters.")
}
