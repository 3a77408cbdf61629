package portal_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	prepareOrder = "/portal/desk/numbers/order"
	orders       = "/portal/desk/orders"
)

// orderOf returns the form of an order about lifeNumber.
func orderOf(action string, fields ...string) url.Values {
	f := url.Values{"phoneNumber": {lifeNumber}, "lookupReason": {lifeReason}, "action": {action}}
	for i := 0; i < len(fields); i += 2 {
		f.Set(fields[i], fields[i+1])
	}
	return f
}

func (s *stack) answerNow(t testing.TB) line.Status {
	t.Helper()
	return must(s.Lines.History(t.Context(), supply.HistoryQuery{Number: must(s.Region.ParseMobile(lifeNumber))(t)}))(t).Status
}

// From a number's page a reviewer reaches the order with what banks would be told; the
// bar acts at once, and a second person sees the answer now and then before confirming.
func TestBarIsOrderedFromANumbersPage(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, second, auditor := s.as(t, "reviewer"), s.as(t, "reviewer"), s.as(t, "auditor")
	s.told(t, supply.Item{ID: "a", PhoneNumber: lifeNumber, Type: "ASSIGNED", EffectiveAt: daysAgo(29)})
	look := url.Values{"phoneNumber": {lifeNumber}, "reason": {lifeReason}}
	wantPage(t, s.post(t, numbersPath, asker.session, look), http.StatusOK, "No orders", "Bar number", "Blacklist number", "Void event", `name="lookupReason" value="`+lifeReason+`"`)
	if body := s.post(t, numbersPath, auditor.session, look).Body.String(); strings.Contains(body, "Bar number") || strings.Contains(body, "Void event") {
		t.Error("an auditor is offered orders")
	}
	wantPage(t, s.post(t, prepareOrder, auditor.session, orderOf("BAR")), http.StatusNotFound)
	lookups := s.rows(t, "history.read")
	wantPage(t, s.post(t, prepareOrder, asker.session, orderOf("BAR")), http.StatusOK, lifeNumber, "Answer now", "#answer-RECYCLED", "Answer with this order", "#answer-BARRED",
		"ends after 72 hours", `value="COURT"`, `value="`+lifeReason+`"`)
	if n := s.rows(t, "history.read"); n != lookups+1 {
		t.Errorf("the page of the order wrote %d look-ups, want 1", n-lookups)
	}
	if n := s.rows(t, "order.given"); n != 0 || s.answerNow(t) != line.Recycled {
		t.Fatalf("the preview gave %d orders", n)
	}
	wantPage(t, s.post(t, orders, asker.session, orderOf("BAR", "note", "Suit 12")), http.StatusUnprocessableEntity, `id="error-reason"`)
	wantPage(t, s.post(t, orders, asker.session, orderOf("BAR", "reason", "COURT", "note", "")), http.StatusUnprocessableEntity, `id="error-note"`)
	wantPage(t, s.post(t, orders, asker.session, orderOf("BAR", "reason", "COURT", "note", "x", "effectiveAt", "yesterday")), http.StatusUnprocessableEntity, `id="error-effectiveAt"`)
	wantGo(t, s.post(t, orders, asker.session, orderOf("BAR", "reason", "COURT", "note", "Suit 12")), approvalsPath)
	if got := s.answerNow(t); got != line.Barred {
		t.Fatalf("the number is %s", got)
	}
	wantPage(t, s.post(t, numbersPath, asker.session, look), http.StatusOK, "In effect, waiting for a second person", "Suit 12", "Lift bars")
	wantPage(t, s.post(t, prepareOrder, asker.session, orderOf("BAR")), http.StatusOK, "The answer stays BARRED.")
	id := must((&order.Service{Supply: s.Lines}).List(t.Context(), true, 1))(t)[0].ID.String()
	wantPage(t, s.get(t, orders+"/"+id+"/confirm", second.session), http.StatusOK, "Answer about the number", "#answer-BARRED", "the bar lasts until it is lifted")
	wantGo(t, s.post(t, orders+"/"+id+"/confirm", second.session, url.Values{}), approvalsPath)
	wantPage(t, s.post(t, numbersPath, asker.session, look), http.StatusOK, "In effect", "Suit 12")
}

// What a number is answered is shown only with a look-up that is recorded, also on a form
// that comes back with errors; without a reason for the look-up it is not shown.
func TestOrdersShowNoAnswerWithoutALookUp(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker := s.as(t, "reviewer")
	s.told(t, supply.Item{ID: "a", PhoneNumber: lifeNumber, Type: "ASSIGNED", EffectiveAt: daysAgo(29)})
	for _, path := range []string{prepareOrder, orders} {
		for _, action := range []string{"BAR", "BLACKLIST", "VOID 1"} {
			for _, fields := range [][]string{{"effectiveAt", "x"}, {"note", ""}, {"effectiveAt", "x", "lookupReason", ""}, {"note", "", "lookupReason", ""}} {
				before := s.rows(t, "history.read")
				body := s.post(t, path, asker.session, orderOf(action, fields...)).Body.String()
				shown, recorded := strings.Contains(body, "#answer-RECYCLED"), s.rows(t, "history.read")-before
				if shown && recorded == 0 {
					t.Errorf("%s %s %v shows the answer, and no look-up is recorded", path, action, fields)
				}
				if action == "BAR" && len(fields) == 2 && fields[0] == "effectiveAt" && !shown {
					t.Errorf("%s %s %v does not show the answer", path, action, fields)
				}
			}
		}
	}
}

