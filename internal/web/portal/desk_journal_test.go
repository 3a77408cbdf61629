package portal_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

const (
	searching    = "/portal/desk/journal"
	searchReason = "Complaint 31 of 2026"
)

// searchFor returns the form of a search.
func searchFor(organisation string, more ...string) url.Values {
	form := url.Values{"reason": {searchReason}, "organisation": {organisation}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

// Staff find the records of an organisation by its name, page by page, and a record
// by its id. Each page is audited with the reason, which is never in an address.
func TestStaffSearchRecords(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor, member := s.as(t, "auditor"), s.as(t, "member")
	key, _ := s.madeKey(t, member, "pipeline", "test")
	var numbers []string
	for range 53 {
		numbers = append(numbers, testNumber)
	}
	ids := s.asked(t, key, "till-7", numbers...)
	wantPage(t, s.get(t, searching, auditor.session), http.StatusOK, `method="post"`, "Reason", "Organisation")
	first := s.post(t, searching, auditor.session, searchFor("harbour"))
	wantPage(t, first, http.StatusOK, "Records of Harbour Bank", testNumber, "pipeline", "#answer-NORMAL", "Next page", searchReason)
	if n := strings.Count(first.Body.String(), `type="submit" name="requestId"`); n != 50 {
		t.Errorf("%d records are shown, want 50", n)
	}
	for _, link := range regexp.MustCompile(`(?:href|action)="([^"]*)"`).FindAllStringSubmatch(first.Body.String(), -1) {
		if strings.Contains(link[1], "Complaint") || strings.Contains(link[1], "234729") {
			t.Errorf("the address %s holds what no address may", link[1])
		}
	}
	after := regexp.MustCompile(`name="after" value="([^"]+)"`).FindStringSubmatch(first.Body.String())
	if after == nil {
		t.Fatal("there is no next page")
	}
	second := s.post(t, searching, auditor.session, searchFor("Harbour Bank", "entity", s.bank.ID.String(), "after", after[1]))
	wantPage(t, second, http.StatusOK, "First page", ids[0])
	if strings.Contains(second.Body.String(), ids[52]) || strings.Contains(second.Body.String(), "Next page") {
		t.Error("the second page is not the rest")
	}
	wantPage(t, s.post(t, searching, auditor.session, searchFor("Harbour Bank", "status", "SWAPPED")), http.StatusOK, "No records found")
	wantPage(t, s.post(t, searching, auditor.session, searchFor("", "requestId", ids[3])), http.StatusOK, "Record", "Harbour Bank", "till-7", "Record hash")
	wantPage(t, s.post(t, searching+"/record", auditor.session, searchFor("", "requestId", ids[3])), http.StatusOK, "Record")
	all := must(audit.List(t.Context(), s.pool, audit.Filter{Action: "journal.read"}))(t)
	if len(all) != 5 {
		t.Fatalf("%d looks are in the trail, want 5", len(all))
	}
	for _, e := range all {
		if e.Actor.ID != auditor.id || e.Entity != s.bank.ID || e.After["reason"] != searchReason {
			t.Errorf("the trail has %+v", e)
		}
	}
	if all[0].Subject.String() != ids[3] {
		t.Errorf("the look at one record is about %s", all[0].Subject)
	}
}

// Nothing is searched without a reason, nor in the records of all organisations at
// once. If several organisations match, the page offers them, and if the search
// cannot be audited, nothing is shown.
func TestInvalidSearchesShowNoRecords(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor, member := s.as(t, "auditor"), s.as(t, "member")
	key, _ := s.madeKey(t, member, "pipeline", "test")
	id := s.asked(t, key, "", testNumber)[0]
	for name, form := range map[string]url.Values{
		"reason":       {"organisation": {"Harbour Bank"}, "reason": {"because"}},
		"organisation": searchFor(""),
		"status":       searchFor("Harbour Bank", "status", "NONSENSE"),
		"from":         searchFor("Harbour Bank", "from", "yesterday"),
		"requestId":    searchFor("Harbour Bank", "requestId", "nonsense"),
	} {
		res := s.post(t, searching, auditor.session, form)
		wantPage(t, res, http.StatusUnprocessableEntity, `id="error-`+name+`"`)
		if strings.Contains(res.Body.String(), id) {
			t.Errorf("%s: a record is shown", name)
		}
	}
	wantPage(t, s.post(t, searching, auditor.session, searchFor("Nobody")), http.StatusUnprocessableEntity, "No organisation has this in its name")
	wantPage(t, s.post(t, searching+"/record", auditor.session, url.Values{"requestId": {id}}), http.StatusUnprocessableEntity, `id="error-reason"`)
	wantPage(t, s.post(t, searching, auditor.session, searchFor("bank")), http.StatusUnprocessableEntity, "Matching organisations", "Harbour Bank", "Lagoon Bank", s.other.ID.String())
	wantPage(t, s.post(t, searching, member.session, searchFor("bank")), http.StatusNotFound)
	if n := s.rows(t, "journal.read"); n != 0 {
		t.Errorf("%d looks are in the trail, and nothing was shown", n)
	}
	wantPage(t, s.post(t, searching, auditor.session, searchFor("bank", "entity", s.other.ID.String())), http.StatusOK, "Records of Lagoon Bank", "No records found")
	must(s.Registry.CreateRelyingParty(t.Context(), "Bank", "RC 77", access.Operator, uuid.Nil))(t)
	wantPage(t, s.post(t, searching, auditor.session, searchFor("bank")), http.StatusOK, "Records of Bank")
	wantPage(t, s.post(t, searching, auditor.session, searchFor("", "requestId", uuid.NewString())), http.StatusUnprocessableEntity, "There is no record")
	if n := s.rows(t, "journal.read"); n != 3 {
		t.Errorf("%d looks are in the trail, want 3: that there is no record is an answer, too", n)
	}
	s.refuseAudit(t, "journal.read")
	for _, form := range []url.Values{searchFor("Harbour Bank"), searchFor("", "requestId", id)} {
		res := s.post(t, searching, auditor.session, form)
		wantPage(t, res, http.StatusInternalServerError)
		if strings.Contains(res.Body.String(), "pipeline") {
			t.Error("a search that is not in the trail was shown")
		}
	}
}
