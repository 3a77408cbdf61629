package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/supply"
)

// asAdministrator returns a new administrator.
func (s *stack) asAdministrator(t testing.TB) person {
	t.Helper()
	return s.promoted(t, s.as(t, "administrator"))
}

func actorOf(p person) audit.Actor { return audit.Actor{Kind: audit.Account, ID: p.id} }

// restoring revokes the bank and has somebody ask for it to come back.
func (s *stack) restoring(t testing.TB, asker person, reason string) string {
	t.Helper()
	must(s.Registry.Revoke(t.Context(), s.bank.ID, "No licence", access.Operator, uuid.Nil))(t)
	moved := must(s.Registry.Restore(t.Context(), s.bank.ID, reason, actorOf(asker), uuid.Nil))(t)
	return moved.Waits.String()
}

const approvals = "/portal/desk/approvals"

// One administrator asks, the page says what and why, and only another one makes
// it happen.
func TestASecondPersonConfirms(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other, auditor := s.asAdministrator(t), s.asAdministrator(t), s.as(t, "auditor")
	wantPage(t, s.get(t, approvals, auditor.session), http.StatusOK, "Nothing waits", "Nothing decided yet")
	id := s.restoring(t, asker, "The licence is renewed.")
	res := s.get(t, approvals, auditor.session)
	wantPage(t, res, http.StatusOK, "Bring back a revoked organisation", "Harbour Bank", "Revoked", "Approved", "The licence is renewed.", "Zainab Sule")
	if strings.Contains(res.Body.String(), id+"/confirm") {
		t.Error("an auditor is offered the confirmation")
	}
	for _, way := range []string{"/confirm", "/refuse"} {
		wantPage(t, s.post(t, approvals+"/"+id+way, auditor.session, nil), http.StatusNotFound)
		wantPage(t, s.get(t, approvals+"/"+id+way, s.as(t, "reviewer").session), http.StatusNotFound)
	}
	own := s.get(t, approvals, asker.session)
	wantPage(t, own, http.StatusOK, "You asked for this.", "Withdraw")
	if strings.Contains(own.Body.String(), id+"/confirm") {
		t.Error("whoever asked is offered the confirmation")
	}
	notYours := s.get(t, approvals+"/"+id+"/confirm", asker.session)
	wantPage(t, notYours, http.StatusOK, "You asked for this.")
	if strings.Contains(notYours.Body.String(), "data-confirm") {
		t.Error("whoever asked is asked to confirm")
	}
	wantPage(t, s.post(t, approvals+"/"+id+"/confirm", asker.session, url.Values{}), http.StatusForbidden, "This needs two people", "Harbour Bank")
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Revoked {
		t.Fatalf("one person alone brought the entity back: %s", e.Status)
	}
	wantPage(t, s.get(t, approvals+"/"+id+"/confirm", other.session), http.StatusOK, "data-confirm", "The licence is renewed.", "is approved again")
	wantGo(t, s.post(t, approvals+"/"+id+"/confirm", other.session, url.Values{}), approvals)
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Approved {
		t.Errorf("the entity is %s", e.Status)
	}
	wantPage(t, s.get(t, approvals, other.session), http.StatusOK, "Nothing waits", "Confirmed", "The licence is renewed.")
	wantPage(t, s.post(t, approvals+"/"+id+"/confirm", other.session, url.Values{}), http.StatusConflict, "confirmed or refused already")
	wantPage(t, s.get(t, approvals+"/"+id+"/refuse", other.session), http.StatusConflict)
}

// What was asked for can be refused, and withdrawn by whoever asked.
func TestApprovalsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other := s.asAdministrator(t), s.asAdministrator(t)
	id := s.restoring(t, asker, "A mistake")
	wantPage(t, s.get(t, approvals+"/"+id+"/refuse", asker.session), http.StatusOK, "What you asked for is withdrawn", "Withdraw")
	wantPage(t, s.get(t, approvals+"/"+id+"/refuse", other.session), http.StatusOK, "It is refused")
	wantGo(t, s.post(t, approvals+"/"+id+"/refuse", other.session, url.Values{}), approvals)
	wantPage(t, s.get(t, approvals, other.session), http.StatusOK, "Nothing waits", "Refused")
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Revoked {
		t.Errorf("the entity is %s", e.Status)
	}
}

