package portal_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/uuid"
)

// Somebody whose two-factor authentication is locked is told so after the password,
// and a colleague sees it and unlocks it, with a word of warning.
func TestLockedFactorIsShownAndUnlocked(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, c := range []struct {
		role, list string
		helper     visitor
	}{
		{"reviewer", "/portal/desk/staff", s.asAdministrator(t)},
		{"member", "/portal/team", s.as(t, "admin")},
	} {
		locked := s.as(t, c.role)
		s.enrol(t, locked)
		must(s.pool.Exec(t.Context(), `UPDATE second_factor SET wrong_codes = 100, locked_at = now() WHERE account_id = $1`, locked.id))(t)
		asked := s.post(t, "/portal/sign-in", "", signInForm(locked.email, password))
		wantPage(t, asked, http.StatusOK, "Two-factor authentication")
		code := url.Values{"pending": {hidden(asked.Body.String())["pending"]}, "otp": {"000000"}}
		wantPage(t, s.post(t, "/portal/sign-in/code", "", code), http.StatusForbidden, "locked after 100 wrong codes")

		at := c.list + "/" + locked.id.String() + "/unlock"
		wantPage(t, s.get(t, c.list, c.helper.session), http.StatusOK, "Locked", at)
		wantPage(t, s.get(t, at, c.helper.session), http.StatusOK, "100 wrong codes in a row", "Unlock two-factor authentication")
		wantPage(t, s.post(t, at, s.as(t, "auditor").session, nil), http.StatusNotFound)
		wantGo(t, s.post(t, at, c.helper.session, nil), c.list)
		wantPage(t, s.post(t, at, c.helper.session, nil), http.StatusConflict, "is not locked")
		wantNone(t, s.get(t, c.list, c.helper.session).Body.String(), at)
		wantPage(t, s.get(t, c.list+"/"+uuid.NewString()+"/unlock", c.helper.session), http.StatusNotFound)
	}
}

// enrol enables two-factor authentication.
func (s *stack) enrol(t *testing.T, who visitor) (key string) {
	t.Helper()
	must(s.pool.Exec(t.Context(), `DELETE FROM second_factor WHERE account_id = $1`, who.id))(t) // of [stack.as], which has no key
	key = found(t, keyText, s.post(t, "/portal/security/factor", who.session, nil))
	wantPage(t, s.post(t, "/portal/security/factor/confirm", who.session, url.Values{"otp": {codeAt(t, key, 0)}}), http.StatusOK)
	return key
}
