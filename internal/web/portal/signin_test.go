package portal_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func signInForm(email, word string) url.Values {
	return url.Values{"email": {email}, "password": {word}}
}

// Sign-in gives the browser a session that no script and no other site can use, and
// leads to the requested page.
func TestSignIn(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.newcomer(t, "admin")
	wantGo(t, s.get(t, "/portal/security?x=1", ""), "/portal/sign-in?to=%2Fportal%2Fsecurity%3Fx%3D1")
	wantPage(t, s.get(t, "/portal/sign-in?to=%2Fportal%2Fsecurity%3Fx%3D1", ""), http.StatusOK, `name="to" value="/portal/security?x=1"`)
	form := signInForm(admin.email, password)
	form.Set("to", "/portal/security?x=1")
	res := s.post(t, "/portal/sign-in", "", form)
	wantGo(t, res, "/portal/security?x=1")
	for _, name := range []string{sessionCookie, "__Host-lineproof-device"} {
		c := cookie(t, res, name)
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 20 {
			t.Errorf("the cookie is %+v", c)
		}
	}
	session := cookie(t, res, sessionCookie).Value
	wantPage(t, s.get(t, "/portal/security", session), http.StatusOK, "Zainab Sule", "Harbour Bank")
	wantGo(t, s.get(t, "/portal/sign-in", session), "/portal/")

	res = s.post(t, "/portal/sign-out", session, nil)
	wantGo(t, res, "/portal/sign-in")
	if c := cookie(t, res, sessionCookie); c.Value != "" || c.MaxAge >= 0 {
		t.Errorf("the cookie stays: %+v", c)
	}
	wantGo(t, s.get(t, "/portal/security", session), "/portal/sign-in?to=%2Fportal%2Fsecurity")
}

// A wrong password and an unknown address get the same page, except for the address,
// and the password is in neither.
func TestSignInDoesNotTellWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, nobody := s.as(t, "admin"), "nobody-"+uuid.NewString()+"@people.example"
	plain := func(email string) string {
		res := s.post(t, "/portal/sign-in", "", signInForm(email, "wrong-wrong-wrong"))
		wantPage(t, res, http.StatusUnauthorized, "the password is wrong")
		return strings.ReplaceAll(res.Body.String(), email, "")
	}
	one, two := plain(admin.email), plain(nobody)
	if one != two || strings.Contains(one, "wrong-wrong-wrong") {
		t.Errorf("the pages differ, or show the password:\n%s\n%s", one, two)
	}
}

// A session of the API opens no page and no form: whoever sends one is not signed in.
func TestSessionOfTheAPIOpensNoPage(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	who := map[string]string{}
	for _, role := range []string{"admin", "telco", "administrator"} {
		p := s.as(t, role)
		who[role] = s.openAs(t, access.SessionForm{Account: p.id})
	}
	for _, row := range s.Rows() {
		for role, session := range who {
			name := row.Method + " " + row.Path + " with the API session of an " + role
			with, without := s.do(t, newRequest(row.Method, concrete(row.Path), session, url.Values{})), s.do(t, newRequest(row.Method, concrete(row.Path), "", url.Values{}))
			if with.Code != without.Code || with.Header().Get("Location") != without.Header().Get("Location") && !strings.Contains(row.Path, "{") {
				t.Errorf("%s answered %d to %q, without a session %d to %q", name, with.Code, with.Header().Get("Location"), without.Code, without.Header().Get("Location"))
			}
		}
	}
}

// A credential of another kind in the cookie is not a session.
func TestOnlySessionsSignIn(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "k", Mode: "test", Purpose: "fraud"}, access.Operator, uuid.Nil))(t)
	for _, text := range []string{key.Text.Reveal(), "lp_ses_madeup", "x"} {
		wantGo(t, s.get(t, "/portal/security", text), "/portal/sign-in?to=%2Fportal%2Fsecurity")
	}
	admin := s.as(t, "admin")
	r := newRequest(http.MethodGet, "/portal/security", admin.session, nil)
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: s.as(t, "stranger").session})
	if res := s.do(t, r); res.Code != http.StatusSeeOther {
		t.Errorf("two sessions at once answered %d", res.Code)
	}
}

