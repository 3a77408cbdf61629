package portal_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// asAdministrator returns a new administrator.
func (s *stack) asAdministrator(t testing.TB) visitor {
	t.Helper()
	return s.promoted(t, s.as(t, "administrator"))
}

func actorOf(p visitor) audit.Actor { return audit.Actor{Kind: audit.Account, ID: p.id} }

// restoring revokes the bank and has an administrator request its restoration.
func (s *stack) restoring(t testing.TB, asker visitor, reason string) string {
	t.Helper()
	must(s.Registry.Revoke(t.Context(), s.bank.ID, "No licence", access.Operator, uuid.Nil))(t)
	moved := must(s.Registry.Restore(t.Context(), s.bank.ID, reason, actorOf(asker), uuid.Nil))(t)
	return moved.Pending.String()
}

const approvalsPath = "/portal/desk/approvals"

// confirmed has another administrator read and confirm the request of a kind that waits,
// on the pages, and returns them. The page says what is expected.
func (s *stack) confirmed(t testing.TB, kind approval.Kind, expected ...string) visitor {
	t.Helper()
	waiting := slices.DeleteFunc(must(s.Approvals.List(t.Context(), false, 10))(t), func(a approval.Approval) bool { return a.Kind != kind })
	if len(waiting) != 1 {
		t.Fatalf("%d requests of kind %s wait, want one", len(waiting), kind)
	}
	second := s.asAdministrator(t)
	at := approvalsPath + "/" + waiting[0].ID.String() + "/confirm"
	wantPage(t, s.get(t, at, second.session), http.StatusOK, append(expected, waiting[0].Reason)...)
	wantGo(t, s.post(t, at, second.session, url.Values{}), approvalsPath)
	return second
}

// One administrator requests an action, the page shows what and why, and only
// another administrator can make it take effect.
func TestASecondPersonConfirms(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other, auditor := s.asAdministrator(t), s.asAdministrator(t), s.as(t, "auditor")
	wantPage(t, s.get(t, approvalsPath, auditor.session), http.StatusOK, "No pending requests", "No decided requests yet")
	id := s.restoring(t, asker, "The licence is renewed.")
	res := s.get(t, approvalsPath, auditor.session)
	wantPage(t, res, http.StatusOK, "Restore a revoked organisation", "Harbour Bank", "Revoked", "Approved", "The licence is renewed.", "Zainab Sule")
	if strings.Contains(res.Body.String(), id+"/confirm") {
		t.Error("an auditor is offered the confirmation")
	}
	for _, way := range []string{"/confirm", "/refuse"} {
		wantPage(t, s.post(t, approvalsPath+"/"+id+way, auditor.session, nil), http.StatusNotFound)
		wantPage(t, s.get(t, approvalsPath+"/"+id+way, s.as(t, "reviewer").session), http.StatusNotFound)
	}
	own := s.get(t, approvalsPath, asker.session)
	wantPage(t, own, http.StatusOK, "You requested this.", "Withdraw")
	if strings.Contains(own.Body.String(), id+"/confirm") {
		t.Error("whoever asked is offered the confirmation")
	}
	notYours := s.get(t, approvalsPath+"/"+id+"/confirm", asker.session)
	wantPage(t, notYours, http.StatusOK, "You requested this.")
	if strings.Contains(notYours.Body.String(), "data-confirm") {
		t.Error("whoever asked is asked to confirm")
	}
	wantPage(t, s.post(t, approvalsPath+"/"+id+"/confirm", asker.session, url.Values{}), http.StatusForbidden, "This needs two people", "Harbour Bank")
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Revoked {
		t.Fatalf("one person alone brought the entity back: %s", e.Status)
	}
	wantPage(t, s.get(t, approvalsPath+"/"+id+"/confirm", other.session), http.StatusOK, "data-confirm", "The licence is renewed.", "is approved again")
	wantGo(t, s.post(t, approvalsPath+"/"+id+"/confirm", other.session, url.Values{}), approvalsPath)
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Approved {
		t.Errorf("the entity is %s", e.Status)
	}
	wantPage(t, s.get(t, approvalsPath, other.session), http.StatusOK, "No pending requests", "Confirmed", "The licence is renewed.")
	wantPage(t, s.post(t, approvalsPath+"/"+id+"/confirm", other.session, url.Values{}), http.StatusConflict, "already confirmed or rejected")
	wantPage(t, s.get(t, approvalsPath+"/"+id+"/refuse", other.session), http.StatusConflict)
}

// A request can be rejected by others, who say why, and withdrawn by the person who made it,
// who reads that.
func TestApprovalsAreRejected(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other := s.asAdministrator(t), s.asAdministrator(t)
	id := s.restoring(t, asker, "A mistake")
	wantPage(t, s.get(t, approvalsPath+"/"+id+"/refuse", asker.session), http.StatusOK, "Your request is withdrawn", "Withdraw")
	wantPage(t, s.get(t, approvalsPath+"/"+id+"/refuse", other.session), http.StatusOK, "It is rejected")
	wantPage(t, s.post(t, approvalsPath+"/"+id+"/refuse", other.session, url.Values{"reason": {" "}}), http.StatusUnprocessableEntity, "Give a reason.", "A mistake")
	wantGo(t, s.post(t, approvalsPath+"/"+id+"/refuse", other.session, because("The licence is of last year.")), approvalsPath)
	wantPage(t, s.get(t, approvalsPath, asker.session), http.StatusOK, "No pending requests", "Rejected", "The licence is of last year.")
	if list := s.trail(t, audit.ApprovalRefused); len(list) != 1 || list[0].After["rejectedFor"] != "The licence is of last year." {
		t.Errorf("the trail has %+v", list)
	}
	if e := must(s.Registry.Entity(t.Context(), s.bank.ID))(t); e.Status != registry.Revoked {
		t.Errorf("the entity is %s", e.Status)
	}
}

