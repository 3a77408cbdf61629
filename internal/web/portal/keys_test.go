package portal_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// apiKeyText finds a key on a page.
var apiKeyText = regexp.MustCompile(`lp_(?:test|live)_[0-9A-Za-z]{38}`)

// enrolled gives an account two-factor authentication, which a live key needs.
func (s *stack) enrolled(t testing.TB, who visitor) visitor {
	t.Helper()
	must(s.pool.Exec(t.Context(), `INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, '', now(), now()) ON CONFLICT DO NOTHING`, who.id))(t)
	return who
}

// madeKey generates a key with the form and returns it and its id.
func (s *stack) madeKey(t testing.TB, who visitor, name, mode string) (text, id string) {
	t.Helper()
	if mode == access.Live {
		s.enrolled(t, who)
	}
	res := s.post(t, "/portal/new-key", who.session, url.Values{"name": {name}, "mode": {mode}})
	wantPage(t, res, http.StatusOK, "Your new key")
	text = apiKeyText.FindString(res.Body.String())
	for _, k := range must(s.Access.Keys(t.Context(), uuid.Nil))(t) {
		if k.Name == name && k.Mode == mode {
			id = k.ID.String()
		}
	}
	if text == "" || id == "" {
		t.Fatalf("no key was made: %s", res.Body)
	}
	return text, id
}

// A key is shown once, with examples, and never again; the API accepts it.
func TestNewKeyIsShownOnceWithExamples(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member := s.as(t, "member")
	wantPage(t, s.get(t, "/portal/keys", member.session), http.StatusOK, "No API keys yet")

	res := s.post(t, "/portal/new-key", member.session, url.Values{
		"name": {"mobile app"}, "mode": {"test"}, "purposeCode": {"account-opening"}, "expiresInDays": {"365"}, "networks": {"192.0.2.0/24\n2001:db8::/32"},
	})
	wantPage(t, res, http.StatusOK, "shown only once", "curl -sS https://lineproof.example/api/v1/phone/api/phone-numbers/verify", "http.NewRequest(http.MethodPost", "AbortSignal.timeout")
	key := apiKeyText.FindString(res.Body.String())
	if n := strings.Count(res.Body.String(), key); n != 5 {
		t.Errorf("the key stands %d times on the page, want once by itself, in three samples and in the form that tries it", n)
	}
	for _, path := range []string{"/portal/keys", "/portal/keys/" + s.keyID(t, "mobile app")} {
		page := s.get(t, path, member.session)
		wantPage(t, page, http.StatusOK, "mobile app", "Active", "192.0.2.0/24", "2001:db8::/32")
		if strings.Contains(page.Body.String(), key) {
			t.Errorf("%s shows the key again", path)
		}
	}
	if k := must(s.Access.Authenticate(t.Context(), key, addr))(t); k.Entity != s.bank.ID || k.Mode != access.Test || k.Purpose != "account-opening" || k.PurposeText != "" {
		t.Errorf("the key opens %+v", k)
	}
}

// Somebody without two-factor authentication, or with an address that is not confirmed, gets
// no live key: the form says what to do, and generates a test key at once. The same
// holds for the successor of a live key.
func TestLiveKeyNeedsACompleteAccount(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.newcomer(t, "admin")
	const setUp, confirm = "Set up two-factor authentication", "Confirm your e-mail address"
	liveOff := regexp.MustCompile(`<input type="radio"[^>]*value="live"[^>]* disabled`)
	page := s.get(t, "/portal/new-key", admin.session)
	wantPage(t, page, http.StatusOK, setUp, "You can generate a test key now")
	if strings.Contains(page.Body.String(), confirm) || !liveOff.MatchString(page.Body.String()) {
		t.Errorf("the form asks for a confirmed address, or offers a live key: %s", page.Body)
	}
	must(s.pool.Exec(t.Context(), `UPDATE account SET verified_at = NULL, verified_by = NULL WHERE id = $1`, admin.id))(t)
	res := s.post(t, "/portal/new-key", admin.session, url.Values{"name": {"mobile app"}, "mode": {"live"}})
	wantPage(t, res, http.StatusForbidden, setUp, confirm, `value="mobile app"`)
	if apiKeyText.MatchString(res.Body.String()) || !regexp.MustCompile(`value="test" checked`).MatchString(res.Body.String()) {
		t.Errorf("a live key was made, or no test key is offered: %s", res.Body)
	}
	s.madeKey(t, admin, "mobile app", "test")

	must(s.pool.Exec(t.Context(), `UPDATE account SET verified_at = now(), verified_by = 'email' WHERE id = $1`, admin.id))(t)
	_, id := s.madeKey(t, admin, "fraud desk", "live")
	if page := s.get(t, "/portal/new-key", admin.session).Body.String(); strings.Contains(page, setUp) || liveOff.MatchString(page) {
		t.Errorf("the form still asks for something: %s", page)
	}
	second := s.newcomer(t, "admin")
	wantPage(t, s.get(t, "/portal/keys/"+id+"/roll", second.session), http.StatusOK, setUp)
	wantPage(t, s.post(t, "/portal/keys/"+id+"/roll", second.session, url.Values{"overlap": {"24"}}), http.StatusForbidden, setUp)
}

