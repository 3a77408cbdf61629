package portal_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var shownSecret = regexp.MustCompile(`lp_sec_[0-9A-Za-z]+`)

// An administrator creates a client; its secret is shown once, in the example that
// gets a token with it, and the example works.
func TestAdministratorCreatesClient(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	wantPage(t, s.get(t, "/portal/desk/clients", boss.session), http.StatusOK, "MTN", "line:supply", "Active", "/portal/desk/new-client")
	page := s.get(t, "/portal/desk/new-client", boss.session)
	wantPage(t, page, http.StatusOK, `value="GLO"`, "field-vouches")
	for _, scope := range access.Scopes {
		wantPage(t, page, http.StatusOK, `name="scope" value="`+string(scope)+`"`)
	}
	if n := strings.Count(page.Body.String(), `<span class="hint">`); n != len(access.Scopes) {
		t.Errorf("%d scopes are explained, of %d", n, len(access.Scopes))
	}
	wantPage(t, s.post(t, "/portal/desk/new-client", boss.session, url.Values{}), http.StatusUnprocessableEntity, `id="error-name"`, `id="error-scope"`)
	supply := url.Values{"name": {"Glo, supply"}, "scope": {"line:supply", "entity:onboard"}, "vouches": {"yes"}}
	wantPage(t, s.post(t, "/portal/desk/new-client", boss.session, supply), http.StatusUnprocessableEntity, `id="error-network"`, `value="line:supply" checked`)
	supply.Set("network", "NOWHERE")
	wantPage(t, s.post(t, "/portal/desk/new-client", boss.session, supply), http.StatusUnprocessableEntity, `id="error-network"`)
	supply.Set("network", "GLO")
	wantPage(t, s.post(t, "/portal/desk/new-client", boss.session, supply), http.StatusUnprocessableEntity, `id="error-reason"`)
	supply.Set("reason", "Glo supplies from June on")
	made := s.post(t, "/portal/desk/new-client", boss.session, supply)
	wantPage(t, made, http.StatusOK, "shown only once", "https://lineproof.example/api/auth/token", "grant_type=client_credentials", "Waiting for a second person")
	text := shownSecret.FindString(made.Body.String())
	if clients := must(s.Access.Clients(t.Context()))(t); !slices.Equal(clients[len(clients)-1].Scopes, []string{"entity:onboard"}) {
		t.Errorf("one person gave the scopes %v", clients[len(clients)-1].Scopes)
	}
	s.confirmed(t, access.GiveScopes, "Let a client change lines", "Client Glo, supply", "entity:onboard line:supply for GLO")
	clients := must(s.Access.Clients(t.Context()))(t)
	c := clients[len(clients)-1]
	if c.Name != "Glo, supply" || c.Network != "GLO" || !c.Vouches || len(c.Scopes) != 2 || c.Secrets != 1 {
		t.Errorf("the client is %+v", c)
	}
	must(s.Access.IssueToken(t.Context(), c.ID.String(), secret.Text(text), nil))(t)
	wantNone(t, s.get(t, "/portal/desk/clients/"+c.ID.String(), boss.session).Body.String(), text)
	wantPage(t, s.get(t, "/portal/desk/clients/"+c.ID.String(), boss.session), http.StatusOK, "client.created", "Zainab Sule", "Add secret")
}

// The example that is shown with a secret gets a token from the API itself.
func TestTokenExampleWorks(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	made := s.post(t, "/portal/desk/new-client", boss.session, url.Values{"name": {"T"}, "scope": {"document:upload"}})
	m := regexp.MustCompile(`-u &#39;([0-9a-f-]{36}):(lp_sec_[0-9A-Za-z]+)&#39;`).FindStringSubmatch(made.Body.String())
	if m == nil {
		t.Fatalf("no lines on the page:\n%s", made.Body)
	}
	r := withBody(newRequest(http.MethodPost, "/api/auth/token", "", nil), "grant_type=client_credentials")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(m[1], m[2])
	if res := serve(s.API, r); res.Code != http.StatusOK || !strings.Contains(res.Body.String(), "lp_tok_") && !strings.Contains(res.Body.String(), "access_token") {
		t.Errorf("the API answered %d: %s", res.Code, res.Body)
	}
}

