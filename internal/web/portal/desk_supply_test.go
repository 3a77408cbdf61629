package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// The board shows every operator of the plan to all staff, in the requested order,
// ascending and descending.
func TestBoardIsSorted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco, auditor := s.as(t, "telco"), s.as(t, "auditor")
	_, id := s.held(t, telco)
	res := s.get(t, "/portal/desk/supply", auditor.session)
	wantPage(t, res, http.StatusOK, "/portal/desk/supply/MTN", "/portal/desk/supply/GLO", "/portal/desk/supply/AIRTEL", ">Never supplied<", ">Supplying<", "40 lines",
		"Held files: waiting for a decision", "/portal/desk/supply/imports/"+id.String(), "?sort=share")
	if body := res.Body.String(); strings.Index(body, "/portal/desk/supply/imports/"+id.String()) > strings.Index(body, ">Operators</h2>") || strings.Contains(body, "Files in progress") {
		t.Error("what waits for a decision is not the first thing on the board")
	}
	wantPage(t, s.get(t, "/portal/desk/home", auditor.session), http.StatusOK, ">Never supplied<", ">Supplying<")
	order := func(query string) bool {
		t.Helper()
		res := s.get(t, "/portal/desk/supply?"+query, auditor.session)
		wantPage(t, res, http.StatusOK, "aria-sort=")
		_, table, _ := strings.Cut(res.Body.String(), ">Operators</h2>")
		return strings.Index(table, "/portal/desk/supply/MTN") < strings.Index(table, "/portal/desk/supply/GLO")
	}
	for query, first := range map[string]bool{
		"sort=share&dir=desc": true, "sort=share&dir=asc": false, "sort=through&dir=desc": true, "sort=through&dir=asc": false, "sort=held&dir=desc": true,
		"sort=name&dir=asc": false, "sort=name&dir=desc": true, "sort=silent&dir=asc": false, "sort=silent&dir=desc": true,
	} {
		if order(query) != first {
			t.Errorf("%s: MTN stands before GLO: %v, want %v", query, !first, first)
		}
	}
	wantPage(t, s.get(t, "/portal/desk/supply?sort=share&dir=asc", auditor.session), http.StatusOK, `aria-sort="ascending"`, "dir=desc&amp;sort=share")
	wantPage(t, s.get(t, "/portal/desk/supply?sort=nothing", auditor.session), http.StatusOK)
}

// Staff see one operator with its files, and a code that does not exist is not found.
func TestStaffSeeOneOperator(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco, auditor := s.as(t, "telco"), s.as(t, "auditor")
	_, id := s.held(t, telco)
	res := s.get(t, "/portal/desk/supply/MTN", auditor.session)
	wantPage(t, res, http.StatusOK, "/portal/desk/supply/imports/"+id.String(), "Review file", "Known since", "end 20 of 40")
	if body := res.Body.String(); strings.Index(body, id.String()) > strings.Index(body, "Supplied through") {
		t.Error("the file that waits for a decision stands below the figures")
	}
	wantPage(t, s.get(t, "/portal/desk/supply/GLO", auditor.session), http.StatusOK, "never supplied", "No files yet")
	wantPage(t, s.get(t, "/portal/desk/supply/NOBODY", auditor.session), http.StatusNotFound)
	wantPage(t, s.get(t, "/portal/desk/supply/MTN", telco.session), http.StatusNotFound)
}

