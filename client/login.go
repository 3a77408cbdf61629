package client

import (
	"context"
	"time"
)

// LoginRequest is who wants a session.
type LoginRequest struct {
	Email    string
	Password Secret
	OTP      Secret // the code of the second factor, or a recovery code; "" without one
}

// Session is an admin who is logged in.
type Session struct {
	FullName  string
	UserType  string
	Token     Secret
	ExpiresAt time.Time // at the latest; an unused session ends earlier
	Verified  bool      // whether the admin has confirmed the e-mail address or the phone number
}

// Login opens a session for an admin. [CodeUnauthenticated] is the one answer to
// every wrong combination; [CodeSecondFactorRequired] asks for the same request
// with an OTP.
//
// Each login that reaches the service opens a session. So it is repeated only
// when the service turned it away or could not be reached at all.
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
