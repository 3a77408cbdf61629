package portal_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

const testNumber = "+2347290000000"

// asked verifies numbers with a key, as an application would, and returns the ids of
// the records.
func (s *stack) asked(t testing.TB, key, correlator string, numbers ...string) []string {
	t.Helper()
	var ids []string
	for _, n := range numbers {
		r := newRequest(http.MethodPost, "/api/v1/phone/api/phone-numbers/verify", "", nil)
		r.Body = http.NoBody
		r = withBody(r, `{"phoneNumber":"`+n+`"}`)
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		if correlator != "" {
			r.Header.Set("x-correlator", correlator)
		}
		res := serve(s.API, r)
		if res.Code != http.StatusOK {
			t.Fatalf("verify answered %d: %s", res.Code, res.Body)
		}
		ids = append(ids, res.Header().Get("X-Request-Id"))
	}
	return ids
}

// "Try it" sends a request to the API itself: the answer is that of the number, and it
// is in the journal.
func TestTrySendsARealRequest(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member := s.as(t, "member")
	first := s.get(t, "/portal/try", member.session)
	wantPage(t, first, http.StatusOK, testNumber+" · NORMAL<", "+2347290000022 · SWAPPED<", "+2347290000043 · UNAVAILABLE<", "+2347290000052 · UNAVAILABLE<", "No request sent yet", "The SIM was changed.")
	comesFirst := func(body, card string) {
		t.Helper()
		if at := strings.Index(body, card); at < 0 || at > strings.Index(body, ">Request</h2>") {
			t.Errorf("%s does not come first", card)
		}
	}
	comesFirst(first.Body.String(), "No test key yet?")
	key, _ := s.madeKey(t, member, "pipeline", "test")
	for number, want := range map[string][]string{
		testNumber:       {"200 OK", "NORMAL", "Savanna Mobile", "X-Request-Id"},
		"+2347290000022": {"200 OK", "SWAPPED", "/portal/guide/answers#answer-SWAPPED"},
		"+2347290000043": {"503 Service Unavailable", "UNAVAILABLE", "Retry-After", "/portal/guide/answers#answer-503"},
		"+2348031234567": {"422 Unprocessable Entity", "SERVICE_NOT_APPLICABLE"},
	} {
		res := s.post(t, "/portal/try", member.session, url.Values{"key": {key}, "phoneNumber": {number}, "signals": {"yes"}})
		wantPage(t, res, http.StatusOK, append(want, "&#34;include&#34;")...)
	}
	made := s.post(t, "/portal/try", member.session, url.Values{"make": {"yes"}, "phoneNumber": {testNumber}})
	wantPage(t, made, http.StatusOK, "200 OK", "NORMAL", "shown only once")
	comesFirst(made.Body.String(), "New test key")
	// Sent by the form, the browser goes to the answer; what is wrong with it is at the top.
	wantPage(t, made, http.StatusOK, `action="/portal/try#answer"`, `id="answer"`)
	if wrong := s.post(t, "/portal/try", member.session, url.Values{"phoneNumber": {testNumber}}); wrong.Code != http.StatusUnprocessableEntity || strings.Contains(wrong.Body.String(), `id="answer"`) {
		t.Errorf("a form without a key is answered %d, and the browser goes past what is wrong", wrong.Code)
	}
	if page := must(s.Tally.Records(t.Context(), tally.Filter{Entity: s.bank.ID, Limit: 10}))(t); len(page.Records) != 3 {
		t.Errorf("the journal has %d records, want the 3 that were answered", len(page.Records))
	}
}

// "Try it" does not accept a live key, and does not send a text that is not a key.
func TestTryAcceptsOnlyTestKeys(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	live, _ := s.madeKey(t, admin, "app", "live")
	for _, key := range []string{"", live, "lp_test_nothing", strings.Repeat("x", 9000)} {
		res := s.post(t, "/portal/try", admin.session, url.Values{"key": {key}, "phoneNumber": {testNumber}})
		wantPage(t, res, http.StatusUnprocessableEntity, `id="error-key"`, "No request sent yet")
	}
	gone, id := s.madeKey(t, admin, "gone", "test")
	wantGo(t, s.post(t, "/portal/keys/"+id+"/revoke", admin.session, url.Values{"confirm": {"gone"}}), "/portal/keys")
	wantPage(t, s.post(t, "/portal/try", admin.session, url.Values{"key": {gone}, "phoneNumber": {testNumber}}), http.StatusOK, "401 Unauthorized")
}