// A held file waits until a decider who has typed the network's code, and said why,
// requests it and a second one confirms it. Then it is applied, and the audit trail has
// both.
func TestStaffConfirmHeldFiles(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco, auditor, reviewer, second := s.as(t, "telco"), s.as(t, "auditor"), s.as(t, "reviewer"), s.as(t, "reviewer")
	sent, id := s.held(t, telco)
	wantGo(t, s.post(t, sent+"/mean", telco.session, url.Values{}), sent)
	page := "/portal/desk/supply/imports/" + id.String()
	res := s.get(t, page, auditor.session)
	wantPage(t, res, http.StatusOK, "This file is on hold.", "end 20 of 40", "Confirmed as intentional, by Zainab Sule of Harmattan Telecom")
	if strings.Contains(res.Body.String(), page+"/confirm") {
		t.Error("an auditor is offered to confirm")
	}
	wantPage(t, s.post(t, page+"/confirm", auditor.session, url.Values{"confirm": {"MTN"}}), http.StatusNotFound)
	wantPage(t, s.get(t, page, reviewer.session), http.StatusOK, page+"/confirm", page+"/cancel")
	wantPage(t, s.get(t, page, reviewer.session), http.StatusOK, "Apply held file")
	wantPage(t, s.get(t, page+"/confirm", reviewer.session), http.StatusOK, "data-confirm", "end 20 of 40", "20 tenures of MTN end.", "Lines that change",
		">…20<", "ACTIVE, holder since 2024-02-03", "QUARANTINED, since", "The first 10 of 20")
	for _, path := range []string{page, page + "/confirm"} {
		if body := s.get(t, path, reviewer.session).Body.String(); strings.Contains(body, "+234803") || strings.Contains(body, ">…30<") {
			t.Errorf("%s shows a whole number, or more than ten examples", path)
		}
	}
	wantPage(t, s.get(t, sent, telco.session), http.StatusOK, "+2348030000020", "Examples of what it would change")
	wantPage(t, s.get(t, page+"/cancel", reviewer.session), http.StatusOK, "Nothing of the file is applied, and nothing of it will be.")
	wantPage(t, s.post(t, page+"/confirm", reviewer.session, url.Values{}), http.StatusUnprocessableEntity, `id="error-reason"`)
	if im := must(s.Lines.Import(t.Context(), id))(t); im.State != supply.Held {
		t.Fatalf("the import is %s", im.State)
	}
	wantGo(t, s.post(t, page+"/confirm", reviewer.session, url.Values{"reason": {"A merger"}}), page)
	wantPage(t, s.get(t, page, reviewer.session), http.StatusOK, "This file is on hold.")
	wantPage(t, s.post(t, page+"/confirm", second.session, url.Values{"reason": {"A merger"}}), http.StatusConflict, "already been requested")
	waiting := must(s.Approvals.List(t.Context(), false, 10))(t)
	if len(waiting) != 1 || waiting[0].Subject != id {
		t.Fatalf("waiting are %+v", waiting)
	}
	confirm := approvalsPath + "/" + waiting[0].ID.String() + "/confirm"
	wantPage(t, s.get(t, approvalsPath, auditor.session), http.StatusOK, "Apply a held file", "A merger", page)
	wantPage(t, s.post(t, confirm, auditor.session, url.Values{}), http.StatusNotFound)
	wantPage(t, s.post(t, confirm, reviewer.session, url.Values{}), http.StatusForbidden, "needs two people")
	wantGo(t, s.post(t, confirm, second.session, url.Values{}), approvalsPath)
	wantPage(t, s.get(t, page, reviewer.session), http.StatusOK, "Being applied", `hx-get="`+page+`/progress"`)
	wantPage(t, s.get(t, page+"/progress", reviewer.session), http.StatusOK, "Being applied")
	s.worked(t, page, supply.Finished)
	wantPage(t, s.get(t, page, auditor.session), http.StatusOK, "Result", "Confirmed, by Zainab Sule", "Applied, by the service")
	if n := s.linesKnown(t); n != 20 {
		t.Errorf("%d lines are known, want 20", n)
	}
	list := must(audit.List(t.Context(), s.pool, audit.Filter{Subject: id, Action: string(audit.ImportConfirmed)}))(t)
	if len(list) != 1 || list[0].Actor.ID != second.id || list[0].After["askedBy"] != reviewer.id.String() {
		t.Errorf("the trail has %+v", list)
	}
	wantPage(t, s.post(t, page+"/confirm", reviewer.session, url.Values{"reason": {"Again"}}), http.StatusConflict, "not waiting to be confirmed")
}

