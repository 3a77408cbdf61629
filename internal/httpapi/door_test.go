package httpapi_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// credentials returns one of every kind and in every state that there is.
func credentials(t *testing.T, s *stack) (c map[string]string, entity string) {
	t.Helper()
	entity, email := s.onboarded(t, s.token(t))
	_ = must(s.Registry.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: "s@regulator.example", Role: "auditor", Password: password}))(t)
	c = map[string]string{
		"none":                  "",
		"token":                 s.token(t),
		"token entity:onboard":  s.token(t, "entity:onboard"),
		"token document:upload": s.token(t, "document:upload"),
		"token line:supply":     s.lineToken(t, "MTN", "line:supply"),
		"token line:port":       s.lineToken(t, "", "line:port"),
		"token line:flag":       s.lineToken(t, "", "line:flag"),
		"token line:order":      s.lineToken(t, "", "line:order"),
		"session admin":         s.session(t, email),
		"session auditor":       s.session(t, "s@regulator.example"),
		"session administrator": s.staff(t, "administrator"),
		"session reviewer":      s.staff(t, "reviewer"),
		"api key live":          s.key,
		"api key test":          s.testKey(t),
		"client secret":         s.client.Secret.Reveal(),
		"unknown token":         secret.New(secret.AccessToken).Reveal(),
		"unknown session":       secret.New(secret.Session).Reveal(),
		"unknown live key":      secret.New(secret.LiveKey).Reveal(),
		"unknown test key":      secret.New(secret.TestKey).Reveal(),
		"malformed":             "lp_tok_" + strings.Repeat("x", 38),
		"typo in key":           typo(s.key),
		"two words":             s.key + " " + s.key,
		"json web token":        "eyJhbGciOiJub25lIn0.e30.",
		"expired token":         s.token(t),
		"expired session":       s.session(t, email),
		"idle session":          s.session(t, email),
		"revoked token":         s.token(t),
		"revoked session":       s.session(t, email),
		"revoked key":           s.newKey(t),
		"expired key":           s.newKey(t),
	}
	past := time.Now().Add(-time.Minute)
	for name, sql := range map[string]string{
		"expired token":   "UPDATE access_token SET expires_at = $2 WHERE mac = $1",
		"expired session": "UPDATE session SET expires_at = $2 WHERE mac = $1",
		"idle session":    "UPDATE session SET last_seen_at = $2::timestamptz - interval '30 minutes' WHERE mac = $1",
		"revoked token":   "UPDATE access_token SET revoked_at = $2 WHERE mac = $1",
		"revoked session": "UPDATE session SET revoked_at = $2 WHERE mac = $1",
		"revoked key":     "UPDATE api_key SET revoked_at = $2 WHERE mac = $1",
		"expired key":     "UPDATE api_key SET expires_at = $2 WHERE mac = $1",
	} {
		tag, err := s.pool.Exec(t.Context(), sql, s.Keeper.Peppers.Sign(c[name]), past)
		if err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %d rows, %v", name, tag.RowsAffected(), err)
		}
	}
	return c, entity
}

func typo(key string) string {
	last := key[len(key)-1]
	if last == 'a' {
		return key[:len(key)-1] + "b"
	}
	return key[:len(key)-1] + "a"
}

// Every route of the table meets every credential: only the listed cells pass,
// a missing scope or role is 403, and everything else is 401 with one text.
func TestEveryRouteAgainstEveryCredential(t *testing.T) {
	t.Parallel()
	const supplies, ports, flags, orders = "token line:supply", "token line:port", "token line:flag", "token line:order"
	tokens := []string{"token", "token entity:onboard", "token document:upload", supplies, ports, flags, orders}
	staff := []string{"session administrator", "session reviewer", "session auditor"}
	readers := append([]string{supplies}, staff...)
	imports, one := "GET "+importsPath, "GET "+importsPath+"/{importId}"
	passes := map[string][]string{
		"POST " + tokenPath:   nil, // asks for none: a Bearer header is ignored
		"POST " + loginPath:   nil,
		"POST " + onboardPath: {"token", "token entity:onboard"},
		"POST " + uploadPath:  {"token", "token document:upload", "session admin"},
		"POST " + verifyPath:  {"api key live", "api key test"},
		"POST " + batchPath:   {"api key live", "api key test"},
		verifiedRoute:         {"api key live", "api key test"},
		"GET " + clockPath:    {"api key test"},
		"POST " + clockPath:   {"api key test"},
		"POST " + eventsPath:  {supplies, ports, flags},
		"POST " + ordersPath:  {orders, "session administrator", "session reviewer"},
		"POST " + importsPath: {supplies},
		imports:               readers,
		one:                   readers,
		one + "/refused":      readers,
		"GET " + supplyPath:   readers,
		"POST " + historyPath: readers,
	}
	// Of the kinds that a route takes, whatever does not pass lacks a scope or a role.
	takes := map[string][]string{
		"POST " + onboardPath: tokens,
		"POST " + uploadPath:  append(staff, tokens...),
		"POST " + eventsPath:  tokens,
		"POST " + importsPath: tokens,
		"GET " + clockPath:    {"api key live"},
		"POST " + clockPath:   {"api key live"},
	}
	for _, route := range []string{"POST " + ordersPath, imports, one, one + "/refused", "GET " + supplyPath, "POST " + historyPath} {
		takes[route] = append(append([]string{"session admin"}, staff...), tokens...)
	}
	if got := (&httpapi.API{}).Operations(); len(got) != len(passes) {
		t.Fatalf("the route table has %d rows, this test knows %d", len(got), len(passes))
	}
	s, texts := newStack(t).withLines(t), make(map[string]string)
	creds, entity := credentials(t, s)
	for _, route := range slices.Sorted(maps.Keys(passes)) {
		open := passes[route] == nil
		for name, credential := range creds {
			res := s.do(t, validRequest(t, s, route, credential, entity))
			want := http.StatusUnauthorized
			switch {
			case open || slices.Contains(passes[route], name):
				want = http.StatusOK
			case slices.Contains(takes[route], name):
				want = http.StatusForbidden
			}
			if want == http.StatusOK && route == "POST "+importsPath {
				want = http.StatusAccepted
			}
			if res.Code != want {
				t.Errorf("%s with %q answered %d, want %d: %s", route, name, res.Code, want, res.Body)
			}
			if want == http.StatusUnauthorized {
				// One text for each route, whatever is wrong with the credential.
				msg := field(t, res.Body.Bytes(), "data", "message")
				if only, seen := texts[route]; seen && msg != only {
					t.Errorf("%s with %q says %q, which tells more than the one text", route, name, msg)
				}
				texts[route] = msg
			}
		}
	}
}

