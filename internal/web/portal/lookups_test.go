package portal_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// lookedUp counts the look-ups in the audit trail.
func (s *stack) lookedUp(t testing.TB) int {
	t.Helper()
	return s.rows(t, string(audit.HistoryRead)) + s.rows(t, string(audit.JournalRead))
}

// looksUp has a person look a number up in the portal.
func (s *stack) looksUp(t testing.TB, who visitor, number string) *httptest.ResponseRecorder {
	t.Helper()
	return s.post(t, numbersPath, who.session, url.Values{"phoneNumber": {number}, "reason": {lifeReason}})
}

// asksAPI has a person look a number up over the API.
func (s *stack) asksAPI(t testing.TB, session, number string) *httptest.ResponseRecorder {
	t.Helper()
	body := strings.NewReader(`{"phoneNumber":"` + number + `","reason":"` + lifeReason + `"}`)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/lines/history", body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+session)
	rec := httptest.NewRecorder()
	s.API.ServeHTTP(rec, r)
	return rec
}

// nth returns one of many numbers of MTN.
func nth(i int) string { return fmt.Sprintf("+23480355%05d", i) }

// Of 32 look-ups of different numbers at once, half of them in the portal and half over the
// API, as many succeed as the budget of the person allows. The same number is looked up
// again without counting, another person has a budget of their own, and the administrators
// are notified once.
func TestPortalAndAPIShareOneBudgetOfLookUps(t *testing.T) {
	t.Parallel()
	const budget = 5
	s := newStack(t)
	s.People.StaffLookups = budget
	boss, auditor := s.asAdministrator(t), s.as(t, "auditor")
	session := s.openAs(t, access.SessionForm{Account: auditor.id})
	answers := make([]*httptest.ResponseRecorder, 32)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			if i%2 == 0 {
				answers[i] = s.looksUp(t, auditor, nth(i))
			} else {
				answers[i] = s.asksAPI(t, session, nth(i))
			}
		})
	}
	all.Wait()
	shown := -1
	n := 0
	for i, res := range answers {
		body := res.Body.String()
		switch {
		case res.Code == http.StatusOK:
			shown = i
			n++
		case res.Code != http.StatusTooManyRequests || res.Header().Get("Retry-After") == "",
			!strings.Contains(body, "You have looked up 5 different numbers"):
			t.Errorf("answered %d: %s", res.Code, body)
		case i%2 == 0 && (!strings.Contains(body, `href="`+portal.LookupsPath+`"`) || strings.Contains(body, "UNALLOCATED")),
			i%2 == 1 && !strings.Contains(body, string(fault.QuotaExceeded)):
			t.Errorf("refused with %s", body)
		}
	}
	if in := s.lookedUp(t); n != budget || in != budget {
		t.Fatalf("%d look-ups succeeded and %d are in the trail, want %d", n, in, budget)
	}
	wantPage(t, s.looksUp(t, auditor, nth(shown)), http.StatusOK)
	wantPage(t, s.looksUp(t, auditor, nth(90)), http.StatusTooManyRequests, "No look-ups are left today")
	wantPage(t, s.get(t, portal.LookupsPath, auditor.session), http.StatusOK, "<strong>5</strong> of 5", "An auditor has no more")
	wantPage(t, s.post(t, portal.LookupsPath, auditor.session, url.Values{"reason": {lifeReason}}), http.StatusNotFound)
	wantPage(t, s.looksUp(t, boss, nth(90)), http.StatusOK)
	list := must(message.List(t.Context(), s.pool, boss.id, uuid.Nil, 10))(t)
	if len(list) != 1 || list[0].Kind != string(people.LookupsSpent) || list[0].Path != "/portal/desk/audit?actor="+auditor.id.String() {
		t.Errorf("the administrator has the messages %+v", list)
	}
	wantPage(t, s.get(t, list[0].Path, boss.session), http.StatusOK, "Number history read")
}

// Who has used the look-ups of a day has as many again when a second, independent person
// has confirmed it, and for that day only.
func TestSecondPersonAllowsMoreLookUps(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.People.StaffLookups = 2
	asker, other, puppet := s.as(t, "reviewer"), s.as(t, "reviewer"), s.as(t, "reviewer")
	s.independent(t)
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
		return registry.RecordAccess(t.Context(), tx, puppet.id, registry.AccessCreated, actorOf(asker), time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		wantPage(t, s.looksUp(t, asker, nth(i)), http.StatusOK)
	}
	spent := func(number string) {
		t.Helper()
		wantPage(t, s.looksUp(t, asker, number), http.StatusTooManyRequests)
	}
	spent(nth(2))
	wantPage(t, s.post(t, portal.LookupsPath, asker.session, url.Values{"reason": {""}}), http.StatusUnprocessableEntity, "Give a reason")
	wantGo(t, s.post(t, portal.LookupsPath, asker.session, url.Values{"reason": {"The complaints of June"}}), approvalsPath)
	at := approvalsPath + "/" + must(s.Approvals.List(t.Context(), false, 1))(t)[0].ID.String() + "/confirm"
	for _, who := range []visitor{asker, puppet} {
		wantPage(t, s.post(t, at, who.session, url.Values{}), http.StatusForbidden)
		spent(nth(2))
	}
	wantPage(t, s.get(t, at, other.session), http.StatusOK, "Look up more numbers today", "2 more different numbers", "The complaints of June")
	wantGo(t, s.post(t, at, other.session, url.Values{}), approvalsPath)
	wantPage(t, s.get(t, portal.LookupsPath, asker.session), http.StatusOK, "<strong>2</strong> of 4")
	for i := range 2 {
		wantPage(t, s.looksUp(t, asker, nth(2+i)), http.StatusOK)
	}
	spent(nth(4))
	if n := must(approval.Given(t.Context(), s.pool, staffaccess.MoreKind, asker.id, time.Now().Add(time.Minute)))(t); n != 0 {
		t.Errorf("%d confirmations count on the next day", n)
	}
	must(s.pool.Exec(t.Context(), `UPDATE approval SET row_mac = '\x00' WHERE kind = $1`, string(staffaccess.MoreKind)))(t)
	wantPage(t, s.get(t, portal.LookupsPath, asker.session), http.StatusOK, "<strong>4</strong> of 2")
}