// A member gets test keys. An admin gives the right to create live keys, and takes it
// away again; what holds for new keys holds for rolling.
func TestMemberNeedsTheRightForLiveKeys(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, member := s.as(t, "admin"), s.enrolled(t, s.as(t, "member"))
	_, id := s.madeKey(t, admin, "fraud desk", "live")
	const ask = "by members to whom an admin has given that right"
	roll, right := "/portal/keys/"+id+"/roll", "/portal/team/"+member.id.String()+"/keys"
	live := url.Values{"name": {"mobile app"}, "mode": {"live"}}
	refused := func() {
		t.Helper()
		wantPage(t, s.get(t, "/portal/new-key", member.session), http.StatusOK, ask)
		res := s.post(t, "/portal/new-key", member.session, live)
		wantPage(t, res, http.StatusForbidden, ask, `value="mobile app"`, `value="test" checked`)
		if apiKeyText.MatchString(res.Body.String()) {
			t.Error("a live key was made")
		}
		wantPage(t, s.get(t, roll, member.session), http.StatusOK, ask)
		wantPage(t, s.post(t, roll, member.session, url.Values{"overlap": {"24"}}), http.StatusForbidden, ask)
	}
	refused()
	s.madeKey(t, member, "my test", "test")
	wantPage(t, s.get(t, "/portal/team", admin.session), http.StatusOK, "Allow live keys")
	wantPage(t, s.get(t, right, admin.session), http.StatusOK, "can then create and roll live keys")
	wantGo(t, s.post(t, right, admin.session, url.Values{"makesKeys": {"yes"}}), "/portal/team")
	wantPage(t, s.get(t, "/portal/team", admin.session), http.StatusOK, "Withdraw live keys", "Member, live keys")
	wantPage(t, s.post(t, right, admin.session, url.Values{"makesKeys": {"yes"}}), http.StatusConflict)
	_, id = s.madeKey(t, member, "mobile app", "live")
	wantPage(t, s.post(t, roll, member.session, url.Values{"overlap": {"24"}}), http.StatusOK, "Your new key")
	roll = "/portal/keys/" + id + "/roll"
	wantGo(t, s.post(t, right, admin.session, url.Values{"makesKeys": {"no"}}), "/portal/team")
	refused()
	for _, who := range []visitor{member, s.as(t, "stranger")} {
		wantPage(t, s.post(t, right, who.session, url.Values{"makesKeys": {"yes"}}), http.StatusNotFound)
	}
}

// The form of a new key offers the purposes of the policy, with other selected, and a
// field for the words of another purpose. The page of the key shows its purpose.
func TestKeyFormOffersThePurposesOfThePolicy(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	wantPage(t, s.get(t, "/portal/new-key", admin.session), http.StatusOK,
		`<option value="payment">Payment</option>`, `<option value="credential-reset">Credential reset</option>`, `<option value="other" selected>Other</option>`)
	for name, tc := range map[string]struct {
		form            url.Values
		code, text, say string
	}{
		"a code":     {url.Values{"purposeCode": {"credential-reset"}}, "credential-reset", "", "Credential reset"},
		"own words":  {url.Values{"purposeCode": {"other"}, "purpose": {" fraud desk "}}, "other", "fraud desk", "Other: fraud desk"},
		"left as is": {url.Values{"purposeCode": {"other"}}, "other", "", "Other"},
	} {
		tc.form.Set("name", name)
		tc.form.Set("mode", "test")
		key := apiKeyText.FindString(s.post(t, "/portal/new-key", admin.session, tc.form).Body.String())
		if k := must(s.Access.Authenticate(t.Context(), key, addr))(t); k.Purpose != tc.code || k.PurposeText != tc.text {
			t.Errorf("%s: %q %q, want %q %q", name, k.Purpose, k.PurposeText, tc.code, tc.text)
		}
		wantPage(t, s.get(t, "/portal/keys/"+s.keyID(t, name), admin.session), http.StatusOK, tc.say)
	}
}

