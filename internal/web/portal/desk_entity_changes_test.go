package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func (s *stack) statusOf(t testing.TB, e registry.Entity) registry.Status {
	t.Helper()
	return must(s.Registry.Entity(t.Context(), e.ID))(t).Status
}

// An administrator suspends, restores and revokes with a reason. A revoked
// organisation is restored when another administrator confirms it, and the page
// shows that it waits.
func TestAdministratorSuspendsAndRestoresOrganisation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, second := s.promoted(t, s.as(t, "administrator")), s.promoted(t, s.as(t, "administrator"))
	because := url.Values{"reason": {"No answer to\r\nour letter"}, "confirm": {"Harbour Bank"}}
	wantPage(t, s.get(t, deskPage(s.bank, "/suspend"), boss.session), http.StatusOK, "field-reason", "Harbour Bank")
	wantPage(t, s.post(t, deskPage(s.bank, "/suspend"), boss.session, url.Values{}), http.StatusUnprocessableEntity, `id="error-reason"`)
	wantPage(t, s.post(t, deskPage(s.bank, "/restore"), boss.session, because), http.StatusConflict, "does not allow this")
	if now := s.statusOf(t, s.bank); now != registry.Approved {
		t.Fatalf("the bank is %s", now)
	}
	wantGo(t, s.post(t, deskPage(s.bank, "/suspend"), boss.session, because), deskPage(s.bank, ""))
	wantPage(t, s.get(t, deskPage(s.bank, ""), boss.session), http.StatusOK, "Suspended", "No answer to our letter", deskPage(s.bank, "/restore"), deskPage(s.bank, "/revoke"))
	wantGo(t, s.post(t, deskPage(s.bank, "/restore"), boss.session, because), deskPage(s.bank, ""))
	wantGo(t, s.post(t, deskPage(s.bank, "/revoke"), boss.session, because), deskPage(s.bank, ""))

	wantPage(t, s.get(t, deskPage(s.bank, "/restore"), boss.session), http.StatusOK, "needs a second person", "/portal/desk/approvals")
	res := s.post(t, deskPage(s.bank, "/restore"), boss.session, because)
	wantGo(t, res, deskPage(s.bank, ""))
	if c := cookie(t, res, "__Host-lineproof-flash"); c.Value != "entity.waits" {
		t.Errorf("the message is %s", c.Value)
	}
	page := s.get(t, deskPage(s.bank, ""), boss.session)
	wantPage(t, page, http.StatusOK, "is waiting for approval", "/portal/desk/approvals", "Revoked")
	wantNone(t, page.Body.String(), deskPage(s.bank, "/restore"))
	wantPage(t, s.post(t, deskPage(s.bank, "/restore"), boss.session, because), http.StatusConflict, "already been requested")
	if now := s.statusOf(t, s.bank); now != registry.Revoked {
		t.Fatalf("one person brought it back: %s", now)
	}
	waiting := must(s.Approvals.List(t.Context(), false, 10))(t)
	if len(waiting) != 1 {
		t.Fatalf("%d questions wait", len(waiting))
	}
	must(s.Approvals.Confirm(t.Context(), waiting[0].ID, access.Principal{Kind: access.Session, Account: second.id}.Actor(), uuid.Nil))(t)
	page = s.get(t, deskPage(s.bank, ""), boss.session)
	wantPage(t, page, http.StatusOK, "Approved", deskPage(s.bank, "/suspend"))
	wantNone(t, page.Body.String(), "is waiting for approval")
}

// An administrator invites people to an organisation and resends an invitation, which
// another confirms, and removes a person; the last admin stays. A person of another
// organisation is not found there.
func TestAdministratorManagesPeopleOfOrganisation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, second, admin, stranger := s.promoted(t, s.as(t, "administrator")), s.promoted(t, s.as(t, "administrator")), s.as(t, "admin"), s.as(t, "stranger")
	s.independent(t)
	confirm := func() {
		t.Helper()
		waiting := must(s.Approvals.List(t.Context(), false, 10))(t)
		if len(waiting) != 1 {
			t.Fatalf("what waits is %+v", waiting)
		}
		must(s.Approvals.Confirm(t.Context(), waiting[0].ID, audit.Actor{Kind: audit.Account, ID: second.id}, uuid.Nil))(t)
	}
	at := deskPage(s.bank, "/people")
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "Send invitation", at+"/"+admin.id.String()+"/remove")
	wantPage(t, s.post(t, at, boss.session, url.Values{"kind": {"staff"}}), http.StatusUnprocessableEntity, `id="error-kind"`, `id="error-email"`)
	wantPage(t, s.post(t, at, boss.session, url.Values{"email": {admin.email}, "kind": {"admin"}}), http.StatusConflict, `id="error-email"`)
	wantGo(t, s.post(t, at, boss.session, url.Values{"email": {"second@bank.example"}, "kind": {"admin"}}), at)
	invited := s.invitedAs(t, "second@bank.example")
	if invited.Entity != s.bank.ID || invited.Kind != registry.AdminAccount {
		t.Errorf("invited %+v", invited)
	}
	if kind, _ := s.emails.Load(invited.ID); kind != nil {
		t.Errorf("an e-mail %v before it is confirmed", kind)
	}
	confirm()
	s.emails.Clear()
	wantGo(t, s.post(t, at+"/"+invited.ID.String()+"/invite", boss.session, nil), at)
	confirm()
	if kind, _ := s.emails.Load(invited.ID); kind != people.Invitation {
		t.Error("no second letter")
	}
	wantPage(t, s.get(t, at+"/"+admin.id.String()+"/remove", boss.session), http.StatusOK, admin.email)
	wantPage(t, s.post(t, at+"/"+admin.id.String()+"/remove", boss.session, nil), http.StatusConflict, "Invite another admin first")
	wantGo(t, s.post(t, at+"/"+invited.ID.String()+"/remove", boss.session, nil), at)
	for _, rest := range []string{"/remove", "/invite"} {
		wantPage(t, s.post(t, at+"/"+stranger.id.String()+rest, boss.session, nil), http.StatusNotFound)
	}
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "Removed", "Invite again")
}