// validRequest returns a request that works if only the credential does.
func validRequest(t *testing.T, s *stack, route, credential, entity string) *http.Request {
	t.Helper()
	var r *http.Request
	method, path, _ := strings.Cut(route, " ")
	asker, number := s.key, knownNumber
	if strings.HasPrefix(credential, string(secret.TestKey)) {
		asker, number = credential, testNumber
	}
	switch path {
	case tokenPath:
		r = form(s.grant(nil))
	case loginPath:
		r = post(loginPath, "", `{"email":"s@regulator.example","password":"`+password+`"}`)
	case onboardPath:
		r = onboardRequest("", "x"+randomPhone()[1:]+"@harmattan.example", randomPhone(), "")
	case uploadPath:
		r = upload("", append(papers(), part{"entityUid", "", entity})...)
	case verifyPath:
		r = post(verifyPath, "", `{"phoneNumber":"`+number+`"}`)
	case batchPath:
		r = post(batchPath, "", `{"phoneNumbers":["`+knownNumber+`"]}`)
	case strings.TrimPrefix(verifiedRoute, "GET "):
		asked := s.do(t, post(verifyPath, asker, `{"phoneNumber":"`+number+`"}`))
		r = get(verifiedPath+field(t, asked.Body.Bytes(), "data", "requestId"), "")
	case eventsPath:
		r = post(eventsPath, "", eventsBody(t, happened("a", knownNumber, "USED", day)))
	case ordersPath:
		r = post(ordersPath, "", `{"phoneNumber":"`+knownNumber+`","action":"BLACKLIST","note":"x"}`)
	case historyPath:
		r = post(historyPath, "", `{"phoneNumber":"`+knownNumber+`"}`)
	case importsPath:
		if r = get(importsPath, ""); method == http.MethodPost {
			super(t, s, `UPDATE supply_import SET state = 'cancelled'`)
			r = sendFile("?kind=events", "", spottyFile)
		}
	case supplyPath:
		r = get(supplyPath, "")
	case clockPath:
		if r = get(clockPath, ""); method == http.MethodPost {
			r = post(clockPath, "", `{"advance":"P1D"}`)
		}
	default:
		id := s.sent(t, validRequest(t, s, "POST "+importsPath, s.operator(t), entity))
		r = get(strings.Replace(path, "{importId}", id, 1), "")
	}
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	return r
}

// The header must be there once and say Bearer; the scheme's case is free.
func TestAuthorizationHeaderForms(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for name, tc := range map[string]struct {
		headers []string
		want    int
	}{
		"lower case": {[]string{"bearer " + s.key}, 200},
		"no scheme":  {[]string{s.key}, 401},
		"basic":      {[]string{"Basic " + s.key}, 401},
		"twice":      {[]string{"Bearer " + s.key, "Bearer " + s.key}, 401},
		"two spaces": {[]string{"Bearer  " + s.key}, 401},
		"query":      {nil, 401},
	} {
		r := post(verifyPath+"?"+url.Values{"access_token": {s.key}}.Encode(), "", `{"phoneNumber":"`+knownNumber+`"}`)
		r.Header["Authorization"] = tc.headers
		if res := s.do(t, r); res.Code != tc.want {
			t.Errorf("%s: %d, want %d", name, res.Code, tc.want)
		}
	}
}