func (s *stack) keyID(t testing.TB, name string) string {
	t.Helper()
	var id string
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM api_key WHERE name = $1 ORDER BY created_at DESC LIMIT 1`, name).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// The Go example compiles, and the TypeScript example has the request as the API
// accepts it.
func TestSamplesAreWellFormed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	res := s.post(t, "/portal/new-key", s.enrolled(t, s.as(t, "admin")).session, url.Values{"name": {"x"}, "mode": {"live"}})
	wantPage(t, res, http.StatusOK)
	code := regexp.MustCompile(`(?s)<pre id="code-go"[^>]*>(.*?)</pre>`).FindStringSubmatch(res.Body.String())
	if code == nil {
		t.Fatal("the page has no lines of Go")
	}
	text := strings.NewReplacer("&#34;", `"`, "&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(code[1])
	if _, err := parser.ParseFile(token.NewFileSet(), "main.go", text, parser.AllErrors); err != nil {
		t.Errorf("the lines of Go: %v\n%s", err, text)
	}
	curl := regexp.MustCompile(`-d &#39;(\{.*?\})&#39;`).FindStringSubmatch(res.Body.String())
	if curl == nil || !json.Valid([]byte(strings.ReplaceAll(curl[1], "&#34;", `"`))) {
		t.Errorf("curl sends %q", curl)
	}
}

// All errors of the form of a new key are shown at once at their fields, and no key
// is created.
func TestInvalidKeyFormsAreExplained(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	for field, form := range map[string]url.Values{
		"name":          {"mode": {"test"}},
		"mode":          {"name": {"x"}, "mode": {"other"}},
		"expiresInDays": {"name": {"x"}, "mode": {"test"}, "expiresInDays": {"4000"}},
		"networks":      {"name": {"x"}, "mode": {"test"}, "networks": {"192.0.2.1/24"}},
		"purpose":       {"name": {"x"}, "mode": {"test"}, "purposeCode": {"other"}, "purpose": {strings.Repeat("ọ", 101)}},
	} {
		wantPage(t, s.post(t, "/portal/new-key", admin.session, form), http.StatusUnprocessableEntity, `id="error-`+field+`"`)
	}
	wantPage(t, s.post(t, "/portal/new-key", admin.session, url.Values{"expiresInDays": {"soon"}, "networks": {"here"}}), http.StatusUnprocessableEntity,
		`id="error-name"`, `id="error-mode"`, `id="error-expiresInDays"`, `id="error-networks"`)
	both := s.post(t, "/portal/new-key", admin.session, url.Values{"name": {"x"}, "mode": {"test"}, "purposeCode": {"payment"}, "purpose": {"fraud desk"}})
	wantPage(t, both, http.StatusUnprocessableEntity, `id="error-purpose"`, `<option value="payment" selected>Payment</option>`)
	if keys := must(s.Access.Keys(t.Context(), uuid.Nil))(t); len(keys) != 0 {
		t.Errorf("%d keys were made", len(keys))
	}
}

// A rolled key has a successor, which is shown once; both are valid for the overlap.
func TestRolledKeyOverlapsWithItsSuccessor(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	old, id := s.madeKey(t, admin, "fraud desk", "live")
	wantPage(t, s.get(t, "/portal/keys/"+id+"/roll", admin.session), http.StatusOK, "data-confirm", `name="overlap"`)
	wantPage(t, s.post(t, "/portal/keys/"+id+"/roll", admin.session, url.Values{"overlap": {"200"}}), http.StatusUnprocessableEntity, `id="error-overlap"`)
	res := s.post(t, "/portal/keys/"+id+"/roll", admin.session, url.Values{"overlap": {"48"}})
	wantPage(t, res, http.StatusOK, "Until then both keys work")
	fresh := apiKeyText.FindString(res.Body.String())
	for _, key := range []string{old, fresh} {
		must(s.Access.Authenticate(t.Context(), key, addr))(t)
	}
	if list := s.get(t, "/portal/keys", admin.session).Body.String(); strings.Contains(list, id+"/roll") || !strings.Contains(list, s.keyID(t, "fraud desk")+"/roll") {
		t.Error("the list offers to roll the old key again, or not the new one")
	}
	wantPage(t, s.get(t, "/portal/keys/"+id, admin.session), http.StatusOK, "Generated by Zainab Sule", "Rolled by Zainab Sule", "Replaced by", "Expiring soon")
	wantPage(t, s.get(t, "/portal/keys/"+s.keyID(t, "fraud desk"), admin.session), http.StatusOK, "Created as the successor of another key", "Replaces")
	wantPage(t, s.post(t, "/portal/keys/"+id+"/roll", admin.session, url.Values{"overlap": {"1"}}), http.StatusConflict, "already has a successor")
}