// An invitation leads to an open account in one form, and the link works once.
func TestInvitation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	i := must(s.People.CreateInvited(t.Context(), people.InviteForm{Email: "new@people.example", Kind: registry.AdminAccount, Entity: s.bank.ID}, access.Operator, uuid.Nil))(t)
	token := s.link(t, people.Invitation, i.ID)
	wantPage(t, s.get(t, "/portal/invitation", ""), http.StatusOK, "data-token")

	form := url.Values{"token": {token}, "name": {"Ọláyínká Àjàyí"}, "password": {"short"}}
	res := s.post(t, "/portal/invitation", "", form)
	wantPage(t, res, http.StatusUnprocessableEntity, `id="error-password"`, `value="Ọláyínká Àjàyí"`, `aria-invalid="true"`)
	form.Set("password", password)
	res = s.post(t, "/portal/invitation", "", form)
	wantGo(t, res, "/portal/")
	session := cookie(t, res, sessionCookie).Value
	wantPage(t, s.get(t, "/portal/security", session), http.StatusOK, "Ọláyínká Àjàyí")
	wantPage(t, s.post(t, "/portal/invitation", "", form), http.StatusUnprocessableEntity, `id="error-token"`)
}

// The page for a forgotten password is the same for every address, and the link in the
// e-mail sets the password and ends all sessions.
func TestForgottenPassword(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.newcomer(t, "admin")
	known := s.post(t, "/portal/forgotten", "", url.Values{"email": {admin.email}})
	unknown := s.post(t, "/portal/forgotten", "", url.Values{"email": {"nobody@people.example"}})
	wantPage(t, known, http.StatusOK, "we have sent it an e-mail")
	if known.Body.String() != unknown.Body.String() {
		t.Error("the page tells who has an account")
	}
	if kind, ok := s.emails.Load(admin.id); !ok || kind != people.Reset {
		t.Errorf("the letter is %v", kind)
	}
	token := s.link(t, people.Reset, admin.id)
	wantPage(t, s.get(t, "/portal/reset", ""), http.StatusOK, "data-token")
	wantPage(t, s.post(t, "/portal/reset", "", url.Values{"token": {token}, "newPassword": {"12345678"}}), http.StatusUnprocessableEntity, `id="error-newPassword"`)
	wantGo(t, s.post(t, "/portal/reset", "", url.Values{"token": {token}, "newPassword": {freshPassword}}), "/portal/sign-in")
	wantGo(t, s.get(t, "/portal/security", admin.session), "/portal/sign-in?to=%2Fportal%2Fsecurity")
	wantPage(t, s.post(t, "/portal/sign-in", "", signInForm(admin.email, password)), http.StatusUnauthorized)
	wantGo(t, s.post(t, "/portal/sign-in", "", signInForm(admin.email, freshPassword)), "/portal/")
}

// An address is confirmed by a click on the page of its link, not by opening it:
// programs that scan e-mails open links.
func TestConfirmEmail(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := must(s.Registry.AccountByEmail(t.Context(), s.pool, "ada@telco.example"))(t)
	token := s.link(t, people.Confirmation, a.ID)
	wantPage(t, s.get(t, "/portal/confirm", ""), http.StatusOK, "Confirm e-mail address")
	if must(s.Registry.Account(t.Context(), s.pool, a.ID))(t).Verified {
		t.Fatal("opening the page confirmed the address")
	}
	wantPage(t, s.post(t, "/portal/confirm", "", url.Values{"token": {"lp_lnk_madeup"}}), http.StatusUnprocessableEntity, `id="error-token"`)
	wantGo(t, s.post(t, "/portal/confirm", "", url.Values{"token": {token}}), "/portal/")
	if !must(s.Registry.Account(t.Context(), s.pool, a.ID))(t).Verified {
		t.Error("the address is not confirmed")
	}
}

