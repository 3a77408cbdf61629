package httpapi_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/secret"
)

type asker = func(t *testing.T, s *stack) *http.Request

func form(values url.Values) *http.Request {
	r := post(tokenPath, "", values.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func (s *stack) grant(change func(url.Values)) url.Values {
	v := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.client.ID.String()}, "client_secret": {s.client.Secret.Reveal()}}
	if change != nil {
		change(v)
	}
	return v
}

func tokenAnswers() map[string]answer {
	ask := func(change func(url.Values)) asker {
		return func(_ *testing.T, s *stack) *http.Request { return form(s.grant(change)) }
	}
	raw := func(kind, body string) asker {
		return func(*testing.T, *stack) *http.Request {
			r := post(tokenPath, "", body)
			r.Header.Set("Content-Type", kind)
			return r
		}
	}
	return map[string]answer{
		"token_ok":           {200, ask(nil)},
		"token_ok_one_scope": {200, ask(func(v url.Values) { v.Set("scope", "entity:onboard") })},
		"token_ok_extra":     {200, ask(func(v url.Values) { v.Set("audience", "x") })},
		"token_ok_json": {200, func(_ *testing.T, s *stack) *http.Request {
			return post(tokenPath, "", `{"grant_type":"client_credentials","client_id":"`+s.client.ID.String()+`","client_secret":"`+s.client.Secret.Reveal()+`"}`)
		}},
		"token_ok_basic": {200, func(_ *testing.T, s *stack) *http.Request {
			r := form(url.Values{"grant_type": {"client_credentials"}})
			r.SetBasicAuth(s.client.ID.String(), s.client.Secret.Reveal())
			return r
		}},
		"token_ok_bearer_ignored": {200, func(_ *testing.T, s *stack) *http.Request {
			r := form(s.grant(nil))
			r.Header.Set("Authorization", "Bearer nonsense")
			return r
		}},
		"token_empty":        {400, raw("application/x-www-form-urlencoded", "")},
		"token_bad_grant":    {400, ask(func(v url.Values) { v.Set("grant_type", "password") })},
		"token_bad_scope":    {400, ask(func(v url.Values) { v.Set("scope", "line:order") })},
		"token_twice":        {400, ask(func(v url.Values) { v.Add("client_id", "x") })},
		"token_bad_form":     {400, raw("application/x-www-form-urlencoded", "a=%zz")},
		"token_json_unknown": {400, raw("application/json", `{"grant":"x"}`)},
		"token_two_secrets": {400, func(_ *testing.T, s *stack) *http.Request {
			r := form(s.grant(nil))
			r.SetBasicAuth(s.client.ID.String(), "x")
			return r
		}},
		"token_bad_secret": {401, ask(func(v url.Values) { v.Set("client_secret", secret.New(secret.ClientSecret).Reveal()) })},
		"token_bad_client": {401, ask(func(v url.Values) { v.Set("client_id", "nobody") })},
		"token_basic_garbage": {401, func(_ *testing.T, _ *stack) *http.Request {
			r := form(url.Values{"grant_type": {"client_credentials"}})
			r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("%zz:x")))
			return r
		}},
		"token_revoked": {401, func(t *testing.T, s *stack) *http.Request {
			if err := s.Access.RevokeClient(t.Context(), s.client.ID, access.Operator, uuid.Nil); err != nil {
				t.Fatal(err)
			}
			return form(s.grant(nil))
		}},
		"token_media_type":  {415, raw("text/plain", "grant_type=client_credentials")},
		"token_too_large":   {413, raw("application/x-www-form-urlencoded", "a="+strings.Repeat("x", 17<<10))},
		"token_panic":       {500, func(_ *testing.T, s *stack) *http.Request { r := form(s.grant(nil)); s.Access.Peppers = nil; return r }},
		"token_unavailable": {503, func(_ *testing.T, s *stack) *http.Request { s.pool.Close(); return form(s.grant(nil)) }},
	}
}

