package httpapi_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// aged makes the sessions of a person old: the password was entered six minutes ago.
func (s *stack) aged(t testing.TB, p person) person {
	t.Helper()
	must(s.pool.Exec(t.Context(), `UPDATE session SET proved_at = now() - interval '6 minutes' WHERE account_id = $1 AND proved_at > now() - interval '5 minutes'`, p.id))(t)
	return p
}

// anyIDs stands for the ids of a path.
var anyIDs = strings.NewReplacer("{keyId}", uuid.NewString(), "{accountId}", uuid.NewString(), "{sessionId}", uuid.NewString(), "{documentId}", uuid.NewString(), "{importId}", uuid.NewString())

// refusedWith reports whether a response is 403 with that code.
func refusedWith(res *httptest.ResponseRecorder, code string) bool {
	return res.Code == http.StatusForbidden && strings.Contains(res.Body.String(), `"code":"`+code+`"`)
}

// Every operation that changes something is in the table of package stepup. A session whose
// account lacks two-factor authentication gets INCOMPLETE_ACCOUNT where the table says so, and
// one whose password was entered more than five minutes ago PASSWORD_REQUIRED, before anything
// else of the request is looked at, and nowhere else.
func TestOperationsAskForAFactorAndForThePasswordAgain(t *testing.T) {
	t.Parallel()
	actions, sessions := (&httpapi.API{}).Actions()
	listed := map[stepup.Action]bool{}
	for _, rule := range stepup.Table {
		listed[rule.Action] = true
	}
	s := newStack(t).withLines(t)
	s.People.StaffFactor = true
	administrator, asked, lacking := s.staff(t, "administrator"), 0, 0
	for _, route := range slices.Sorted(maps.Keys(actions)) {
		method, path, _ := strings.Cut(route, " ")
		action := actions[route]
		if (action == "") != (method == http.MethodGet) || action != "" && !listed[action] {
			t.Errorf("%s does %q, which is not in the table, or a request that reads", route, action)
		}
		if !sessions[route] {
			continue
		}
		boss, _ := s.twin(t, administrator) // for each route: some end the sessions of the account
		for name, p := range map[string]person{"admin": s.admin(t), "administrator": boss} {
			if name == "admin" && (strings.Contains(path, "/lines/") || strings.HasSuffix(path, "/review")) {
				continue // for staff
			}
			send := func() *httptest.ResponseRecorder {
				account := must(s.Registry.Account(t.Context(), s.pool, p.id))(t)
				session := s.open(t, access.SessionForm{Account: p.id, Entity: account.Entity})
				s.aged(t, p)
				return s.do(t, without(method, anyIDs.Replace(path), session))
			}
			if res, want := send(), action.NeedsFactor(name == "administrator") == stepup.Always; refusedWith(res, "INCOMPLETE_ACCOUNT") != want {
				t.Errorf("%s by an %s without a factor: %d %s; the table says %v", route, name, res.Code, res.Body, want)
			} else if want {
				lacking++
			}
			s.withFactor(t, p)
			if res, want := send(), action.NeedsPassword(); refusedWith(res, "PASSWORD_REQUIRED") != want {
				t.Errorf("%s by an %s: %d %s; the table says %v", route, name, res.Code, res.Body, want)
			} else if want {
				asked++
			}
		}
	}
	if asked < 12 || lacking < 8 {
		t.Errorf("only %d requests were refused for the password, and %d for the factor", asked, lacking)
	}
}

// The password, and the code where there is a second factor, opens those operations for the
// next minutes, for the session that sent it and for no other. A wrong one does not.
func TestSessionIsProvedWithPasswordAndCode(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	p := s.admin(t)
	begin := func(session string) int {
		return s.do(t, post(keysPath, session, `{"name":"k","mode":"test","purpose":"fraud"}`)).Code
	}
	prove := func(session, body string) int { return s.do(t, post(provePath, session, body)).Code }
	expect := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	expect("just logged in", begin(p.session), 200)
	s.aged(t, p)
	expect("six minutes later", begin(p.session), 403)
	expect("a wrong password", prove(p.session, `{"password":"wrong-wrong-wrong"}`), 400)
	expect("after the wrong password", begin(p.session), 403)
	other := s.session(t, p.email)
	s.aged(t, p)
	expect("the password", prove(p.session, `{"password":"`+password+`"}`), 200)
	expect("after the password", begin(p.session), 200)
	expect("in another session", begin(other), 403)

	begun := s.do(t, post(factorPath, p.session, ""))
	shared := field(t, begun.Body.Bytes(), "data", "secret")
	expect("confirming", s.do(t, post(factorConfirmPath, p.session, `{"otp":"`+codeAt(t, shared, 0)+`"}`)).Code, 200)
	s.aged(t, p)
	expect("the password without a code", prove(p.session, `{"password":"`+password+`"}`), 400)
	expect("the password and a wrong code", prove(p.session, `{"password":"`+password+`","otp":"000000"}`), 400)
	expect("after the wrong code", begin(p.session), 403)
	expect("the password and a code", prove(p.session, `{"password":"`+password+`","otp":"`+codeAt(t, shared, 30*time.Second)+`"}`), 200)
	expect("after both", begin(p.session), 200)
}

// A stolen session of an account without a second factor sets up none: it would lock the
// owner out, and count as the owner's.
func TestStolenSessionSetsUpNoSecondFactor(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	p := s.aged(t, s.admin(t))
	if res := s.do(t, post(factorPath, p.session, "")); res.Code != http.StatusForbidden {
		t.Errorf("it answered %d: %s", res.Code, res.Body)
	}
}
