package client

import (
	"context"
	"encoding/base64"
	"net/url"
	"strings"
	"time"
)

// The scopes of this version that an access token can have.
const (
	ScopeOnboard = "entity:onboard"
	ScopeUpload  = "document:upload"
	ScopeSupply  = "line:supply" // of an operator, about its own lines
	ScopePort    = "line:port"   // of the clearing house
	ScopeFlag    = "line:flag"   // of a sector's regulator
	ScopeOrder   = "line:order"  // of the regulator
)

// Credentials are the id and secret of a client, from the regulator's staff.
type Credentials struct {
	ID     string
	Secret Secret
	Scopes []string // of the token; none means all scopes of the client
}

// Token is an access token.
type Token struct {
	AccessToken Secret
	ExpiresAt   time.Time // by this machine's clock
	Scopes      []string
}

// Token gets an access token. Use it until shortly before it expires, not a new
// one for every request.
func (c *Client) Token(ctx context.Context, cred Credentials) (*Token, error) {
	r, err := c.newRequest(ctx, "token", "/api/auth/token")
	if err != nil {
		return nil, err
	}
	if cred.ID == "" || cred.Secret == "" {
		return nil, r.wrong("the credentials need an id and a secret")
	}
	// RFC 6749 section 2.3.1 encodes both before they are put together.
	pair := url.QueryEscape(cred.ID) + ":" + url.QueryEscape(string(cred.Secret))
	r.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(cred.Scopes) > 0 {
		form.Set("scope", strings.Join(cred.Scopes, " "))
	}
	r.body = []byte(form.Encode())
	r.header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.repeatable = true

	began := time.Now() // before the token is issued, so that its lifetime is never overestimated
	answer, err := send[struct {
		AccessToken Secret `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
		Scope       string `json:"scope"`
	}](ctx, c, r)
	switch {
	case err != nil:
		return nil, err
	case answer.AccessToken == "" || answer.ExpiresIn <= 0:
		return nil, r.incomplete()
	}
	return &Token{
		AccessToken: answer.AccessToken,
		ExpiresAt:   began.Add(time.Duration(answer.ExpiresIn) * time.Second),
		Scopes:      strings.Fields(answer.Scope),
	}, nil
}