// An admin invites people, resends an invitation and removes people; the last admin
// stays.
func TestAdminsManageTheTeam(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	wantPage(t, s.post(t, "/portal/team", admin.session, url.Values{"email": {"nobody"}, "kind": {"staff"}}), http.StatusUnprocessableEntity, `id="error-kind"`)
	wantPage(t, s.post(t, "/portal/team", admin.session, url.Values{"email": {"nobody"}, "kind": {"member"}}), http.StatusUnprocessableEntity, `id="error-email"`)
	wantGo(t, s.post(t, "/portal/team", admin.session, url.Values{"email": {"guest@people.example"}, "kind": {"member"}}), "/portal/team")
	guest := s.invitedAs(t, "guest@people.example")
	if guest.Entity != s.bank.ID || guest.Kind != registry.MemberAccount {
		t.Errorf("the guest is %+v", guest)
	}
	if kind, ok := s.emails.LoadAndDelete(guest.ID); !ok || kind != people.Invitation {
		t.Errorf("the letter is %v", kind)
	}
	wantPage(t, s.get(t, "/portal/team", admin.session), http.StatusOK, "guest@people.example", "Invited", "Resend invitation", "You")
	wantGo(t, s.post(t, "/portal/team/"+guest.ID.String()+"/invite", admin.session, url.Values{}), "/portal/team")
	if _, ok := s.emails.Load(guest.ID); !ok {
		t.Error("no second letter")
	}
	wantPage(t, s.get(t, "/portal/team/"+guest.ID.String()+"/remove", admin.session), http.StatusOK, "data-confirm", "guest@people.example")
	wantGo(t, s.post(t, "/portal/team/"+guest.ID.String()+"/remove", admin.session, url.Values{}), "/portal/team")
	wantPage(t, s.get(t, "/portal/team", admin.session), http.StatusOK, "Removed")
	wantPage(t, s.post(t, "/portal/team/"+admin.id.String()+"/remove", admin.session, url.Values{}), http.StatusConflict, "your own account")
	wantPage(t, s.post(t, "/portal/team", admin.session, url.Values{"email": {s.as(t, "member").email}, "kind": {"member"}}), http.StatusConflict)
}