// An administrator revokes a key by typing its name; a key of another
// organisation is not found there.
func TestAdministratorRevokesKey(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, admin := s.promoted(t, s.as(t, "administrator")), s.as(t, "admin")
	_, id := s.madeKey(t, admin, "mobile app", "live")
	at := deskPage(s.bank, "/keys/"+id+"/revoke")
	wantPage(t, s.get(t, deskPage(s.bank, "/keys"), boss.session), http.StatusOK, at)
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "field-confirm", "mobile app")
	wantPage(t, s.post(t, at, boss.session, url.Values{"confirm": {"other"}}), http.StatusUnprocessableEntity, `id="error-confirm"`)
	wantPage(t, s.post(t, deskPage(s.other, "/keys/"+id+"/revoke"), boss.session, url.Values{"confirm": {"mobile app"}}), http.StatusNotFound)
	wantGo(t, s.post(t, at, boss.session, url.Values{"confirm": {"mobile app"}}), deskPage(s.bank, "/keys"))
	wantPage(t, s.get(t, deskPage(s.bank, "/keys"), boss.session), http.StatusOK, "Revoked")
	keys := must(s.Access.Keys(t.Context(), s.bank.ID))(t)
	if len(keys) != 1 || keys[0].RevokedAt.IsZero() || keys[0].RevokedBy != boss.id {
		t.Errorf("the key is %+v", keys)
	}
}

// Auditors and reviewers change nothing of an organisation or a client, and the
// people of an organisation see none of it: for them the pages do not exist.
func TestOnlyAdministratorsChangeOrganisationsAndClients(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	_, key := s.madeKey(t, admin, "mobile app", "live")
	client := must(s.Access.Clients(t.Context()))(t)[0]
	secret := must(s.Access.Secrets(t.Context(), client.ID))(t)[0]
	mandate := must(s.Access.AddMandate(t.Context(), access.MandateForm{Entity: s.bank.ID, Principal: "Shop", Document: "letter", Until: time.Now().Add(time.Hour)}, access.Operator, uuid.Nil))(t)
	actual := strings.NewReplacer("{mandate}", mandate.String(), "{entity}", s.bank.ID.String(), "{account}", admin.id.String(), "{key}", key, "{client}", client.ID.String(), "{secret}", secret.ID.String())
	form := url.Values{
		"reason": {"Because"}, "confirm": {"mobile app"}, "email": {"new@bank.example"}, "kind": {"admin"}, "name": {"New"}, "cac": {"RC 1"}, "scope": {"entity:onboard"},
	}
	visitors := map[string]visitor{"auditor": s.as(t, "auditor"), "reviewer": s.as(t, "reviewer"), "admin": admin, "member": s.as(t, "member"), "telco": s.as(t, "telco")}
	before := s.trailed(t)
	posts := 0
	for _, row := range s.Rows() {
		if !strings.HasPrefix(row.Path, "/portal/desk/entities") && !strings.HasPrefix(row.Path, "/portal/desk/clients") && !strings.HasPrefix(row.Path, "/portal/desk/new-entity") &&
			!strings.HasPrefix(row.Path, "/portal/desk/new-client") {
			continue
		}
		for role, who := range visitors {
			isStaff := role == "auditor" || role == "reviewer"
			switch {
			case row.Method == http.MethodPost:
				posts++
				wantPage(t, s.post(t, actual.Replace(row.Path), who.session, form), http.StatusNotFound)
			case isStaff && row.Who == "staff":
				wantPage(t, s.get(t, actual.Replace(row.Path), who.session), http.StatusOK)
			default:
				wantPage(t, s.get(t, actual.Replace(row.Path), who.session), http.StatusNotFound)
			}
		}
	}
	if posts < 13*len(visitors) {
		t.Errorf("only %d changes were tried", posts)
	}
	if after := s.trailed(t); after != before {
		t.Errorf("the trail grew from %d to %d entries", before, after)
	}
}

// trailed counts the entries of the audit trail.
func (s *stack) trailed(t testing.TB) (n int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
