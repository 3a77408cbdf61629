package client

import (
	"context"
	"time"
)

// LoginRequest has the credentials of an account.
type LoginRequest struct {
	Email    string
	Password Secret
	OTP      Secret // the code of two-factor authentication, or a recovery code; "" without it
}

// Session is the session of an admin.
type Session struct {
	FullName  string
	UserType  string
	Token     Secret
	ExpiresAt time.Time // at the latest; an unused session ends earlier
	Verified  bool      // whether the admin has confirmed the e-mail address or the phone number
}

// Login creates a session for an admin. Every wrong combination of e-mail and
// password returns [CodeUnauthenticated]; [CodeSecondFactorRequired] means that
// the same request is needed with an OTP.
//
// Each login that reaches the service creates a session. So it is retried only
// when the service refused it or could not be reached at all.
func (c *Client) Login(ctx context.Context, login LoginRequest) (*Session, error) {
	r, err := c.newRequest(ctx, "login", "/api/regulator/v1/login")
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"email": login.Email, "password": string(login.Password)}
	if login.OTP != "" {
		fields["otp"] = string(login.OTP)
	}
	if err := r.sendJSON(fields); err != nil {
		return nil, err
	}
	answer, err := send[envelope[struct {
		FullName string `json:"fullName"`
		UserType string `json:"userType"`
		Meta     struct {
			Token      Secret    `json:"token"`
			Expiration time.Time `json:"expiration"`
		} `json:"tokenMeta"`
		Verified bool `json:"isVerified"`
	}]](ctx, c, r)
	data := answer.Data
	switch {
	case err != nil:
		return nil, err
	case data.Meta.Token == "" || data.Meta.Expiration.IsZero():
		return nil, r.incomplete()
	}
	return &Session{
		FullName: data.FullName, UserType: data.UserType,
		Token: data.Meta.Token, ExpiresAt: data.Meta.Expiration,
		Verified: data.Verified,
	}, nil
}

// ProveSession enters the password of a session again, and a code where the account has
// two-factor authentication. For some minutes afterwards the session can do what was
// refused with [CodePasswordRequired].
func (c *Client) ProveSession(ctx context.Context, session, password, otp Secret) error {
	r, err := c.newRequest(ctx, "prove session", "/api/regulator/v1/session/prove")
	if err != nil {
		return err
	}
	if err := r.authorize(session); err != nil {
		return err
	}
	fields := map[string]any{"password": string(password)}
	if otp != "" {
		fields["otp"] = string(otp)
	}
	if err := r.sendJSON(fields); err != nil {
		return err
	}
	_, err = send[envelope[struct{}]](ctx, c, r)
	return err
}
