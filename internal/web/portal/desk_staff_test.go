package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// An administrator invites, and a new administrator starts as an auditor until a
// second person has confirmed the role.
func TestStaffAreInvited(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, auditor := s.promoted(t, s.as(t, "administrator")), s.newcomer(t, "auditor")
	page := s.get(t, "/portal/desk/staff", auditor.session)
	wantPage(t, page, http.StatusOK, "Administrator", "Auditor", "Off</span>")
	if strings.Contains(page.Body.String(), "<form method=\"post\" action=\"/portal/desk/staff") || strings.Contains(page.Body.String(), "/remove") {
		t.Error("an auditor is offered to look after the staff")
	}
	wantPage(t, s.post(t, "/portal/desk/staff", boss.session, url.Values{"email": {"nobody"}, "role": {"king"}}), http.StatusUnprocessableEntity, `id="error-email"`, `id="error-role"`)
	wantGo(t, s.post(t, "/portal/desk/staff", boss.session, url.Values{"email": {"bola@regulator.example"}, "role": {"reviewer"}}), "/portal/desk/staff")
	wantGo(t, s.post(t, "/portal/desk/staff", boss.session, url.Values{"email": {"chika@regulator.example"}, "role": {"administrator"}}), "/portal/desk/staff")
	wantPage(t, s.get(t, "/portal/desk/staff", boss.session), http.StatusOK, "bola@regulator.example", "Invited", "Administrator waiting for approval", `href="/portal/desk/approvals"`)
	bola := s.invitedAs(t, "bola@regulator.example")
	s.emails.Delete(bola.ID)
	wantGo(t, s.post(t, "/portal/desk/staff/"+bola.ID.String()+"/invite", boss.session, nil), "/portal/desk/staff")
	if kind, _ := s.emails.Load(bola.ID); kind != people.Invitation {
		t.Errorf("the letter that was sent again is %v", kind)
	}
	wantPage(t, s.post(t, "/portal/desk/staff", boss.session, url.Values{"email": {auditor.email}, "role": {"reviewer"}}), http.StatusConflict)
}

// A role is requested with a reason and takes effect when another administrator
// confirms it.
func TestRoleOfStaffWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, second, reviewer := s.promoted(t, s.as(t, "administrator")), s.promoted(t, s.as(t, "administrator")), s.as(t, "reviewer")
	s.independent(t)
	at := "/portal/desk/staff/" + reviewer.id.String() + "/role"
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "is a reviewer", `name="reason"`, `href="/portal/desk/approvals"`)
	wantPage(t, s.post(t, at, boss.session, url.Values{"role": {"king"}}), http.StatusUnprocessableEntity, `id="error-role"`, `id="error-reason"`)
	wantPage(t, s.post(t, at, boss.session, url.Values{"role": {"reviewer"}, "reason": {"x"}}), http.StatusConflict, "already has that role")
	wantGo(t, s.post(t, at, boss.session, url.Values{"role": {"administrator"}, "reason": {"Moves up"}}), "/portal/desk/staff")
	if a := must(s.Registry.Account(t.Context(), s.pool, reviewer.id))(t); a.Role != "reviewer" {
		t.Fatalf("the role is %s before anybody has confirmed it", a.Role)
	}
	wantPage(t, s.get(t, "/portal/desk/staff", boss.session), http.StatusOK, "Administrator waiting for approval")
	waiting := must(s.Approvals.List(t.Context(), false, 10))(t)
	if len(waiting) != 1 || waiting[0].Reason != "Moves up" || waiting[0].RequestedBy.ID != boss.id {
		t.Fatalf("what waits is %+v", waiting)
	}
	must(s.Approvals.Confirm(t.Context(), waiting[0].ID, audit.Actor{Kind: audit.Account, ID: second.id}, uuid.Nil))(t)
	page := s.get(t, "/portal/desk/staff", boss.session)
	if strings.Contains(page.Body.String(), "waiting for approval") {
		t.Error("it still waits")
	}
	wantPage(t, s.post(t, "/portal/desk/staff/"+s.as(t, "admin").id.String()+"/role", boss.session, url.Values{"role": {"auditor"}, "reason": {"x"}}), http.StatusNotFound)
}