// A client has up to two secrets. One is added and shown once, and one is revoked:
// it gets no tokens from then on, and the other does.
func TestAdministratorRotatesClientSecret(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	c := must(s.Access.Clients(t.Context()))(t)[0]
	at := "/portal/desk/clients/" + c.ID.String()
	old := must(s.Access.Secrets(t.Context(), c.ID))(t)[0]
	wantPage(t, s.get(t, at+"/secrets/"+old.ID.String()+"/revoke", boss.session), http.StatusOK, "only secret")
	wantPage(t, s.post(t, at+"/secrets", boss.session, nil), http.StatusUnprocessableEntity, `id="error-reason"`)
	added := s.post(t, at+"/secrets", boss.session, url.Values{"reason": {"Every year"}})
	wantPage(t, added, http.StatusOK, "shown only once", "The other secret is still active", "Waiting for a second person")
	text := shownSecret.FindString(added.Body.String())
	page := s.get(t, at, boss.session)
	wantPage(t, page, http.StatusOK, "Waiting for a second person")
	s.confirmed(t, access.UseSecret, "Let a client use another secret")
	wantPage(t, page, http.StatusOK, old.Preview, "two active secrets at most")
	wantNone(t, page.Body.String(), text, "Add secret")
	wantPage(t, s.post(t, at+"/secrets", boss.session, nil), http.StatusConflict, "already has two secrets")
	wantGo(t, s.post(t, at+"/secrets/"+old.ID.String()+"/revoke", boss.session, nil), at)
	wantPage(t, s.post(t, at+"/secrets/"+old.ID.String()+"/revoke", boss.session, nil), http.StatusNotFound)
	left := must(s.Access.Secrets(t.Context(), c.ID))(t)
	if len(left) != 1 || left[0].ID == old.ID {
		t.Errorf("the secrets are %+v", left)
	}
	must(s.Access.IssueToken(t.Context(), c.ID.String(), secret.Text(text), nil))(t)
}

// A client is suspended, resumed, and revoked by typing its name; a revoked one can
// only be viewed.
func TestAdministratorStopsClient(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	c := must(s.Access.Clients(t.Context()))(t)[0]
	at := "/portal/desk/clients/" + c.ID.String()
	now := func() access.ClientRow { return must(s.Access.Client(t.Context(), c.ID))(t) }
	page := s.get(t, at, boss.session)
	wantPage(t, page, http.StatusOK, at+"/suspend", at+"/revoke", "/portal/desk/entities?client="+c.ID.String())
	wantPage(t, s.get(t, "/portal/desk/entities?client="+c.ID.String()+"&state=Revoked", boss.session), http.StatusOK, "This client has added none", "Show all")
	wantPage(t, s.get(t, "/portal/desk/entities?client="+boss.id.String(), boss.session), http.StatusNotFound)
	wantNone(t, page.Body.String(), at+"/resume")
	wantPage(t, s.get(t, at+"/suspend", boss.session), http.StatusOK, "MTN")
	wantGo(t, s.post(t, at+"/suspend", boss.session, nil), at)
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "Suspended", at+"/resume")
	wantPage(t, s.post(t, at+"/suspend", boss.session, nil), http.StatusNotFound)
	wantGo(t, s.post(t, at+"/resume", boss.session, nil), at)
	wantPage(t, s.get(t, at+"/revoke", boss.session), http.StatusOK, "field-confirm")
	wantPage(t, s.post(t, at+"/revoke", boss.session, url.Values{"confirm": {"GLO"}}), http.StatusUnprocessableEntity, `id="error-confirm"`)
	if c := now(); c.Suspended || c.Revoked {
		t.Fatalf("the client is %+v", c)
	}
	wantGo(t, s.post(t, at+"/revoke", boss.session, url.Values{"confirm": {"MTN"}}), at)
	page = s.get(t, at, boss.session)
	wantPage(t, page, http.StatusOK, "Revoked", "client.revoked", "client.suspended")
	wantNone(t, page.Body.String(), at+"/suspend", at+"/revoke", at+"/secrets")
	if !now().Revoked {
		t.Error("the client is not revoked")
	}
	wantPage(t, s.get(t, "/portal/desk/entities?client="+c.ID.String(), boss.session), http.StatusOK, "Harmattan Telecom", "Showing organisations added by ")
	wantNone(t, s.get(t, "/portal/desk/entities?client="+c.ID.String(), boss.session).Body.String(), "Harbour Bank")
}

// The audit trail of a client has a next page, with the older entries.
func TestTrailOfClientHasANextPage(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	c := must(s.Access.Clients(t.Context()))(t)[0]
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
		for range 55 {
			if err := audit.Write(t.Context(), tx, audit.Entry{At: time.Now(), Actor: access.Operator, Action: audit.ClientSuspended, Subject: c.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page := s.get(t, "/portal/desk/clients/"+c.ID.String(), auditor.session)
	next := regexp.MustCompile(`href="([^"]*after=[^"]*)"`).FindStringSubmatch(page.Body.String())
	if next == nil {
		t.Fatalf("the page has no next page:\n%s", page.Body)
	}
	wantNone(t, page.Body.String(), "client.created")
	wantPage(t, s.get(t, html.UnescapeString(next[1]), auditor.session), http.StatusOK, "client.created", "First page")
}
