package httpapi_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// credentials returns one credential of every kind in every state.
func credentials(t *testing.T, s *stack) (c map[string]string, entity string) {
	t.Helper()
	entity, email := s.onboarded(t, s.token(t))
	_ = must(s.Registry.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: "s@regulator.example", Role: "auditor", Password: password}, access.Operator, uuid.Nil))(t)
	c = map[string]string{
		"none":                  "",
		"token":                 s.token(t),
		"token entity:onboard":  s.token(t, "entity:onboard"),
		"token document:upload": s.token(t, "document:upload"),
		"token line:supply":     s.operator(t),
		"token line:port":       s.lineToken(t, "", "line:port"),
		"token line:flag":       s.lineToken(t, "", "line:flag"),
		"token line:order":      s.lineToken(t, "", "line:order"),
		"session admin":         s.session(t, email),
		"session auditor":       s.session(t, "s@regulator.example"),
		"session administrator": s.staff(t, "administrator"),
		"session reviewer":      s.staff(t, "reviewer"),
		"portal admin":          s.open(t, access.SessionForm{Account: s.admin(t).id, Portal: true}),
		"portal administrator":  s.open(t, access.SessionForm{Account: s.administrator(t).id, Portal: true}),
		"api key live":          s.key,
		"api key test":          s.testKey(t),
		"api key bank":          s.bankKey(t, access.Live),
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
		"session limited":       s.limited(t),
		"disabled's session":    s.staff(t, "administrator"),
	}
	s.ownersOf(t, c)
	past := time.Now().Add(-time.Minute)
	for name, sql := range map[string]string{
		"expired token":   "UPDATE access_token SET expires_at = $2 WHERE mac = $1",
		"expired session": "UPDATE session SET expires_at = $2 WHERE mac = $1",
		"idle session":    "UPDATE session SET last_seen_at = $2::timestamptz - interval '30 minutes' WHERE mac = $1",
		"revoked token":   "UPDATE access_token SET revoked_at = $2 WHERE mac = $1",
		"revoked session": "UPDATE session SET revoked_at = $2 WHERE mac = $1",
		"revoked key":     "UPDATE api_key SET revoked_at = $2 WHERE mac = $1",
		"expired key":     "UPDATE api_key SET expires_at = $2 WHERE mac = $1",
		// Its owner is stopped, or it comes from another network.
		"disabled's session":         "UPDATE account SET disabled_at = $2 WHERE id = (SELECT account_id FROM session WHERE mac = $1)",
		"suspended client's token":   "UPDATE client SET suspended_at = $2 WHERE id = (SELECT client_id FROM access_token WHERE mac = $1)",
		"revoked client's token":     "UPDATE client SET revoked_at = $2 WHERE id = (SELECT client_id FROM access_token WHERE mac = $1)",
		"suspended entity's key":     "UPDATE entity SET status = 'Suspended' WHERE id = (SELECT entity_id FROM api_key WHERE mac = $1) AND $2::timestamptz IS NOT NULL",
		"revoked entity's key":       "UPDATE entity SET status = 'Revoked' WHERE id = (SELECT entity_id FROM api_key WHERE mac = $1) AND $2::timestamptz IS NOT NULL",
		"silent entity's key":        "UPDATE entity SET asks = false WHERE id = (SELECT entity_id FROM api_key WHERE mac = $1) AND $2::timestamptz IS NOT NULL",
		"suspended entity's session": "UPDATE entity SET status = 'Suspended' WHERE id = (SELECT a.entity_id FROM session s JOIN account a ON a.id = s.account_id WHERE s.mac = $1) AND $2::timestamptz IS NOT NULL",
		"key from elsewhere":         "UPDATE api_key SET networks = '{198.51.100.0/24}' WHERE mac = $1 AND $2::timestamptz IS NOT NULL",
	} {
		tag, err := s.pool.Exec(t.Context(), sql, s.Access.Peppers.Sign(secret.ForCredentials, c[name]), past)
		if err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %d rows, %v", name, tag.RowsAffected(), err)
		}
	}
	return c, entity
}

// ownersOf adds credentials whose owners will be stopped, each with its own
// owner.
func (s *stack) ownersOf(t *testing.T, c map[string]string) {
	t.Helper()
	for _, name := range []string{"suspended client's token", "revoked client's token"} {
		client := s.newClient(t, "entity:onboard", "document:upload")
		c[name] = must(s.Access.IssueToken(t.Context(), client.ID.String(), client.Secret, nil))(t).Text.Reveal()
	}
	for _, name := range []string{"suspended entity's key", "revoked entity's key", "silent entity's key", "key from elsewhere"} {
		bank := must(s.Registry.CreateRelyingParty(t.Context(), "Bank", "RC 8", access.Operator, uuid.Nil))(t)
		c[name] = s.ownKey(t, bank.ID).Text.Reveal()
	}
	_, email := s.onboarded(t, s.token(t))
	c["suspended entity's session"] = s.session(t, email)
}