// An administrator resets the two-factor authentication of other staff, and removes
// administrators, with a second person, and removes others alone; never themselves, nor
// accounts that are not staff.
func TestStaffAreResetAndRemoved(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, auditor, stranger := s.promoted(t, s.as(t, "administrator")), s.as(t, "auditor"), s.as(t, "admin")
	at := "/portal/desk/staff/" + auditor.id.String()
	wantPage(t, s.get(t, "/portal/desk/staff", boss.session), http.StatusOK, "On</span>", at+"/factor")
	wantPage(t, s.get(t, at+"/factor", boss.session), http.StatusOK, "that the request comes from this person", "needs a second person", `name="reason"`)
	wantPage(t, s.post(t, "/portal/desk/staff/"+boss.id.String()+"/factor", boss.session, nil), http.StatusConflict, "ask another administrator to reset it")
	wantPage(t, s.post(t, at+"/factor", boss.session, nil), http.StatusUnprocessableEntity, `id="error-reason"`)
	wantGo(t, s.post(t, at+"/factor", boss.session, url.Values{"reason": {"Lost her phone"}}), "/portal/desk/staff")
	if has, _, err := s.People.FactorOf(t.Context(), auditor.id); err != nil || !has {
		t.Errorf("one person removed the second factor: %v", err)
	}
	s.confirmed(t, people.ResetStaffFactor, "Reset two-factor authentication", "Zainab Sule")
	if has, _, err := s.People.FactorOf(t.Context(), auditor.id); err != nil || has {
		t.Errorf("the second factor stands: %v", err)
	}
	if _, err := s.Access.Authenticate(t.Context(), auditor.session, addr); err == nil {
		t.Error("the session stands")
	}
	wantPage(t, s.post(t, "/portal/desk/staff/"+boss.id.String()+"/remove", boss.session, nil), http.StatusConflict, "your own account")
	for _, what := range []string{"/remove", "/factor", "/invite"} {
		wantPage(t, s.post(t, "/portal/desk/staff/"+stranger.id.String()+what, boss.session, nil), http.StatusNotFound)
	}
	wantPage(t, s.get(t, at+"/remove", boss.session), http.StatusOK, auditor.email)
	wantGo(t, s.post(t, at+"/remove", boss.session, nil), "/portal/desk/staff")
	other := s.asAdministrator(t)
	remove := "/portal/desk/staff/" + other.id.String() + "/remove"
	wantPage(t, s.get(t, remove, boss.session), http.StatusOK, "needs a second person", `name="reason"`)
	wantGo(t, s.post(t, remove, boss.session, url.Values{"reason": {"Left the regulator"}}), "/portal/desk/staff")
	if a := must(s.Registry.Account(t.Context(), s.pool, other.id))(t); a.Disabled {
		t.Error("one person removed an administrator")
	}
	s.confirmed(t, people.RemoveAdministrator, "Remove an administrator")
	if a := must(s.Registry.Account(t.Context(), s.pool, other.id))(t); !a.Disabled {
		t.Error("two people did not remove an administrator")
	}
	wantPage(t, s.get(t, "/portal/desk/staff?sort=name&dir=desc", boss.session), http.StatusOK, "Removed", `aria-sort="descending"`)
	if s.opened(t, access.SessionForm{Account: auditor.id}) {
		t.Error("a removed account can open a session that is admitted")
	}
}

// opened reports whether a session of an account still works.
func (s *stack) opened(t testing.TB, o access.SessionForm) bool {
	t.Helper()
	_, err := s.Access.Authenticate(t.Context(), s.open(t, o), addr)
	return err == nil
}

// The reason of a role change is typed in a field of several lines, and stored as one line.
func TestReasonOfRoleChangeBecomesOneLine(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, reviewer := s.asAdministrator(t), s.as(t, "reviewer")
	at := "/portal/desk/staff/" + reviewer.id.String() + "/role"
	wantGo(t, s.post(t, at, boss.session, url.Values{"role": {"administrator"}, "reason": {" Moves\r\nup "}}), "/portal/desk/staff")
	if waiting := must(s.Approvals.List(t.Context(), false, 10))(t); len(waiting) != 1 || waiting[0].Reason != "Moves up" {
		t.Errorf("what waits is %+v", waiting)
	}
}