// Deciders cancel an import that is not finished, and read its rejected rows.
func TestStaffCancelImports(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco, reviewer := s.as(t, "telco"), s.as(t, "reviewer")
	_, id := s.held(t, telco)
	page := "/portal/desk/supply/imports/" + id.String()
	wantPage(t, s.post(t, page+"/cancel", s.as(t, "auditor").session, url.Values{}), http.StatusNotFound)
	wantPage(t, s.get(t, page+"/cancel", reviewer.session), http.StatusOK, "data-confirm")
	wantGo(t, s.post(t, page+"/cancel", reviewer.session, url.Values{}), page)
	wantPage(t, s.get(t, page, reviewer.session), http.StatusOK, "Cancelled", "Cancelled, by Zainab Sule")
	wantPage(t, s.post(t, page+"/cancel", reviewer.session, url.Values{}), http.StatusConflict, "This import is already finished")
	if n := s.linesKnown(t); n != 40 {
		t.Errorf("%d lines are known, want 40", n)
	}
	events := s.sent(t, telco, eventsForm, "", eventsFile)
	other := s.worked(t, events, supply.Finished)
	file := s.get(t, "/portal/desk/supply/imports/"+other.String()+"/refused.csv", reviewer.session)
	if file.Code != http.StatusOK || !strings.Contains(file.Body.String(), "3,effectiveAt,BAD_FORMAT") {
		t.Errorf("answered %d: %s", file.Code, file.Body)
	}
	shown := s.get(t, "/portal/desk/supply/imports/"+other.String(), reviewer.session)
	wantPage(t, shown, http.StatusOK, "BAD_FORMAT", ">never<", ">…02<")
	values := s.get(t, "/portal/desk/supply/imports/"+other.String()+"/refused.csv?values=yes", reviewer.session)
	if strings.Contains(shown.Body.String()+values.Body.String(), "80300000") {
		t.Error("staff see a whole number of the file")
	}
}

// disbelieve has so many false assurances of MTN that its SIM changes are not believed.
func (s *stack) disbelieve(t *testing.T) {
	t.Helper()
	_, err := s.pool.Exec(t.Context(), `INSERT INTO supply_coverage (network, topic, supplied_through, doubtful, updated_at)
		SELECT network, 2, now(), true, now() FROM numbering_network WHERE name LIKE 'MTN%' ORDER BY version DESC LIMIT 1
		ON CONFLICT (network, topic) DO UPDATE SET doubtful = true`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.pool.Exec(t.Context(), `INSERT INTO supply_coverage_history (network, topic, at, supplied_through, doubtful)
		SELECT network, topic, now(), supplied_through, doubtful FROM supply_coverage WHERE topic = 2 AND doubtful ON CONFLICT DO NOTHING`)
	if err != nil {
		t.Fatal(err)
	}
}

// Where an operator's statements are disbelieved, its page says so, and staff who decide can request
// that they be believed again.
func TestStaffAcceptATopicAgain(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const page = "/portal/desk/accept-topic/MTN/SIM"
	reviewer := s.as(t, "reviewer")
	s.disbelieve(t)
	wantPage(t, s.get(t, "/portal/desk/supply/MTN", reviewer.session), http.StatusOK, "Statements about SIM are not believed", page)
	wantPage(t, s.get(t, page, reviewer.session), http.StatusOK, "Accept SIM again", "Request approval")
	wantPage(t, s.get(t, "/portal/desk/accept-topic/MTN/PORT", reviewer.session), http.StatusNotFound)
	wantGo(t, s.post(t, page, reviewer.session, url.Values{"reason": {"The clock is corrected"}}), "/portal/desk/supply/MTN")
	wantPage(t, s.get(t, "/portal/desk/approvals", s.as(t, "administrator").session), http.StatusOK, "Believe a supplier&#39;s statements again", "SIM of MTN")
}
