package httpapi

import (
	"encoding/json/v2"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var (
	errTokenType = fault.New(fault.UnsupportedMediaType,
		"Send the body as application/x-www-form-urlencoded or application/json, in UTF-8.")
	errForm  = fault.New(fault.InvalidArgument, "The body is not a valid form. Send name=value pairs, each name once.")
	errGrant = fault.ErrInvalid.With(fault.Violation{
		Field: "grant_type", Code: fault.NotAllowed, Message: "Must be client_credentials.",
	})
)

const tokenPath = "/api/auth/token" //nolint:gosec // a path, not a token

// tokenResponse has the fields of RFC 6749 and those of the envelope, so that it
// works for standard OAuth clients and for clients that read the envelope.
type tokenResponse struct {
	AccessToken string    `json:"access_token"`
	TokenType   string    `json:"token_type"`
	ExpiresIn   int64     `json:"expires_in"`
	Scope       string    `json:"scope"`
	Status      string    `json:"status"`
	Data        tokenMeta `json:"data"`
	StatusCode  string    `json:"statusCode"`
}

type tokenProblem struct {
	Error            string  `json:"error"`
	ErrorDescription string  `json:"error_description"`
	Status           string  `json:"status"`
	Data             problem `json:"data"`
	StatusCode       string  `json:"statusCode"`
}

// grant is a request for a token, or to revoke one.
type grant struct {
	kind, clientID, clientSecret, scope string

	token string // to revoke; empty in a request for a token
}

// issueToken serves POST /api/auth/token. A Bearer header is ignored here.
func (a *API) issueToken(w http.ResponseWriter, r *http.Request) error {
	g, err := readGrant(r, false)
	if err == nil && g.kind != "client_credentials" {
		err = errGrant
	}
	var t access.Token
	if err == nil {
		t, err = a.Access.IssueToken(r.Context(), g.clientID, secret.Text(g.clientSecret), strings.Fields(g.scope))
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(tokenResponse{
		AccessToken: t.Text.Reveal(), TokenType: "Bearer", ExpiresIn: int64(a.Access.TokenLifetime / time.Second), Scope: strings.Join(t.Scopes, " "),
		Status: "Success", Data: tokenMeta{Token: t.Text.Reveal(), Expiration: stamp(t.ExpiresAt)}, StatusCode: "200",
	})
	if err != nil {
		return err
	}
	w.Header().Set("Pragma", "no-cache")
	send(w, r, http.StatusOK, body)
	return nil
}

// failToken sends f with the fields of RFC 6749 and those of the envelope.
func (a *API) failToken(w http.ResponseWriter, r *http.Request, f *fault.Error) {
	status, p := a.problem(w, r, f)
	if f.Code == fault.Unauthenticated {
		w.Header().Set("WWW-Authenticate", `Basic realm="lineproof"`) // the scheme for this endpoint
	}
	body, err := json.Marshal(tokenProblem{
		Error: oauthError(f), ErrorDescription: errorDescription(f), Status: "Error", Data: p, StatusCode: strconv.Itoa(status),
	})
	if err != nil {
		panic(err) // a struct of strings
	}
	send(w, r, status, body)
}

// errorDescription puts all violations into one text: standard OAuth clients show
// nothing else.
func errorDescription(f *fault.Error) string {
	if len(f.Violations) == 0 {
		return f.Message
	}
	words := make([]string, len(f.Violations))
	for i, v := range f.Violations {
		words[i] = v.Field + ": " + v.Message
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r < ' ' || r > '~' || r == '\\':
			return '?' // RFC 6749 allows no other characters, and a field name can have any
		}
		return r
	}, strings.Join(words, " "))
}

