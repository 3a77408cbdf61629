package portal_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var clientSecretText = regexp.MustCompile(`lp_sec_[0-9A-Za-z]{38}`)

// An admin of a telco rotates the secret of its client: the new secret is shown once, both
// work until the old one is revoked, and then only the new one does. It takes two-factor
// authentication, as a live key does.
func TestTelcoRotatesTheSecretOfItsClient(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.newcomer(t, "telco")
	wantPage(t, s.get(t, "/portal/home", telco.session), http.StatusOK, `href="/portal/client"`)
	wantPage(t, s.get(t, "/portal/client", telco.session), http.StatusOK, "You cannot add a secret yet.", "Set up two-factor authentication")
	wantPage(t, s.post(t, "/portal/client/secrets", telco.session, url.Values{}), http.StatusForbidden, "Set up two-factor authentication first", `name="to" value="/portal/client"`)

	s.enrolled(t, telco)
	old := must(s.Access.Secrets(t.Context(), s.telcoClient(t)))(t)[0]
	wantPage(t, s.get(t, "/portal/client", telco.session), http.StatusOK, "Add secret", old.Preview, "line:supply")
	page := s.post(t, "/portal/client/secrets", telco.session, url.Values{})
	wantPage(t, page, http.StatusOK, "shown only once", "still works", "/portal/client/secrets/"+old.ID.String()+"/revoke")
	wantPage(t, s.get(t, "/portal/messages", telco.session), http.StatusOK, "A new credential or endpoint", "a secret of your client (lp_sec_", "by Zainab Sule")
	text := clientSecretText.FindString(page.Body.String())
	must(s.Access.IssueToken(t.Context(), s.telcoClient(t).String(), secret.Text(text), nil))(t)
	list := s.get(t, "/portal/client", telco.session)
	wantPage(t, list, http.StatusOK, old.Preview, "two active secrets at most")
	if strings.Contains(list.Body.String(), text) {
		t.Error("the secret is shown again")
	}
	wantPage(t, s.post(t, "/portal/client/secrets", telco.session, url.Values{}), http.StatusConflict, "already has two secrets")

	revoke := "/portal/client/secrets/" + old.ID.String() + "/revoke"
	wantPage(t, s.get(t, revoke, telco.session), http.StatusOK, "data-confirm", "Tokens that were issued for it end with it")
	wantGo(t, s.post(t, revoke, telco.session, url.Values{}), "/portal/client")
	if left := must(s.Access.Secrets(t.Context(), s.telcoClient(t)))(t); len(left) != 1 || left[0].ID == old.ID {
		t.Errorf("the client has the secrets %+v", left)
	}
	must(s.Access.IssueToken(t.Context(), s.telcoClient(t).String(), secret.Text(text), nil))(t)
}

// A client that may onboard several organisations belongs to none of them, although it has
// onboarded one so far, and one with the scopes of an authority belongs to no telco: their
// people see it and cannot change its secrets.
// Members see nothing.
func TestSecretsOfSharedClientsAreTheRegulators(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.enrolled(t, s.as(t, "telco"))
	revoke := "/portal/client/secrets/" + must(s.Access.Secrets(t.Context(), s.telcoClient(t)))(t)[0].ID.String() + "/revoke"
	refused := func() {
		t.Helper()
		wantPage(t, s.get(t, "/portal/client", telco.session), http.StatusOK, "The regulator's staff change the secrets of this client")
		if res := s.post(t, "/portal/client/secrets", telco.session, url.Values{}); res.Code != http.StatusForbidden {
			t.Errorf("adding a secret answered %d: %s", res.Code, res.Body)
		}
		wantPage(t, s.get(t, revoke, telco.session), http.StatusNotFound)
		wantPage(t, s.post(t, revoke, telco.session, url.Values{}), http.StatusNotFound)
		if n := len(must(s.Access.Secrets(t.Context(), s.telcoClient(t)))(t)); n != 1 {
			t.Errorf("the client has %d secrets", n)
		}
	}
	must(s.pool.Exec(t.Context(), `UPDATE client SET scopes = '{line:supply,line:flag}' WHERE id = $1`, s.telcoClient(t)))(t)
	refused()
	must(s.pool.Exec(t.Context(), `UPDATE client SET scopes = '{line:supply}' WHERE id = $1`, s.telcoClient(t)))(t)
	wantPage(t, s.get(t, "/portal/client", telco.session), http.StatusOK, "Add secret")
	must(s.pool.Exec(t.Context(), `UPDATE client SET sole = false WHERE id = $1`, s.telcoClient(t)))(t)
	refused()
	must(s.pool.Exec(t.Context(), `UPDATE client SET sole = true WHERE id = $1`, s.telcoClient(t)))(t)
	must(s.pool.Exec(t.Context(), `UPDATE entity SET client_id = $1 WHERE id = $2`, s.telcoClient(t), s.other.ID))(t)
	refused()
	member := s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.telco.ID})
	wantPage(t, s.get(t, "/portal/client", member.session), http.StatusNotFound)
	if _, err := s.Access.AddOwnSecret(t.Context(), s.telcoClient(t), s.bank.ID, access.Operator, uuid.Nil); err == nil {
		t.Error("another organisation adds a secret")
	}
}

// telcoClient returns the client that onboarded the telco.
func (s *stack) telcoClient(t testing.TB) uuid.UUID {
	t.Helper()
	return must(s.Registry.Entity(t.Context(), s.telco.ID))(t).Client
}