// An admin makes others admins and members; an account that is no longer an admin
// loses the sessions that had the right. Nobody can change their own role.
func TestAdminsChangeRoles(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, member := s.as(t, "admin"), s.as(t, "member")
	path := "/portal/team/" + member.id.String() + "/role"
	wantPage(t, s.get(t, "/portal/team", member.session), http.StatusNotFound)
	wantPage(t, s.get(t, path, admin.session), http.StatusOK, "data-confirm", "becomes an admin")
	wantPage(t, s.post(t, path, admin.session, url.Values{"kind": {"staff"}}), http.StatusUnprocessableEntity)
	wantPage(t, s.post(t, path, admin.session, url.Values{"kind": {"member"}}), http.StatusConflict, "already has that role")
	wantGo(t, s.post(t, path, admin.session, url.Values{"kind": {"admin"}}), "/portal/team")
	fresh := s.openFor(t, member)
	wantPage(t, s.get(t, "/portal/team", fresh), http.StatusOK, "Make member")
	wantGo(t, s.post(t, path, admin.session, url.Values{"kind": {"member"}}), "/portal/team")
	if res := s.get(t, "/portal/team", fresh); res.Code != http.StatusSeeOther {
		t.Errorf("who is no admin any more is answered %d", res.Code)
	}
	own := "/portal/team/" + admin.id.String() + "/role"
	wantPage(t, s.post(t, own, admin.session, url.Values{"kind": {"member"}}), http.StatusConflict, "your own account")
	stranger := s.as(t, "stranger")
	wantPage(t, s.get(t, path, stranger.session), http.StatusNotFound)
	wantPage(t, s.post(t, path, stranger.session, url.Values{"kind": {"admin"}}), http.StatusNotFound)
	var n int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = 'account.kind_given' AND subject_id = $1`, member.id).Scan(&n); err != nil || n != 2 {
		t.Errorf("the trail has %d entries, %v; want 2", n, err)
	}
}

// An account of another organisation does not exist.
func TestPeopleOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, stranger, staff := s.as(t, "admin"), s.as(t, "stranger"), s.as(t, "auditor")
	for _, id := range []uuid.UUID{stranger.id, staff.id} {
		wantPage(t, s.get(t, "/portal/team/"+id.String()+"/remove", admin.session), http.StatusNotFound)
		wantPage(t, s.post(t, "/portal/team/"+id.String()+"/remove", admin.session, url.Values{}), http.StatusNotFound)
		wantPage(t, s.post(t, "/portal/team/"+id.String()+"/invite", admin.session, url.Values{}), http.StatusNotFound)
	}
	if body := s.get(t, "/portal/team", admin.session).Body.String(); strings.Contains(body, stranger.email) || strings.Contains(body, staff.email) {
		t.Error("the list shows people of others")
	}
}

// The profile shows the organisation's own record and limits.
func TestProfileShowsOwnOrganisation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	if err := s.Access.SetLimits(t.Context(), s.bank.ID, access.Limits{DayQuota: 12345}, "", access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	wantPage(t, s.get(t, "/portal/profile", s.as(t, "member").session), http.StatusOK, "Harbour Bank", "RC 7", "Approved", "12,345", "No limit", s.bank.ID.String())
	wantPage(t, s.get(t, "/portal/profile", s.as(t, "telco").session), http.StatusOK, "Harmattan Telecom", "upplies lines")
}

// The overview shows the counts by mode, and what is left of the quota.
func TestOverviewShowsCounts(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	wantPage(t, s.get(t, "/portal/overview", admin.session), http.StatusOK, "No requests in this period")
	key, _ := s.madeKey(t, admin, "pipeline", "test")
	s.asked(t, key, "", testNumber, testNumber, "+2347290000022", "+2347290000010")
	must(s.Tally.Count(t.Context()))(t)
	res := s.get(t, "/portal/overview?mode=test&days=7", admin.session)
	wantPage(t, res, http.StatusOK, "Answers by status", "NORMAL", "SWAPPED", "BLACKLISTED", "/portal/guide/answers#answer-SWAPPED", "/portal/journal?mode=test&amp;status=SWAPPED")
	if stat := regexp.MustCompile(`Answers</p><p class="stat-value">(\d+)<`).FindStringSubmatch(res.Body.String()); stat == nil || stat[1] != "4" {
		t.Errorf("the page says %v answers, want 4", stat)
	}
	wantPage(t, s.get(t, "/portal/overview?mode=live", admin.session), http.StatusOK, "No requests in this period")
	wantPage(t, s.get(t, "/portal/overview?mode=test", s.as(t, "stranger").session), http.StatusOK, "No requests in this period")
	if err := s.Access.SetLimits(t.Context(), s.bank.ID, access.Limits{DayQuota: 500}, "", access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	wantPage(t, s.get(t, "/portal/overview", admin.session), http.StatusOK, "0 of 500, 500 left")
}

// The journal lists the organisation's own records that match the filter, and finds
// one by its id.
func TestJournalListsOwnRecords(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, stranger := s.as(t, "admin"), s.as(t, "stranger")
	key, keyID := s.madeKey(t, admin, "pipeline", "test")
	other, otherID := s.madeKey(t, admin, "branch", "test")
	theirs, _ := s.madeKey(t, stranger, "theirs", "test")
	ids := s.asked(t, key, "", testNumber, "+2347290000022")
	ids = append(ids, s.asked(t, other, "order-7", testNumber)...)
	foreign := s.asked(t, theirs, "order-7", testNumber)[0]
	wantPage(t, s.get(t, "/portal/journal", admin.session), http.StatusOK, ids[0], ids[1], "pipeline", "SWAPPED")
	for query, want := range map[string][]bool{
		"": {true, true, true}, "?status=SWAPPED": {false, true, false}, "?mode=live": {false, false, false}, "?mode=test&status=NORMAL": {true, false, true},
		"?key=" + keyID: {true, true, false}, "?key=" + otherID: {false, false, true}, "?correlator=order-7": {false, false, true}, "?correlator=order": {false, false, false}, "?status=NORMAL&key=" + keyID: {true, false, false},
		"?from=" + time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly): {false, false, false}, "?to=" + time.Now().UTC().Format(time.DateOnly): {true, true, true},
	} {
		body := s.get(t, "/portal/journal"+query, admin.session).Body.String()
		for i, id := range ids {
			if strings.Contains(body, id) != want[i] {
				t.Errorf("%s shows record %d: %t", query, i, !want[i])
			}
		}
		if strings.Contains(body, foreign) {
			t.Errorf("%s shows a record of another organisation", query)
		}
	}
	find := func(who visitor, form url.Values) string {
		return s.post(t, "/portal/journal", who.session, form).Body.String()
	}
	if body := find(admin, url.Values{"phoneNumber": {"+2347290000022"}}); strings.Contains(body, ids[0]) || !strings.Contains(body, ids[1]) || strings.Contains(body, "?phoneNumber") {
		t.Error("a search by number does not have the answer about it alone, or has the number in an address")
	}
	if body := find(stranger, url.Values{"phoneNumber": {"+2347290000022"}}); strings.Contains(body, ids[1]) || !strings.Contains(body, "No records found") {
		t.Error("a search by number finds an answer to another organisation")
	}
	for _, number := range []string{"", "none", "+4915112345678"} {
		wantPage(t, s.post(t, "/portal/journal", admin.session, url.Values{"phoneNumber": {number}}), http.StatusUnprocessableEntity, `id="error-phoneNumber"`)
	}
	wantGo(t, s.get(t, "/portal/journal?requestId="+ids[1], admin.session), "/portal/journal/"+ids[1])
	wantPage(t, s.get(t, "/portal/journal/"+ids[1], admin.session), http.StatusOK, "+2347290000022", "SWAPPED", "Record hash")
	wantPage(t, s.get(t, "/portal/journal/"+foreign, admin.session), http.StatusNotFound)
	for _, id := range []string{foreign, "nothing", uuid.NewString()} {
		wantPage(t, s.get(t, "/portal/journal?requestId="+id, admin.session), http.StatusUnprocessableEntity, "has no record with this requestId")
	}
	wantPage(t, s.get(t, "/portal/journal?from=yesterday&status=X&mode=y&key=z", admin.session), http.StatusUnprocessableEntity, `id="error-from"`, `id="error-status"`, `id="error-mode"`, `id="error-key"`)
}

// An export has every record that matches the filter once, however many pages were
// read, and nothing that a spreadsheet would run.
func TestExportsAreCompleteAndSafe(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	res := s.post(t, "/portal/new-key", admin.session, url.Values{"name": {`=HYPERLINK("https://evil.example")`}, "mode": {"test"}, "purpose": {"@SUM(1+1)"}})
	key := apiKeyText.FindString(res.Body.String())
	var want []string
	for i := range 3 {
		want = append(want, s.asked(t, key, "-cmd-"+strconv.Itoa(i), testNumber, "+2347290000022")...)
	}
	slices.Sort(want)

	sheet := s.get(t, "/portal/export/journal.csv", admin.session)
	if d := sheet.Header().Get("Content-Disposition"); sheet.Code != http.StatusOK || !strings.HasPrefix(d, "attachment; ") || !strings.HasPrefix(sheet.Header().Get("Content-Type"), "text/csv") {
		t.Fatalf("the CSV answered %d as %s", sheet.Code, d)
	}
	rows := must(csv.NewReader(sheet.Body).ReadAll())(t)
	var got []string
	for _, row := range rows[1:] {
		got = append(got, row[1])
		for i, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
				t.Errorf("the cell %s begins as a formula: %q", rows[0][i], cell)
			}
		}
		if row[8] != `'=HYPERLINK("https://evil.example")` || !strings.HasPrefix(row[11], "'-cmd-") {
			t.Errorf("the row is %q", row)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the CSV has %d records %v, want %v", len(got), got, want)
	}

	lines := s.get(t, "/portal/export/journal.ndjson?status=SWAPPED", admin.session)
	n := 0
	for line := range strings.Lines(lines.Body.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil || record["status"] != "SWAPPED" || record["purposeText"] != "@SUM(1+1)" {
			t.Errorf("the line is %s (%v)", line, err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("the NDJSON has %d records, want 3", n)
	}
	if other := s.get(t, "/portal/export/journal.csv", s.as(t, "stranger").session); strings.Count(other.Body.String(), "\n") != 1 {
		t.Errorf("another organisation gets %s", other.Body)
	}
	wantPage(t, s.get(t, "/portal/export/journal.csv?from=never", admin.session), http.StatusBadRequest)
}

// Text that people type is shown as text on every page of an organisation.
func TestOrganisationsTextIsNeverHTML(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	must(s.pool.Exec(t.Context(), `UPDATE account SET name = $1 WHERE id = $2`, "M "+hostile, admin.id))(t)
	must(s.pool.Exec(t.Context(), `UPDATE entity SET name = $1 WHERE id = $2`, "Bank "+hostile, s.bank.ID))(t)
	key := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: hostile, Mode: access.Test, Purpose: hostile}, access.Operator, uuid.Nil))(t)
	record := s.asked(t, key.Text.Reveal(), "", testNumber)[0]
	paper := s.uploaded(t, admin, hostile+".pdf", hostile)
	hook := s.hook(t, s.bank.ID).String()
	file := newFile(t, s).String()
	must(s.pool.Exec(t.Context(), `UPDATE file_job SET name = $1, reason = $1`, hostile))(t)
	must(s.pool.Exec(t.Context(), `UPDATE hook_endpoint SET name = $1 WHERE id = $2`, hostile, hook))(t)
	must(s.pool.Exec(t.Context(), `INSERT INTO hook_attempt (endpoint_id, n, at, kind, message, first_seq, last_seq, events, status, error, took_ms, answer)
		VALUES ($1, 1000, now(), 'events', '1-1', 1, 1, 1, 500, '', 12, $2)`, hook, []byte(hostile)))(t)
	all := url.Values{}
	for _, name := range []string{"url", "form", "algorithm", "name", "mode", "purpose", "expiresInDays", "networks", "overlap", "confirm", "email", "kind", "key", "phoneNumber", "other", "since", "from", "to", "status", "requestId", "after", "correlator", "code", "show", "event"} {
		all.Set(name, hostile)
	}
	id := key.ID.String()
	for _, path := range []string{
		"/portal/keys", "/portal/new-key", "/portal/keys/" + id, "/portal/keys/" + id + "/roll", "/portal/keys/" + id + "/revoke", "/portal/try", "/portal/team",
		"/portal/team/" + admin.id.String() + "/remove", "/portal/profile", "/portal/home", "/portal/requests", "/portal/corrections", "/portal/corrections?show=all", "/portal/overview/keys", "/portal/messages", "/portal/documents", "/portal/documents/" + paper, "/portal/overview", "/portal/journal", "/portal/journal/" + record,
		"/portal/webhooks", "/portal/webhooks/" + hook, "/portal/webhooks/" + hook + "/roll", "/portal/webhooks/" + hook + "/replay", "/portal/webhooks/" + hook + "/delete",
		"/portal/files", "/portal/files/" + file, "/portal/files/" + file + "/cancel",
	} {
		answers := map[string]string{
			"GET": s.get(t, path, admin.session).Body.String(), "GET with a query": s.get(t, path+"?"+all.Encode(), admin.session).Body.String(),
			"POST": s.post(t, path, admin.session, all).Body.String(),
		}
		for how, body := range answers {
			for _, raw := range []string{"<script>alert", "<img src=x"} {
				if strings.Contains(body, raw) {
					t.Errorf("%s %s: the page holds %s", how, path, raw)
				}
			}
		}
		if !strings.Contains(answers["GET"], "&lt;script&gt;") {
			t.Errorf("%s shows none of it", path)
		}
	}
}