// A void waits: its page shows the answer without the event, nothing changes before the
// second person confirms it, and what cannot be voided says why.
func TestVoidIsOrderedFromAnEvent(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, second := s.as(t, "reviewer"), s.as(t, "reviewer")
	s.told(t, supply.Item{ID: "a", PhoneNumber: lifeNumber, Type: "ASSIGNED", EffectiveAt: daysAgo(29)})
	s.told(t, supply.Item{ID: "b", PhoneNumber: lifeNumber, Type: "SIM_CHANGED", EffectiveAt: daysAgo(2)})
	h := must(s.Lines.History(t.Context(), supply.HistoryQuery{Number: must(s.Region.ParseMobile(lifeNumber))(t)}))(t)
	void := "VOID " + strconv.FormatInt(h.Events[1].Seq, 10)
	wantPage(t, s.post(t, prepareOrder, asker.session, orderOf(void)), http.StatusOK, "SIM changed", ">Operator MTN<", time.Now().UTC().AddDate(0, 0, -2).Format("2 Jan 2006, "), "#answer-SWAPPED", "#answer-RECYCLED", "Nothing changes until another administrator or reviewer")
	wantPage(t, s.post(t, orders, asker.session, orderOf(void, "note", "")), http.StatusUnprocessableEntity, "SIM changed", `id="error-note"`)
	wantGo(t, s.post(t, orders, asker.session, orderOf(void, "note", "MTN has no SIM order")), approvalsPath)
	if got := s.answerNow(t); got != line.Swapped {
		t.Fatalf("one person voided the event: %s", got)
	}
	id := must((&order.Service{Supply: s.Lines}).List(t.Context(), true, 1))(t)[0].ID.String()
	wantPage(t, s.get(t, orders+"/"+id+"/confirm", second.session), http.StatusOK, "#answer-SWAPPED", "#answer-RECYCLED")
	wantGo(t, s.post(t, orders+"/"+id+"/confirm", second.session, url.Values{}), approvalsPath)
	if got := s.answerNow(t); got != line.Recycled {
		t.Errorf("the number is %s", got)
	}
	wantPage(t, s.post(t, prepareOrder, asker.session, orderOf(void)), http.StatusUnprocessableEntity, "already been voided")
	wantPage(t, s.post(t, orders, asker.session, orderOf(void, "note", "again")), http.StatusUnprocessableEntity, "already been voided")
	wantPage(t, s.post(t, prepareOrder, asker.session, orderOf("EXPLODE")), http.StatusBadRequest, "Look up the number first")
	wantPage(t, s.post(t, prepareOrder, asker.session, orderOf("BAR", "phoneNumber", uuid.NewString())), http.StatusBadRequest, "Look up the number first")
}

// A bar acts before it is confirmed. Rejecting it does not end it: the message, the list of
// approvals and the number's page say until when it acts, and how to end it sooner.
func TestRejectedBarSaysThatItStillActs(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, second := s.as(t, "reviewer"), s.as(t, "reviewer")
	s.told(t, supply.Item{ID: "a", PhoneNumber: lifeNumber, Type: "ASSIGNED", EffectiveAt: daysAgo(29)})
	wantGo(t, s.post(t, orders, asker.session, orderOf("BAR", "reason", "COURT", "note", "Suit 12")), approvalsPath)
	o := must((&order.Service{Supply: s.Lines}).List(t.Context(), true, 1))(t)[0]
	res := s.post(t, orders+"/"+o.ID.String()+"/refuse", second.session, because("The letter names another number."))
	wantGo(t, res, approvalsPath)
	r := newRequest(http.MethodGet, approvalsPath, second.session, nil)
	r.AddCookie(cookie(t, res, "__Host-lineproof-flash"))
	state := "Rejected, in effect until " + kit.Stamp(o.LapsesAt)
	list := s.do(t, r)
	wantPage(t, list, http.StatusOK, "The bar stays in effect until it ends by itself", "Lift bars", state)
	wantNone(t, list.Body.String(), "It does not take effect")
	look := url.Values{"phoneNumber": {lifeNumber}, "reason": {lifeReason}}
	wantPage(t, s.post(t, numbersPath, asker.session, look), http.StatusOK, state, "Lift bars")
	if got := s.answerNow(t); got != line.Barred {
		t.Errorf("the number is %s", got)
	}
	must(s.pool.Exec(t.Context(), `UPDATE line_order SET lapses_at = now() - interval '1 hour' WHERE id = $1`, o.ID))(t)
	list = s.get(t, approvalsPath, second.session)
	wantPage(t, list, http.StatusOK, "Rejected")
	wantNone(t, list.Body.String(), "in effect until")
}

// A bar that nobody confirmed in time is listed with the decided requests, by the time at
// which it ended.
func TestBarThatLapsedIsListedWithDecidedRequests(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker := s.as(t, "reviewer")
	s.told(t, supply.Item{ID: "a", PhoneNumber: lifeNumber, Type: "ASSIGNED", EffectiveAt: daysAgo(29)})
	wantGo(t, s.post(t, orders, asker.session, orderOf("BAR", "reason", "COURT", "note", "Suit 12")), approvalsPath)
	service := &order.Service{Supply: s.Lines}
	if list := must(service.Decided(t.Context(), 10))(t); len(list) != 0 {
		t.Errorf("a bar that waits is decided: %+v", list)
	}
	must(s.pool.Exec(t.Context(), `UPDATE line_order SET lapses_at = now() - interval '1 hour'`))(t)
	list := must(service.Decided(t.Context(), 10))(t)
	if len(list) != 1 || list[0].State != order.Lapsed {
		t.Fatalf("decided are %+v", list)
	}
	wantPage(t, s.get(t, approvalsPath, asker.session), http.StatusOK, "No pending requests", "Ended, not confirmed in time", "Suit 12", kit.Stamp(list[0].LapsesAt))
}