// oauthError returns the error code of RFC 6749 for a fault.
func oauthError(f *fault.Error) string {
	switch {
	case f.Code == fault.Unauthenticated:
		return "invalid_client"
	case len(f.Violations) == 1 && f.Violations[0] == access.ErrBadScope.Violations[0]:
		return "invalid_scope"
	case len(f.Violations) == 1 && f.Violations[0] == errGrant.Violations[0]:
		return "unsupported_grant_type"
	case f.Code == fault.Unavailable || f.Code == fault.TooManyRequests:
		return "temporarily_unavailable"
	case f.Code == fault.Internal:
		return "server_error"
	}
	return "invalid_request"
}

// readGrant reads the request of both token operations.
func readGrant(r *http.Request, revokes bool) (grant, error) {
	var g grant
	var found []fault.Violation
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, named := params["charset"]
	if err != nil || named && !strings.EqualFold(charset, "utf-8") {
		return grant{}, errTokenType
	}
	body, err := readBody(r)
	if err != nil {
		return grant{}, err
	}
	switch kind {
	case "application/json":
		found, err = decodeObject(body, g.fields(revokes))
	case "application/x-www-form-urlencoded":
		g, found, err = readForm(body)
	default:
		return grant{}, errTokenType
	}
	if err != nil {
		return grant{}, err
	}
	if err := basic(r, &g, &found); err != nil {
		return grant{}, err
	}
	var wrong fault.Form
	wrong.Check(g.kind != "" || revokes, "grant_type", fault.Required, "Send grant_type=client_credentials.")
	wrong.Check(g.token != "" || !revokes, "token", fault.Required, "Send the access token to revoke.")
	wrong.Check(g.clientID != "", "client_id", fault.Required, "Send the client's id, in the body or by HTTP Basic.")
	wrong.Check(g.clientSecret != "", "client_secret", fault.Required, "Send the client's secret, in the body or by HTTP Basic.")
	return g, mergeViolations(found, wrong.Err())
}

// fields are the JSON fields of the operation.
func (g *grant) fields(revokes bool) []field {
	both := []field{{name: "client_id", text: &g.clientID}, {name: "client_secret", text: &g.clientSecret}}
	if revokes {
		return append(both, field{name: "token", text: &g.token}, field{name: "token_type_hint", text: new(string)})
	}
	return append(both, field{name: "grant_type", text: &g.kind}, field{name: "scope", text: &g.scope})
}

// readForm reads a form. As RFC 6749 requires, unknown fields are ignored and
// repeated fields are refused.
func readForm(body []byte) (grant, []fault.Violation, error) {
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return grant{}, nil, errForm
	}
	var wrong fault.Form
	one := func(name string) string {
		wrong.Check(len(values[name]) <= 1, name, fault.Repeated, fault.RepeatedField)
		v := values.Get(name)
		wrong.Check(utf8.ValidString(v) && !strings.ContainsRune(v, 0), name, fault.BadFormat, "Must be UTF-8 without the NUL character.")
		return v
	}
	g := grant{kind: one("grant_type"), clientID: one("client_id"), clientSecret: one("client_secret"), scope: one("scope"), token: one("token")}
	return g, wrong.Violations(), nil
}

// basic reads id and secret from an HTTP Basic header, if there is one. The body
// may then repeat the id, but must not have a secret, too.
func basic(r *http.Request, g *grant, found *[]fault.Violation) error {
	id, password, ok := r.BasicAuth()
	if !ok {
		return nil
	}
	var err1, err2 error
	id, err1 = url.QueryUnescape(id)
	password, err2 = url.QueryUnescape(password)
	if err := errors.Join(err1, err2); err != nil || !utf8.ValidString(id+password) || strings.ContainsRune(id+password, 0) {
		return access.ErrBadClient
	}
	if g.clientSecret != "" || g.clientID != "" && g.clientID != id {
		*found = append(*found, fault.Violation{
			Field: "client_secret", Code: fault.Repeated, Message: "Send id and secret by HTTP Basic or in the body, not both.",
		})
	}
	g.clientID, g.clientSecret = id, password
	return nil
}