// limited creates a session of staff who must enable two-factor authentication
// first.
func (s *stack) limited(t *testing.T) string {
	t.Helper()
	made := must(s.Registry.CreateStaff(t.Context(), registry.StaffForm{
		Name: "L", Email: "limited@regulator.example", Role: "reviewer", Password: password,
	}, access.Operator, uuid.Nil))(t)
	return s.open(t, access.SessionForm{Account: made.ID, Limited: true})
}

func typo(key string) string {
	last := key[len(key)-1]
	if last == 'a' {
		return key[:len(key)-1] + "b"
	}
	return key[:len(key)-1] + "a"
}

const (
	rollRoute   = "POST " + keysPath + "/{keyId}/roll"
	endKeyRoute = "DELETE " + keysPath + "/{keyId}"
	reportRoute = "POST " + keysPath + "/{keyId}/report-leaked"
)

// Every route is called with every credential: only the listed combinations
// pass, a missing scope or role is 403, and everything else is 401 with one
// message.
func TestEveryRouteAgainstEveryCredential(t *testing.T) {
	t.Parallel()
	const supplies, ports, flags, orders = "token line:supply", "token line:port", "token line:flag", "token line:order"
	tokens := []string{"token", "token entity:onboard", "token document:upload", supplies, ports, flags, orders}
	staff := []string{"session administrator", "session reviewer", "session auditor"}
	readers := append([]string{supplies}, staff...)
	imports, one := "GET "+importsPath, "GET "+importsPath+"/{importId}"
	const cancelRoute = "POST " + importsPath + "/{importId}/cancel"
	document := "GET " + documentsPath + "/{documentId}"
	passes := map[string][]string{
		"POST " + tokenPath:   nil, // asks for none: a Bearer header is ignored
		"POST " + revokePath:  nil,
		"GET " + metadataPath: nil,
		"GET " + keysPath:     {"session admin"},
		"POST " + keysPath:    {"session admin"},
		rollRoute:             {"session admin"},
		endKeyRoute:           {"session admin"},
		reportRoute:           {"session admin"},
		"POST " + loginPath:   nil,
		"POST " + onboardPath: {"token", "token entity:onboard"},
		"POST " + uploadPath:  {"token", "token document:upload", "session admin"},

		"GET " + documentsPath: append([]string{"token", "token document:upload", "session admin"}, staff...),
		document:               append([]string{"token", "token document:upload", "session admin"}, staff...),
		document + "/content":  append([]string{"session admin"}, staff...),

		"POST " + documentsPath + "/{documentId}/review": {"session administrator", "session reviewer"},

		"POST " + verifyPath:  {"api key live", "api key test", "api key bank"},
		"POST " + batchPath:   {"api key live", "api key test", "api key bank"},
		verifiedRoute:         {"api key live", "api key test", "api key bank"},
		receiptRoute:          {"api key live", "api key test", "api key bank"},
		"GET " + budgetsPath:  {"api key live", "api key test", "api key bank"},
		"GET " + clockPath:    {"api key test"},
		"POST " + clockPath:   {"api key test"},
		"POST " + eventsPath:  {supplies, ports, flags},
		"POST " + ordersPath:  {orders, "session administrator", "session reviewer"},
		"POST " + importsPath: {supplies, ports, flags},
		imports:               append([]string{ports, flags}, readers...),
		one:                   readers,
		one + "/refused":      readers,
		one + "/receipt":      {supplies},
		cancelRoute:           {supplies},
		"GET " + supplyPath:   readers,
		"POST " + historyPath: readers,

		"GET " + conflictsPath: append([]string{orders}, staff...),
	}
	// Of the kinds that a route accepts, those that do not pass lack a scope
	// or a role.
	takes := map[string][]string{
		"POST " + onboardPath: tokens,
		"POST " + uploadPath:  append(append([]string{"session limited"}, staff...), tokens...),
		"POST " + eventsPath:  tokens,
		"POST " + importsPath: tokens,
		one + "/receipt":      tokens,
		cancelRoute:           tokens,

		"GET " + documentsPath: append([]string{"session limited"}, tokens...),
		document:               append([]string{"session limited"}, tokens...),
		document + "/content":  {"session limited"},

		"POST " + documentsPath + "/{documentId}/review": {"session admin", "session limited", "session auditor"},

		"GET " + clockPath:  {"api key live", "api key bank"},
		"POST " + clockPath: {"api key live", "api key bank"},
	}
	for _, route := range bankRoutes {
		passes[route], takes[route] = []string{"api key bank"}, []string{"api key live", "api key test"}
	}
	for _, route := range []string{"GET " + keysPath, "POST " + keysPath, rollRoute, endKeyRoute, reportRoute} {
		takes[route] = append([]string{"session limited"}, staff...)
	}
	for _, route := range []string{"POST " + ordersPath, imports, one, one + "/refused", "GET " + supplyPath, "POST " + historyPath, "GET " + conflictsPath} {
		takes[route] = append(append([]string{"session admin", "session limited"}, staff...), tokens...)
	}
	maps.Copy(passes, peoplePasses())
	maps.Copy(takes, peopleTakes())
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
			if want == http.StatusForbidden && (name == ports || name == flags) && strings.Contains(route, "{importId}") {
				want = http.StatusNotFound // the file is another supplier's
			}
			if want == http.StatusOK && route == "POST "+hooksPath+"/{webhookId}/confirm" {
				want = http.StatusConflict // nobody answers at a live endpoint
			}
			if res.Code != want {
				t.Errorf("%s with %q answered %d, want %d: %s", route, name, res.Code, want, res.Body)
			}
			if want == http.StatusUnauthorized {
				// One message for each route, whatever is wrong with the
				// credential.
				msg := field(t, res.Body.Bytes(), "data", "message")
				if only, seen := texts[route]; seen && msg != only {
					t.Errorf("%s with %q says %q, which tells more than the one text", route, name, msg)
				}
				texts[route] = msg
			}
		}
	}
}