// A blacklisting waits here as well, for a reviewer or an administrator other
// than the one who ordered it.
func TestBlacklistingsWaitForASecondPerson(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other, auditor := s.as(t, "reviewer"), s.as(t, "reviewer"), s.as(t, "auditor")
	order := func() supply.Order {
		return must(s.Lines.GiveOrder(t.Context(), supply.Speaker{Actor: actorOf(asker)}, supply.OrderForm{PhoneNumber: "+2348035550001", Action: "BLACKLIST", Note: "Case 12 of 2026"}))(t)
	}
	o, path := order(), "/portal/desk/orders/"
	confirm := path + o.ID.String() + "/confirm"
	wantPage(t, s.get(t, approvals, auditor.session), http.StatusOK, "Blacklist a number", "+2348035550001", "Case 12 of 2026", "/portal/guide/answers#answer-BLACKLISTED")
	wantPage(t, s.post(t, confirm, auditor.session, nil), http.StatusNotFound)
	wantPage(t, s.get(t, confirm, asker.session), http.StatusOK, "You asked for this.")
	wantPage(t, s.post(t, confirm, asker.session, url.Values{}), http.StatusForbidden, "A blacklisting needs two")
	wantPage(t, s.get(t, confirm, other.session), http.StatusOK, "data-confirm", "answered BLACKLISTED")
	wantGo(t, s.post(t, confirm, other.session, url.Values{}), approvals)
	if got := must(s.Lines.Order(t.Context(), o.ID))(t); got.State != supply.OrderDone || !got.Second.Same(actorOf(other)) || got.ConfirmedAt.IsZero() {
		t.Errorf("the order is %+v", got)
	}
	wantPage(t, s.post(t, confirm, other.session, url.Values{}), http.StatusConflict, "not waiting")

	again := order()
	wantGo(t, s.post(t, path+again.ID.String()+"/refuse", asker.session, url.Values{}), approvals)
	wantPage(t, s.get(t, path+again.ID.String()+"/confirm", other.session), http.StatusConflict)
	wantPage(t, s.get(t, approvals, auditor.session), http.StatusOK, "Nothing waits", "Refused", "Confirmed")
	if n := s.rows(t, string(audit.OrderRefused)); n != 1 {
		t.Errorf("%d refusals are in the trail, want 1", n)
	}
}

// What a later version has asked for is shown as what this one does not know. It
// is not confirmed here, and whoever asked can withdraw it as any other can refuse.
func TestUnknownApprovalsAreShownAndNotConfirmed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other := s.asAdministrator(t), s.asAdministrator(t)
	later := func() string {
		id := uuid.Must(uuid.NewV7())
		must(s.pool.Exec(t.Context(), `INSERT INTO approval (id, kind, subject_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
			VALUES ($1, 'later.version', $2, '{"more": "yes"}', 'It is needed.', 'waiting', 'account', $3, now(), now() + interval '1 day')`, id, uuid.New(), asker.id))(t)
		return approvals + "/" + id.String()
	}
	at := later()
	list := s.get(t, approvals, other.session)
	wantPage(t, list, http.StatusOK, "Unknown to this version: later.version", "It is needed.", "Zainab Sule", at+"/refuse")
	page := s.get(t, at+"/confirm", other.session)
	wantPage(t, page, http.StatusOK, "later.version", "This version of the service does not know what this is", "It is needed.", "Refuse it", at+"/refuse")
	if strings.Contains(page.Body.String(), "data-confirm") || strings.Contains(list.Body.String(), at+"/confirm") {
		t.Error("the confirmation is offered")
	}
	wantPage(t, s.post(t, at+"/confirm", other.session, url.Values{}), http.StatusConflict, "This version of the service does not know what this is", "Refuse it")
	if n := s.rows(t, string(audit.ApprovalGiven)); n != 0 {
		t.Errorf("%d confirmations are in the trail", n)
	}
	wantPage(t, s.get(t, at+"/refuse", other.session), http.StatusOK, "data-confirm", "It is refused")
	wantGo(t, s.post(t, at+"/refuse", other.session, url.Values{}), approvals)
	at = later()
	wantPage(t, s.get(t, at+"/confirm", asker.session), http.StatusOK, "does not know what this is", "Withdraw it")
	wantGo(t, s.post(t, at+"/refuse", asker.session, url.Values{}), approvals)
	wantPage(t, s.get(t, approvals, other.session), http.StatusOK, "Nothing waits", "later.version")
}
