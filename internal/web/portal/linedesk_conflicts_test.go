package portal_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

const conflicts = "/portal/desk/conflicts"

// heldEvent reports for MTN that a parked line was used three months ago, which is held, and returns the event's path
// and sequence number.
func (s *stack) heldEvent(t testing.TB, number string) (path, seq string) {
	t.Helper()
	id := uuid.New()
	mtn := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Client: id, Actor: audit.Actor{Kind: audit.Client, ID: id}}
	result := must(s.Lines.ApplyEvents(t.Context(), mtn, []supply.Item{
		{ID: "parked", PhoneNumber: number, Type: "PARKED", EffectiveAt: daysAgo(100)}, {ID: "held", PhoneNumber: number, Type: "USED", EffectiveAt: daysAgo(90)},
	}))(t).Results[1]
	if result.Outcome != supply.Waiting {
		t.Fatalf("%+v", result)
	}
	list := must(s.Lines.OpenEvents(t.Context(), supply.OpenQuery{Held: true, Limit: 10}))(t)
	seq = strconv.FormatInt(list[len(list)-1].Seq, 10)
	return conflicts + "/" + seq, seq
}

// A held event is listed with its number and what a confirmation would do; its page has
// what each party says and the answer after each decision, and is a look-up in the trail.
// A confirmation acts at once.
func TestHeldEventIsConfirmedOnItsPage(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	reviewer, auditor := s.as(t, "reviewer"), s.as(t, "auditor")
	wantPage(t, s.get(t, conflicts, auditor.session), http.StatusOK, "No open events")
	path, seq := s.heldEvent(t, lifeNumber)
	wantPage(t, s.get(t, conflicts+"?show=held&network=MTN", auditor.session), http.StatusOK, lifeNumber, "Used again", "TOO_OLD", `href="`+path+`"`, "#answer-")
	wantPage(t, s.get(t, conflicts+"?network=GLO", auditor.session), http.StatusOK, "No open events match")
	wantPage(t, s.get(t, conflicts+"?network=NOBODY&after=nonsense", auditor.session), http.StatusOK, lifeNumber)
	lookups := s.rows(t, "history.read")
	page := s.get(t, path, auditor.session)
	wantPage(t, page, http.StatusOK, lifeNumber, "TOO_OLD", "What each party says", "Used again, this event", "Ask the operator for the document behind it")
	if strings.Contains(page.Body.String(), "Confirm event") {
		t.Error("an auditor is offered the decision")
	}
	if n := s.rows(t, "history.read"); n != lookups+1 {
		t.Errorf("the page wrote %d look-ups, want 1", n-lookups)
	}
	wantPage(t, s.get(t, path, reviewer.session), http.StatusOK, "Confirm event", "Withdraw event", "It takes effect at once.", "Nothing changes until another administrator or reviewer", "Answer then")
	form := url.Values{"phoneNumber": {lifeNumber}, "action": {"CONFIRM " + seq}, "note": {""}}
	wantPage(t, s.post(t, orders, reviewer.session, form), http.StatusUnprocessableEntity, `id="error-note"`)
	form.Set("note", "MTN sent the contract")
	wantGo(t, s.post(t, orders, reviewer.session, form), conflicts)
	wantPage(t, s.get(t, conflicts, reviewer.session), http.StatusOK, "No open events")
	wantPage(t, s.get(t, path, reviewer.session), http.StatusNotFound, "does not wait for a decision")
	for _, wrong := range []string{"/0", "/-1", "/01", "/x", "/99999999999999999999"} {
		wantPage(t, s.get(t, conflicts+wrong, reviewer.session), http.StatusNotFound)
	}
}

// The withdrawal of a held event waits for a second person, and its page says so.
func TestHeldEventIsWithdrawnByTwoPeople(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, second := s.as(t, "reviewer"), s.as(t, "reviewer")
	path, seq := s.heldEvent(t, lifeNumber)
	wantGo(t, s.post(t, orders, asker.session, url.Values{"phoneNumber": {lifeNumber}, "action": {"VOID " + seq}, "note": {"MTN has no contract"}}), approvalsPath)
	page := s.get(t, path, second.session)
	wantPage(t, page, http.StatusOK, "waits for a second person")
	if strings.Contains(page.Body.String(), "Confirm event") {
		t.Error("the event can be confirmed while its withdrawal waits")
	}
	id := must((&order.Service{Supply: s.Lines}).List(t.Context(), true, 1))(t)[0].ID.String()
	wantGo(t, s.post(t, orders+"/"+id+"/confirm", second.session, url.Values{}), approvalsPath)
	wantPage(t, s.get(t, conflicts, second.session), http.StatusOK, "No open events")
}