// validRequest returns a request that succeeds with a valid credential.
func validRequest(t *testing.T, s *stack, route, credential, entity string) *http.Request {
	t.Helper()
	var r *http.Request
	method, path, _ := strings.Cut(route, " ")
	if about := peopleRequest(t, s, route, credential); about != nil {
		return about
	}
	if r = documentRequest(t, s, route, entity); r == nil {
		r = bankRequest(t, s, method, path)
	}
	if r != nil {
		if credential != "" {
			r.Header.Set("Authorization", "Bearer "+credential)
		}
		return r
	}
	asker, number := s.key, knownNumber
	if strings.HasPrefix(credential, string(secret.TestKey)) {
		asker, number = credential, testNumber
	}
	switch path {
	case tokenPath:
		r = form(s.grant(nil))
	case revokePath:
		r = form(s.grant(func(v url.Values) { v.Set("token", "nobody's") }))
		r.URL.Path = revokePath
	case metadataPath:
		r = get(metadataPath, "")
	case keysPath:
		if r = get(keysPath, ""); method == http.MethodPost {
			r = post(keysPath, "", `{"name":"app","mode":"test"}`)
		}
	case keysPath + "/{keyId}/roll":
		r = post(keysPath+"/"+s.ownTestKey(t, uuid.MustParse(entity)).ID.String()+"/roll", "", `{}`)
	case keysPath + "/{keyId}":
		r = without(method, keysPath+"/"+s.ownKey(t, uuid.MustParse(entity)).ID.String(), "")
	case keysPath + "/{keyId}/report-leaked":
		r = without(method, keysPath+"/"+s.ownKey(t, uuid.MustParse(entity)).ID.String()+"/report-leaked", "")
	case loginPath:
		r = post(loginPath, "", `{"email":"s@regulator.example","password":"`+password+`"}`)
	case onboardPath:
		r = onboardRequest("", "x"+randomPhone()[1:]+"@harmattan.example", randomPhone(), "")
	case uploadPath:
		r = upload("", append(documentParts(), part{"entityUid", "", entity})...)
	case verifyPath:
		r = post(verifyPath, "", `{"phoneNumber":"`+number+`"}`)
	case batchPath:
		r = post(batchPath, "", `{"phoneNumbers":["`+knownNumber+`"]}`)
	case strings.TrimPrefix(verifiedRoute, "GET "):
		asked := s.do(t, post(verifyPath, asker, `{"phoneNumber":"`+number+`"}`))
		r = get(verifiedPath+field(t, asked.Body.Bytes(), "data", "requestId"), "")
	case strings.TrimPrefix(receiptRoute, "GET "):
		_, publish := s.withLog(t)
		asked := s.do(t, post(verifyPath, asker, `{"phoneNumber":"`+number+`"}`))
		publish()
		r = get(verifiedPath+field(t, asked.Body.Bytes(), "data", "requestId")+"/receipt", "")
	case eventsPath:
		r = post(eventsPath, "", eventsBody(t, happened("a", knownNumber, "USED", day)))
	case ordersPath:
		r = post(ordersPath, "", `{"phoneNumber":"`+knownNumber+`","action":"BLACKLIST","note":"x"}`)
	case historyPath:
		r = post(historyPath, "", `{"phoneNumber":"`+knownNumber+`"}`)
		if strings.HasPrefix(credential, string(secret.Session)) { // staff say why
			r = post(historyPath, "", `{"phoneNumber":"`+knownNumber+`","reason":"Complaint 2026-17"}`)
		}
	case importsPath:
		if r = get(importsPath, ""); method == http.MethodPost {
			super(t, s, `UPDATE supply_import SET state = 'cancelled'`)
			r = sendFile("?kind=events", "", spottyFile)
		}
	case conflictsPath:
		r = get(conflictsPath, "")
	case supplyPath:
		r = get(supplyPath, "")
	case budgetsPath:
		r = get(budgetsPath, "")
	case clockPath:
		if r = get(clockPath, ""); method == http.MethodPost {
			r = post(clockPath, "", `{"advance":"P1D"}`)
		}
	case importsPath + "/{importId}/receipt":
		r = get(importsPath+"/"+s.receiptedImport(t)+"/receipt", "")
	default:
		id := s.sent(t, validRequest(t, s, "POST "+importsPath, s.operator(t), entity))
		r = get(strings.Replace(path, "{importId}", id, 1), "")
		r.Method = method
	}
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	return r
}

// The header must be present once with the scheme Bearer, in any case.
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