var (
	keyText    = regexp.MustCompile(`<pre id="code-key"[^>]*>([A-Z2-7]+)</pre>`)
	codesText  = regexp.MustCompile(`(?s)<pre id="code-codes"[^>]*>(.+?)</pre>`)
	pendingBox = regexp.MustCompile(`name="pending" value="([^"]+)"`)
)

func found(t *testing.T, re *regexp.Regexp, res *httptest.ResponseRecorder) string {
	t.Helper()
	m := re.FindStringSubmatch(res.Body.String())
	if m == nil {
		t.Fatalf("the page does not hold %s:\n%s", re, res.Body)
	}
	return html.UnescapeString(m[1])
}

// codeAt is the code that an authenticator shows after a time. A test uses the current
// code and then the next one: the clock may step on the way to the server, and an
// older code would then have expired.
func codeAt(t *testing.T, key string, d time.Duration) string {
	t.Helper()
	return must(totp.GenerateCode(key, time.Now().Add(d)))(t)
}

// Staff without a second factor can open its setup and nothing else. Afterwards the
// same session opens everything, and sign-in needs a code or a recovery code after the
// password.
func TestTwoFactorFromSetupToSignIn(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.newcomer(t, "auditor")
	res := s.post(t, "/portal/sign-in", "", signInForm(auditor.email, password))
	wantGo(t, res, "/portal/security/factor")
	session := cookie(t, res, sessionCookie).Value
	wantGo(t, s.get(t, "/portal/security", session), "/portal/security/factor")
	wantGo(t, s.get(t, "/portal/", session), "/portal/security/factor")

	begun := s.post(t, "/portal/security/factor", session, nil)
	wantPage(t, begun, http.StatusOK, `class="square-dark"`)
	key := found(t, keyText, begun)
	wantPage(t, s.post(t, "/portal/security/factor/confirm", session, url.Values{"otp": {"000000"}}), http.StatusUnprocessableEntity, `id="error-otp"`)
	set := s.post(t, "/portal/security/factor/confirm", session, url.Values{"otp": {codeAt(t, key, 0)}})
	wantPage(t, set, http.StatusOK, "Recovery codes")
	codes := strings.Fields(found(t, codesText, set))
	if len(codes) != 10 {
		t.Fatalf("%d recovery codes", len(codes))
	}
	wantPage(t, s.get(t, "/portal/security", session), http.StatusOK, "On</span>", "Recovery codes left: 10")

	asked := s.post(t, "/portal/sign-in", "", signInForm(auditor.email, password))
	wantPage(t, asked, http.StatusOK, "Two-factor authentication")
	if strings.Contains(asked.Body.String(), password) {
		t.Fatal("the page shows the password")
	}
	sealed := found(t, pendingBox, asked)
	wantPage(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {sealed}, "otp": {"000000"}}), http.StatusUnauthorized, "This code is wrong")
	wantGo(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {sealed}, "otp": {codeAt(t, key, 30*time.Second)}}), "/portal/")
	wantGo(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {sealed}, "otp": {codes[3]}}), "/portal/")
	wantPage(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {sealed}, "otp": {codes[3]}}), http.StatusUnauthorized)
	few := s.get(t, "/portal/security", session)
	wantPage(t, few, http.StatusOK, "Recovery codes left: 9")
	if strings.Contains(few.Body.String(), "few recovery codes") {
		t.Error("nine recovery codes are few")
	}
	for _, code := range codes[6:] {
		wantGo(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {sealed}, "otp": {code}}), "/portal/")
	}
	for _, code := range codes[:3] {
		wantGo(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {sealed}, "otp": {code}}), "/portal/")
	}
	wantPage(t, s.get(t, "/portal/security", session), http.StatusOK, "Recovery codes left: 2", "You have few recovery codes left.")

	s.Now = func() time.Time { return time.Now().Add(6 * time.Minute) }
	wantGo(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {sealed}, "otp": {codes[4]}}), "/portal/sign-in")
	wantGo(t, s.post(t, "/portal/sign-in/code", "", url.Values{"pending": {"AAAA" + sealed[4:]}, "otp": {codes[4]}}), "/portal/sign-in")
	s.Now = time.Now

	wantPage(t, s.get(t, "/portal/security/factor/remove", session), http.StatusOK)
	wantPage(t, s.post(t, "/portal/security/factor/remove", session, url.Values{"password": {"wrong-wrong"}, "otp": {codes[5]}}), http.StatusUnprocessableEntity, `id="error-password"`)
	wantGo(t, s.post(t, "/portal/security/factor/remove", session, url.Values{"password": {password}, "otp": {codes[5]}}), "/portal/security")
}