// staffLookUps are the pages that tell staff about a number, or show records of an
// organisation.
var staffLookUps = []string{
	"GET /portal/desk/conflicts/{event}", "GET /portal/desk/orders/{order}/confirm", "GET /portal/desk/orders/{order}/refuse",
	"POST /portal/desk/numbers", "POST /portal/desk/numbers/order", "POST /portal/desk/orders",
	"POST /portal/desk/journal", "POST /portal/desk/journal/record",
}

// Every page of staff is opened, and every operation of the API that staff have: those that
// are look-ups stand in the audit trail, and show nothing to whoever has used the look-ups
// of the day. No other is a look-up.
func TestEveryLookUpOfStaffCounts(t *testing.T) {
	t.Parallel()
	e := newEverything(t)
	for _, row := range e.Rows() {
		looks := (row.Action == stepup.LookUp || row.Action == stepup.Search) && row.Who == "staff" && row.Path != "/portal/desk/audit"
		if looks && !slices.Contains(staffLookUps, row.Method+" "+row.Path) {
			t.Errorf("%s %s looks something up, and is not in the table", row.Method, row.Path)
		}
	}
	spent := e.walkLookUps(t, 1)
	open := e.walkLookUps(t, staffaccess.DefaultDaily)
	want := slices.Sorted(slices.Values(append([]string{"POST /api/v1/lines/history"}, staffLookUps...)))
	if got := slices.Sorted(maps.Keys(open)); !slices.Equal(got, want) {
		t.Errorf("look-ups are\n%v, want\n%v", got, want)
	}
	if len(spent) > 0 {
		t.Errorf("these look-ups went beyond the budget: %v", spent)
	}
}

// walkLookUps opens every page of staff with a budget, of which one look-up is used. It
// returns which of them wrote a look-up into the audit trail.
func (e *everything) walkLookUps(t *testing.T, budget int) (found map[string]bool) {
	t.Helper()
	found = map[string]bool{}
	for _, role := range []string{"administrator", "reviewer", "auditor"} {
		e.People.StaffLookups = staffaccess.DefaultDaily
		wantPage(t, e.looksUp(t, e.visitors[role], nth(99)), http.StatusOK)
	}
	e.People.StaffLookups = budget
	open := func(route string, send func() *httptest.ResponseRecorder) {
		t.Helper()
		before := e.lookedUp(t)
		res := send()
		refused := strings.Contains(res.Body.String(), "1 different numbers and pages of records today")
		if e.lookedUp(t) > before {
			found[route] = true
		} else if is := slices.Contains(staffLookUps, route) || strings.HasPrefix(route, "POST /api/"); budget == 1 && refused != is {
			t.Errorf("%s answered %d to somebody without look-ups: %.300s", route, res.Code, res.Body)
		}
		if refused && res.Code != http.StatusTooManyRequests {
			t.Errorf("%s refused with %d", route, res.Code)
		}
	}
	for _, row := range e.Rows() {
		if row.Method == http.MethodGet && (row.Who == "staff" || row.Who == "decider" || row.Who == "administrator") {
			role := "administrator" // may open them all
			open("GET "+row.Path, func() *httptest.ResponseRecorder { return e.get(t, e.at(t, row.Path), e.visitors[role].session) })
		}
	}
	for _, st := range append(e.steps(t), step{"reviewer", orders, orderOf("VOID 0")}) {
		if strings.HasPrefix(st.path, "/portal/desk/") {
			open("POST "+st.path, func() *httptest.ResponseRecorder { return e.post(t, st.path, e.visitors[st.role].session, st.fields) })
		}
	}
	session := e.openAs(t, access.SessionForm{Account: e.visitors["auditor"].id})
	open("POST /api/v1/lines/history", func() *httptest.ResponseRecorder { return e.asksAPI(t, session, nth(98)) })
	for _, path := range []string{
		"/api/v1/lines/conflicts", "/api/v1/lines/imports", "/api/v1/lines/imports/" + e.own["import"], "/api/v1/lines/supply", "/api/regulator/v1/documents",
	} {
		open("GET "+path, func() *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Header.Set("Authorization", "Bearer "+session)
			rec := httptest.NewRecorder()
			e.API.ServeHTTP(rec, r)
			if rec.Code != http.StatusOK {
				t.Errorf("%s answered %d", path, rec.Code)
			}
			return rec
		})
	}
	return found
}