// A blacklisting waits on the same page, for a reviewer or an administrator other
// than the one who ordered it.
func TestBlacklistingsWaitForASecondPerson(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other, auditor := s.as(t, "reviewer"), s.as(t, "reviewer"), s.as(t, "auditor")
	orders := order.Service{Supply: s.Lines}
	blacklist := func() order.Order {
		return must(orders.Create(t.Context(), supply.Supplier{Actor: actorOf(asker)}, order.Form{PhoneNumber: "+2348035550001", Action: "BLACKLIST", Note: "Case 12 of 2026"}))(t)
	}
	o, path := blacklist(), "/portal/desk/orders/"
	confirm := path + o.ID.String() + "/confirm"
	wantPage(t, s.get(t, approvalsPath, auditor.session), http.StatusOK, "Blacklist a number", "+2348035550001", "Case 12 of 2026", "/portal/guide/answers#answer-BLACKLISTED")
	wantPage(t, s.post(t, confirm, auditor.session, nil), http.StatusNotFound)
	wantPage(t, s.get(t, confirm, asker.session), http.StatusOK, "You requested this.")
	wantPage(t, s.post(t, confirm, asker.session, url.Values{}), http.StatusForbidden, "This order needs two people")
	wantPage(t, s.get(t, confirm, other.session), http.StatusOK, "data-confirm", "answered BLACKLISTED")
	wantGo(t, s.post(t, confirm, other.session, url.Values{}), approvalsPath)
	if got := must(orders.Find(t.Context(), o.ID))(t); got.State != order.Done || !got.DecidedBy.Same(actorOf(other)) || got.ConfirmedAt.IsZero() {
		t.Errorf("the order is %+v", got)
	}
	wantPage(t, s.post(t, confirm, other.session, url.Values{}), http.StatusConflict, "not waiting")

	third := path + blacklist().ID.String() + "/refuse"
	wantPage(t, s.post(t, third, other.session, url.Values{}), http.StatusUnprocessableEntity, "Give a reason.")
	wantGo(t, s.post(t, third, other.session, because("The letter names another number.")), approvalsPath)
	wantPage(t, s.get(t, approvalsPath, asker.session), http.StatusOK, "The letter names another number.")
	again := blacklist()
	wantGo(t, s.post(t, path+again.ID.String()+"/refuse", asker.session, url.Values{}), approvalsPath)
	wantPage(t, s.get(t, path+again.ID.String()+"/confirm", other.session), http.StatusConflict)
	wantPage(t, s.get(t, approvalsPath, auditor.session), http.StatusOK, "No pending requests", "Rejected", "Confirmed")
	if n := s.rows(t, string(audit.OrderRefused)); n != 2 {
		t.Errorf("%d refusals are in the trail, want 2", n)
	}
}

// because is a form with a reason.
func because(reason string) url.Values { return url.Values{"reason": {reason}} }

// A request made with a later version is shown as unknown. It cannot be confirmed
// here; the person who made it can withdraw it, and others can reject it.
func TestUnknownApprovalsAreShownAndNotConfirmed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other := s.asAdministrator(t), s.asAdministrator(t)
	later := func() string {
		id := uuid.Must(uuid.NewV7())
		must(s.pool.Exec(t.Context(), `INSERT INTO approval (id, kind, subject_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
			VALUES ($1, 'later.version', $2, '{"more": "yes"}', 'It is needed.', 'waiting', 'account', $3, now(), now() + interval '1 day')`, id, uuid.New(), asker.id))(t)
		return approvalsPath + "/" + id.String()
	}
	at := later()
	list := s.get(t, approvalsPath, other.session)
	wantPage(t, list, http.StatusOK, "Unknown to this version: later.version", "It is needed.", "Zainab Sule", at+"/refuse")
	page := s.get(t, at+"/confirm", other.session)
	wantPage(t, page, http.StatusOK, "later.version", "This version of the service does not know this action", "It is needed.", "Reject request", at+"/refuse")
	if strings.Contains(page.Body.String(), "data-confirm") || strings.Contains(list.Body.String(), at+"/confirm") {
		t.Error("the confirmation is offered")
	}
	wantPage(t, s.post(t, at+"/confirm", other.session, url.Values{}), http.StatusConflict, "This version of the service does not know this action", "Reject request")
	if n := s.rows(t, string(audit.ApprovalGiven)); n != 0 {
		t.Errorf("%d confirmations are in the trail", n)
	}
	wantPage(t, s.get(t, at+"/refuse", other.session), http.StatusOK, "data-confirm", "It is rejected")
	wantGo(t, s.post(t, at+"/refuse", other.session, because("Nobody knows it.")), approvalsPath)
	at = later()
	wantPage(t, s.get(t, at+"/confirm", asker.session), http.StatusOK, "does not know this action", "Withdraw request")
	wantGo(t, s.post(t, at+"/refuse", asker.session, url.Values{}), approvalsPath)
	wantPage(t, s.get(t, approvalsPath, other.session), http.StatusOK, "No pending requests", "later.version")
}
