package httpapi

import (
	"encoding/json/v2"
	"net"
	"net/http"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	revokePath   = "/api/auth/revoke"
	metadataPath = "/.well-known/oauth-authorization-server"
)

// revokeToken serves POST /api/auth/revoke (RFC 7009). A Bearer header is
// ignored: the client authenticates with its id and secret.
func (a *API) revokeToken(w http.ResponseWriter, r *http.Request) error {
	g, err := readGrant(r, true)
	if err != nil {
		return err
	}
	err = a.Access.RevokeToken(r.Context(), g.clientID, secret.Text(g.clientSecret), secret.Text(g.token), callerAddr(r.Context()), requestID(r.Context()))
	if err != nil {
		return err
	}
	return a.respond(w, r, struct{}{})
}

// metadata is the OAuth server metadata (RFC 8414).
type metadata struct {
	Issuer                string   `json:"issuer"`
	TokenEndpoint         string   `json:"token_endpoint"`
	TokenAuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	Scopes                []string `json:"scopes_supported"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	RevocationAuthMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	ServiceDocumentation  string   `json:"service_documentation"`
}

// showMetadata serves GET /.well-known/oauth-authorization-server. The response
// has the format of RFC 8414, without the envelope.
func (a *API) showMetadata(w http.ResponseWriter, r *http.Request) error {
	issuer := a.issuer(r)
	methods := []string{"client_secret_basic", "client_secret_post"}
	scopes := make([]string, len(access.Scopes))
	for i, s := range access.Scopes {
		scopes[i] = string(s)
	}
	body, err := json.Marshal(metadata{
		Issuer: issuer, TokenEndpoint: issuer + tokenPath, TokenAuthMethods: methods, GrantTypes: []string{"client_credentials"}, ResponseTypes: []string{},
		Scopes: scopes, RevocationEndpoint: issuer + revokePath, RevocationAuthMethods: methods, ServiceDocumentation: issuer + "/docs",
	})
	if err != nil {
		return err
	}
	send(w, r, http.StatusOK, body)
	return nil
}

// issuer returns the address of the service: the one in the settings or, on a machine for tests, the one that the
// connection has come to. It is never what the request says of itself: whoever chose that would choose where
// clients send their secrets.
func (a *API) issuer(r *http.Request) string {
	if a.PublicURL != "" {
		return a.PublicURL
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return scheme + at.String()
	}
	return scheme + "127.0.0.1"
}
