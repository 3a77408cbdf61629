package portal_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
)

// aged makes the sessions of a visitor old: the password was entered six minutes ago.
func (s *stack) aged(t testing.TB, who visitor) {
	t.Helper()
	must(s.pool.Exec(t.Context(), `UPDATE session SET proved_at = now() - interval '6 minutes' WHERE account_id = $1 AND proved_at > now() - interval '5 minutes'`, who.id))(t)
}

const askAgain = "Enter your password again"

// Every form of the portal names its action, which is in the table of package stepup, and
// every action of the table but those of programs has a form. Where the table says so, the
// form asks for the password again if it was entered more than five minutes ago, before
// anything else is looked at.
func TestChangesAskForThePasswordAgain(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, admin, telco := s.asAdministrator(t), s.as(t, "admin"), s.as(t, "telco")
	visitors := map[string]visitor{"entity": admin, "manager": admin, "decider": boss, "administrator": boss, "person": admin, "operator": telco, "operator admin": telco}
	for _, who := range visitors {
		s.aged(t, who)
	}
	unused, asked := map[stepup.Action]bool{}, 0
	for _, rule := range stepup.Table {
		unused[rule.Action] = rule.Action != stepup.ByProgram
	}
	listed := maps.Clone(unused)
	for _, row := range s.Rows() {
		if (row.Action == "") != (row.Method == http.MethodGet) || row.Action != "" && !listed[row.Action] {
			t.Errorf("%s %s does %q, which is not in the table, or a request that reads", row.Method, row.Path, row.Action)
		}
		unused[row.Action] = false
		if !row.Action.NeedsPassword() {
			continue
		}
		asked++
		page := s.post(t, concrete(row.Path), visitors[row.Who].session, url.Values{"reason": {"Because"}})
		if row.Form != "" {
			wantPage(t, page, http.StatusOK, askAgain, `action="/portal/security/prove"`, `name="to" value="`+row.Form+`"`)
		} else {
			wantPage(t, page, http.StatusOK, askAgain, `name="reason" value="Because"`)
		}
	}
	for action, is := range unused {
		if is {
			t.Errorf("no form of the portal does %s", action)
		}
	}
	if asked < 40 {
		t.Errorf("only %d forms ask", asked)
	}
}

// Whoever uploads a file enters the password on a page of its own, and comes back to the
// page with the form.
func TestUploadAsksForThePasswordFirst(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	key := s.enrol(t, telco)
	s.aged(t, telco)
	wantPage(t, s.post(t, "/portal/security/prove", telco.session, url.Values{"to": {"/portal/supply"}, "provePassword": {"wrong-password"}}), http.StatusUnprocessableEntity, askAgain, `name="to" value="/portal/supply"`)
	wantPage(t, s.post(t, "/portal/supply/imports", telco.session, url.Values{}), http.StatusOK, askAgain)
	wantGo(t, s.post(t, "/portal/security/prove", telco.session, url.Values{"to": {"/portal/supply"}, "provePassword": {password}, "proveCode": {codeAt(t, key, 30*time.Second)}}), "/portal/supply")
	if page := s.post(t, "/portal/supply/imports", telco.session, url.Values{}); strings.Contains(page.Body.String(), askAgain) {
		t.Error("the password is asked for again at once")
	}
	wantGo(t, s.post(t, "/portal/security/prove", s.newcomer(t, "admin").session, url.Values{"to": {"https://elsewhere.example/"}, "provePassword": {password}}), "/portal/")
}

// Whoever has just signed in is not asked. Later the page has what the form sent, and a
// wrong password changes nothing; the right one carries the change out, and lasts for the
// next five minutes.
func TestPasswordIsAskedAgainAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.newcomer(t, "admin")
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

// A stolen session of a reviewer accepts no document: that cannot be taken back, and lets an
// organisation have live keys.
func TestStolenSessionAcceptsNoDocument(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	must(s.pool.Exec(t.Context(), `UPDATE entity SET document_required = true WHERE id = $1`, s.bank.ID))(t)
	s.Documents.Required, s.Access.CheckNewKey = []string{"CAC_CERTIFICATE"}, s.Documents.CheckNewKey
	admin, reviewer := s.as(t, "admin"), s.as(t, "reviewer")
	review := "/portal/desk/documents/" + s.uploadedAs(t, admin, "certificate.pdf", pdf) + "/review"
	makesKey := func() bool {
		res := s.post(t, "/portal/new-key", admin.session, url.Values{"name": {"app"}, "mode": {access.Live}})
		return apiKeyText.MatchString(res.Body.String())
	}
	s.aged(t, reviewer)
	wantPage(t, s.post(t, review, reviewer.session, url.Values{"decision": {"accepted"}}), http.StatusOK, askAgain)
	if makesKey() {
		t.Error("the organisation has a live key")
	}
	wantGo(t, s.post(t, review, s.openFor(t, reviewer), url.Values{"decision": {"accepted"}}), "/portal/desk/documents")
	if !makesKey() {
		t.Error("the organisation has no live key after the document was accepted")
	}
}
