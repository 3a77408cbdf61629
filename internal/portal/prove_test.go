package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
)

// aged makes the sessions of a visitor old: the password was entered six minutes ago.
func (s *stack) aged(t testing.TB, who visitor) {
	t.Helper()
	must(s.pool.Exec(t.Context(), `UPDATE session SET proved_at = now() - interval '6 minutes' WHERE account_id = $1`, who.id))(t)
}

const askAgain = "Enter your password again"

// Every change of factors, keys, people, mandates, the policy and approvals, and every new client or secret
// of a client, asks for the password again if it was entered more than five minutes ago, before anything else is looked at. Those that
// ask for it themselves, and the code that ends a setup, do not.
func TestChangesAskForThePasswordAgain(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.asAdministrator(t)
	visitors := map[string]visitor{"entity": s.as(t, "admin"), "manager": s.as(t, "admin"), "decider": boss, "administrator": boss, "person": s.as(t, "admin"), "operator admin": s.as(t, "telco")}
	for _, who := range visitors {
		s.aged(t, who)
	}
	own := map[string]bool{"/portal/security/factor/confirm": true, "/portal/security/factor/remove": true}
	asked := 0
	for _, row := range s.Rows() {
		changes := row.Path == "/portal/desk/clients/{client}/secrets" // to revoke one is below it, and does not ask
		for _, part := range []string{"/portal/security/factor", "/portal/new-key", "/portal/keys/", "/portal/client/secrets", "/portal/desk/new-client", "/portal/new-webhook", "{webhook}/roll", "{webhook}/delete", "/portal/team", "/portal/desk/staff", "/portal/desk/approvals", "/portal/desk/orders", "/portal/desk/policy", "/portal/desk/who-asked", "/people", "/keys/{key}", "/mandates", "/documents/require", "{import}/confirm"} {
			changes = changes || strings.Contains(row.Path, part)
		}
		if changes = changes && row.Method == http.MethodPost && !own[row.Path]; changes != row.Prove {
			t.Errorf("%s %s asks for the password: %v, want %v", row.Method, row.Path, row.Prove, changes)
		}
		if !row.Prove {
			continue
		}
		asked++
		wantPage(t, s.post(t, concrete(row.Path), visitors[row.Who].session, url.Values{"reason": {"Because"}}), http.StatusOK, askAgain, `name="reason" value="Because"`)
	}
	if asked < 20 {
		t.Errorf("only %d forms ask", asked)
	}
}

// Whoever has just signed in is not asked. Later the page has what the form sent, and a
// wrong password changes nothing; the right one carries the change out, and lasts for the
// next five minutes.
func TestPasswordIsAskedAgainAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	form := func(more ...string) url.Values {
		v := url.Values{"name": {"mobile app"}, "mode": {"test"}, "networks": {"192.0.2.0/24\n2001:db8::/32"}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	keys := func() int { return len(must(s.Access.Keys(t.Context(), s.bank.ID))(t)) }
	wantPage(t, s.post(t, "/portal/new-key", admin.session, form()), http.StatusOK, "Your new key")
	s.aged(t, admin)
	page := s.post(t, "/portal/new-key", admin.session, form())
	wantPage(t, page, http.StatusOK, askAgain, `action="/portal/new-key"`, `name="name" value="mobile app"`, "192.0.2.0/24\n2001:db8::/32", `name="provePassword"`)
	if strings.Contains(page.Body.String(), `name="proveCode"`) {
		t.Error("somebody without a second factor is asked for a code")
	}
	wantPage(t, s.post(t, "/portal/new-key", admin.session, form("provePassword", "")), http.StatusUnprocessableEntity, askAgain, `id="error-provePassword"`)
	wrong := s.post(t, "/portal/new-key", admin.session, form("provePassword", "wrong-password"))
	wantPage(t, wrong, http.StatusUnprocessableEntity, askAgain, `id="error-provePassword"`, `name="name" value="mobile app"`)
	if strings.Contains(wrong.Body.String(), "wrong-password") || keys() != 1 {
		t.Errorf("the page repeats the password, or %d keys were made", keys())
	}
	wantPage(t, s.post(t, "/portal/new-key", admin.session, form("provePassword", password)), http.StatusOK, "Your new key")
	wantPage(t, s.post(t, "/portal/new-key", admin.session, form()), http.StatusOK, "Your new key")
	if keys() != 3 {
		t.Errorf("%d keys, want 3", keys())
	}
	if other := s.openFor(t, admin); other != "" { // each session for itself
		s.aged(t, admin)
		wantPage(t, s.post(t, "/portal/new-key", admin.session, form("provePassword", password)), http.StatusOK, "Your new key")
		wantPage(t, s.post(t, "/portal/new-key", other, form()), http.StatusOK, askAgain)
	}
}

// Where there is a second factor, the code is asked for, too: a stolen session and a
// known password are not enough.
func TestCodeIsAskedAgainToo(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	key := s.enrol(t, admin)
	s.aged(t, admin)
	form := func(password, code string) url.Values {
		return url.Values{"name": {"mobile app"}, "mode": {access.Live}, "provePassword": {password}, "proveCode": {code}}
	}
	wantPage(t, s.post(t, "/portal/new-key", admin.session, form(password, "")), http.StatusUnprocessableEntity, askAgain, `id="error-proveCode"`)
	wantPage(t, s.post(t, "/portal/new-key", admin.session, form(password, "000000")), http.StatusUnprocessableEntity, askAgain, `id="error-proveCode"`)
	wantPage(t, s.post(t, "/portal/new-key", admin.session, form(password, codeAt(t, key, 30*time.Second))), http.StatusOK, "Your new key")
}