// A key is revoked only if its name is typed, and is refused at once.
func TestRevokingNeedsTheKeyName(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	key, id := s.madeKey(t, admin, "Ọjà àgbà", "live")
	path := "/portal/keys/" + id + "/revoke"
	wantPage(t, s.get(t, path, admin.session), http.StatusOK, "data-confirm", "Type “Ọjà àgbà” to confirm")
	for _, typed := range []string{"", "Oja agba", "Ọjà"} {
		wantPage(t, s.post(t, path, admin.session, url.Values{"confirm": {typed}}), http.StatusUnprocessableEntity, `id="error-confirm"`)
	}
	must(s.Access.Authenticate(t.Context(), key, addr))(t)
	wantGo(t, s.post(t, path, admin.session, url.Values{"confirm": {" Ọjà  àgbà "}}), "/portal/keys")
	if _, err := s.Access.Authenticate(t.Context(), key, addr); err == nil {
		t.Error("the key still opens")
	}
	wantPage(t, s.get(t, "/portal/keys/"+id, admin.session), http.StatusOK, "Revoked by Zainab Sule")
	wantPage(t, s.get(t, "/portal/keys", admin.session), http.StatusOK, "row-faint", "Revoked")
}

// A member without the right to make live keys cannot revoke one: the page offers to report
// it, which tells the admins and changes nothing. The member revokes test keys as before.
func TestMemberReportsALiveKeyAndDoesNotRevokeIt(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, member := s.as(t, "admin"), s.as(t, "member")
	key, id := s.madeKey(t, admin, "payments", "live")
	_, test := s.madeKey(t, admin, "pipeline", "test")
	at := "/portal/keys/" + id
	for _, path := range []string{"/portal/keys", at} {
		page := s.get(t, path, member.session)
		wantPage(t, page, http.StatusOK, at+"/report-leaked")
		wantNone(t, page.Body.String(), at+"/revoke")
		wantNone(t, s.get(t, path, admin.session).Body.String(), at+"/report-leaked")
	}
	wantPage(t, s.get(t, at+"/revoke", member.session), http.StatusOK, "Report as leaked")
	wantPage(t, s.post(t, at+"/revoke", member.session, url.Values{"confirm": {"payments"}}), http.StatusForbidden, "revoked by an admin of your organisation", "Report as leaked")
	wantGo(t, s.post(t, at+"/report-leaked", member.session, nil), at)
	wantPage(t, s.get(t, at, admin.session), http.StatusOK, "Reported as leaked by Zainab Sule", "Active")
	wantPage(t, s.get(t, "/portal/messages", admin.session), http.StatusOK, "An API key was reported as leaked", "payments")
	must(s.Access.Authenticate(t.Context(), key, addr))(t)
	wantPage(t, s.post(t, "/portal/keys/"+test+"/report-leaked", member.session, nil), http.StatusConflict, "revoke it instead")
	wantGo(t, s.post(t, "/portal/keys/"+test+"/revoke", member.session, url.Values{"confirm": {"pipeline"}}), "/portal/keys")
}

// A key of another organisation does not exist, on any page.
func TestKeysOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, stranger := s.as(t, "admin"), s.as(t, "stranger")
	key, id := s.madeKey(t, admin, "Lone Palm", "live")
	for _, path := range []string{"", "/roll", "/revoke", "/report-leaked"} {
		wantPage(t, s.get(t, "/portal/keys/"+id+path, stranger.session), http.StatusNotFound)
		if path != "" {
			wantPage(t, s.post(t, "/portal/keys/"+id+path, stranger.session, url.Values{"confirm": {"Lone Palm"}, "overlap": {"0"}}), http.StatusNotFound)
		}
	}
	if strings.Contains(s.get(t, "/portal/keys", stranger.session).Body.String(), "Lone Palm") {
		t.Error("the list shows a key of another organisation")
	}
	must(s.Access.Authenticate(t.Context(), key, addr))(t)
}

// The pages of a long list show each key once.
func TestKeysArePaged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	for i := range 120 {
		name := "key-" + time.Unix(int64(i), 0).UTC().Format("150405")
		must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: name, Mode: access.Test}, access.Operator, uuid.Nil))(t)
	}
	seen, path, pages := map[string]bool{}, "/portal/keys", 0
	for path != "" {
		body := s.get(t, path, admin.session).Body.String()
		for _, m := range regexp.MustCompile(`dir="auto">(key-\d+)<`).FindAllStringSubmatch(body, -1) {
			if seen[m[1]] {
				t.Errorf("%s is shown twice", m[1])
			}
			seen[m[1]] = true
		}
		pages, path = pages+1, ""
		if m := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(body); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(seen) != 120 || pages != 3 {
		t.Errorf("%d keys on %d pages, want 120 on 3", len(seen), pages)
	}
}