// A person sees and ends their own sessions, and no others.
func TestPeopleEndOnlyTheirOwnSessions(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, stranger := s.as(t, "admin"), s.as(t, "stranger")
	second := s.openFor(t, admin)
	ids := func(session string) []string {
		var list []string
		re := regexp.MustCompile(`action="/portal/security/sessions/([0-9a-f-]{36})/end"`)
		for _, m := range re.FindAllStringSubmatch(s.get(t, "/portal/security", session).Body.String(), -1) {
			list = append(list, m[1])
		}
		return list
	}
	mine := ids(admin.session)
	if len(mine) != 1 {
		t.Fatalf("the page lists %v", mine)
	}
	wantPage(t, s.post(t, "/portal/security/sessions/"+mine[0]+"/end", stranger.session, nil), http.StatusNotFound)
	wantPage(t, s.get(t, "/portal/security", second), http.StatusOK)
	wantGo(t, s.post(t, "/portal/security/sessions/"+mine[0]+"/end", admin.session, nil), "/portal/security")
	wantGo(t, s.get(t, "/portal/security", second), "/portal/sign-in?to=%2Fportal%2Fsecurity")

	third := s.openFor(t, admin)
	wantPage(t, s.get(t, "/portal/security/sessions/end", third), http.StatusOK, "data-confirm")
	wantGo(t, s.post(t, "/portal/security/sessions/end", third, nil), "/portal/sign-in")
	for _, session := range []string{third, admin.session} {
		wantGo(t, s.get(t, "/portal/security", session), "/portal/sign-in?to=%2Fportal%2Fsecurity")
	}
	wantPage(t, s.get(t, "/portal/security", stranger.session), http.StatusOK)
}

// A password is changed with the old one, and all other sessions end.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.newcomer(t, "admin")
	other := s.openFor(t, admin)
	wrong := s.post(t, "/portal/security/password", admin.session, url.Values{"password": {"wrong-wrong"}, "newPassword": {freshPassword}})
	wantPage(t, wrong, http.StatusUnprocessableEntity, `id="error-password"`)
	if body := wrong.Body.String(); strings.Contains(body, freshPassword) || strings.Contains(body, "wrong-wrong") {
		t.Error("the page shows a password")
	}
	res := s.post(t, "/portal/security/password", admin.session, url.Values{"password": {password}, "newPassword": {freshPassword}})
	wantGo(t, res, "/portal/security")
	r := newRequest(http.MethodGet, "/portal/security", admin.session, nil)
	r.AddCookie(cookie(t, res, "__Host-lineproof-flash"))
	shown := s.do(t, r)
	wantPage(t, shown, http.StatusOK, "The password is changed")
	if c := cookie(t, shown, "__Host-lineproof-flash"); c.MaxAge >= 0 {
		t.Error("the message stays")
	}
	wantGo(t, s.get(t, "/portal/security", other), "/portal/sign-in?to=%2Fportal%2Fsecurity")
	wantGo(t, s.post(t, "/portal/sign-in", "", signInForm(admin.email, freshPassword)), "/portal/")
}