func loginAnswers() map[string]answer {
	ask := func(body func(email string) string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			_, email := s.onboarded(t, s.token(t))
			return post(loginPath, "", body(email))
		}
	}
	says := func(body string) asker { return ask(func(string) string { return body }) }
	return map[string]answer{
		"login_ok":             {200, ask(func(e string) string { return `{"email":"` + e + `","password":"` + password + `"}` })},
		"login_ok_other_case":  {200, ask(func(e string) string { return `{"email":"` + strings.ToUpper(e) + `","password":"` + password + `"}` })},
		"login_wrong_password": {401, ask(func(e string) string { return `{"email":"` + e + `","password":"not the one"}` })},
		"login_wrong_email":    {401, says(`{"email":"nobody@harmattan.example","password":"` + password + `"}`)},
		"login_no_address":     {401, says(`{"email":"nobody","password":"` + password + `"}`)},
		"login_empty":          {400, says(`{}`)},
		"login_too_long":       {400, says(`{"email":"` + strings.Repeat("a", 255) + `","password":"` + strings.Repeat("b", 1025) + `"}`)},
		"login_wrong_types":    {400, says(`{"email":1,"password":null,"otp":[]}`)},
		"login_media_type": {415, func(*testing.T, *stack) *http.Request {
			r := post(loginPath, "", `{}`)
			r.Header.Del("Content-Type")
			return r
		}},
		"login_too_large": {413, says(`{"email":"` + strings.Repeat("a", 17<<10) + `"}`)},
		"login_panic": {500, func(_ *testing.T, s *stack) *http.Request {
			s.People.Passwords = nil
			return post(loginPath, "", `{"email":"a@b.example","password":"x"}`)
		}},
		"login_unavailable": {503, func(_ *testing.T, s *stack) *http.Request {
			s.pool.Close()
			return post(loginPath, "", `{"email":"a@b.example","password":"x"}`)
		}},
	}
}

func verifyAnswers() map[string]answer {
	ask := func(body string) asker {
		return func(_ *testing.T, s *stack) *http.Request { return post(verifyPath, s.key, body) }
	}
	return map[string]answer{
		"verify_ok":             {200, ask(`{"phoneNumber":"0803-123 45.67"}`)},
		"verify_unknown_number": {200, ask(`{"phoneNumber":"+2348039999999"}`)},
		"verify_ok_correlator": {200, func(_ *testing.T, s *stack) *http.Request {
			r := post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`)
			r.Header.Set("X-Correlator", "order-77/a")
			return r
		}},
		"verify_ok_since_no":      {200, ask(`{"phoneNumber":"` + knownNumber + `","since":"2026-01-02T00:00:00+01:00"}`)},
		"verify_ok_since_yes":     {200, ask(`{"phoneNumber":"` + swappedNumber + `","since":"2026-01-02"}`)},
		"verify_ok_since_unknown": {200, ask(`{"phoneNumber":"+2348039999999","since":"2026-01-02"}`)},
		"verify_ok_include_none":  {200, ask(`{"phoneNumber":"` + knownNumber + `","include":[]}`)},
		"verify_ok_include_both":  {200, ask(`{"phoneNumber":"` + flaggedNumber + `","include":["signals","coverage","signals"]}`)},
		"verify_ok_everything":    {200, ask(`{"phoneNumber":"+2348039999999","include":["coverage","dates","signals"],"since":"2026-01-02"}`)},
		"verify_since_malformed":  {400, ask(`{"phoneNumber":"` + knownNumber + `","since":"2 January"}`)},
		"verify_since_future":     {400, ask(`{"phoneNumber":"` + knownNumber + `","since":"2999-01-01"}`)},
		"verify_since_too_early":  {400, ask(`{"phoneNumber":"` + knownNumber + `","since":"0001-01-01"}`)},
		"verify_since_empty":      {400, ask(`{"phoneNumber":"` + knownNumber + `","since":""}`)},
		"verify_ok_dates": {200, func(t *testing.T, s *stack) *http.Request {
			key := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "k", Mode: "live", Purpose: "payment"}, access.Operator, uuid.Nil))(t)
			return post(verifyPath, key.Text.Reveal(), `{"phoneNumber":"`+swappedNumber+`","include":["dates"]}`)
		}},
		"verify_ok_dates_withheld": {200, ask(`{"phoneNumber":"` + swappedNumber + `","include":["dates"]}`)},
		"verify_ok_external_id":    {200, ask(`{"phoneNumber":"` + knownNumber + `","externalId":"customer \"1\" \u4e2d"}`)},
		"verify_ok_on_behalf_of": {200, func(t *testing.T, s *stack) *http.Request {
			s.mandate(t, "Harbour Bank")
			return post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`","onBehalfOf":" Harbour Bank "}`)
		}},
		"verify_no_mandate":        {403, ask(`{"phoneNumber":"` + knownNumber + `","onBehalfOf":"Harbour Bank"}`)},
		"verify_wrong_ids":         {400, ask(`{"phoneNumber":"` + knownNumber + `","onBehalfOf":" ","externalId":"` + strings.Repeat("x", 65) + `"}`)},
		"verify_include_unknown":   {400, ask(`{"phoneNumber":"` + knownNumber + `","include":["signals","reasons","all"]}`)},
		"verify_include_text":      {400, ask(`{"phoneNumber":"` + knownNumber + `","include":"signals"}`)},
		"verify_include_of_number": {400, ask(`{"phoneNumber":"` + knownNumber + `","include":["signals",1]}`)},
		"verify_all_wrong":         {400, ask(`{"phoneNumber":"0803","since":"2999-01-01","include":[null]}`)},

		"verify_malformed":     {400, ask(`{"phoneNumber":"0803"}`)},
		"verify_full_width":    {400, ask(`{"phoneNumber":"０８０３１２３４５６７"}`)},
		"verify_empty":         {400, ask(`{}`)},
		"verify_unknown_field": {400, ask(`{"phone":"` + knownNumber + `"}`)},
		"verify_wrong_type":    {400, ask(`{"phoneNumber":8031234567}`)},
		"verify_null":          {400, ask(`null`)},
		"verify_bad_correlator": {400, func(_ *testing.T, s *stack) *http.Request {
			r := post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`)
			r.Header.Set("X-Correlator", "with space")
			return r
		}},
		"verify_no_credential":    {401, func(*testing.T, *stack) *http.Request { return post(verifyPath, "", `{}`) }},
		"verify_wrong_credential": {401, func(t *testing.T, s *stack) *http.Request { return post(verifyPath, s.token(t), `{}`) }},
		"verify_landline":         {422, ask(`{"phoneNumber":"+2342012345678"}`)},
		"verify_foreign":          {422, ask(`{"phoneNumber":"+447400123456"}`)},
		"verify_media_type": {415, func(_ *testing.T, s *stack) *http.Request {
			r := post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`)
			r.Header.Set("Content-Type", "application/json; charset=latin1")
			return r
		}},
		"verify_too_large": {413, ask(`{"phoneNumber":"` + strings.Repeat("0", 17<<10) + `"}`)},
		"verify_panic": {500, func(_ *testing.T, s *stack) *http.Request {
			s.Verifier = nil
			return post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`)
		}},
		"verify_unavailable": {503, func(_ *testing.T, s *stack) *http.Request { s.pool.Close(); return post(verifyPath, s.key, `{}`) }},
	}
}

func generalAnswers() map[string]answer {
	ask := func(method, path string) asker {
		return func(t *testing.T, _ *stack) *http.Request {
			return httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		}
	}
	return map[string]answer{
		"no_such_path":   {404, ask(http.MethodGet, "/api/none")},
		"no_clean_path":  {404, ask(http.MethodPost, "/api//auth/token")},
		"trailing_slash": {404, ask(http.MethodPost, "/api/auth/token/")},
		"no_such_method": {405, ask(http.MethodGet, "/api/auth/token")},
		"options":        {405, ask(http.MethodOptions, "/api/regulator/v1/login")},
	}
}
