package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

const (
	numbersPath = "/portal/desk/numbers"
	lifeNumber  = "+2348035550001" // of MTN's range
	lifeReason  = "Complaint 12 of 2026"
	maskedPhone = "…01"
)

// told reports events of lifeNumber for MTN, as of some days ago.
func (s *stack) told(t testing.TB, items ...supply.Item) {
	t.Helper()
	id := uuid.New()
	mtn := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: "MTN", Client: id, Actor: audit.Actor{Kind: audit.Client, ID: id}}
	for _, r := range must(s.Lines.ApplyEvents(t.Context(), mtn, items))(t).Results {
		if r.Outcome != supply.Applied {
			t.Fatalf("%+v", r)
		}
	}
}

func daysAgo(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.RFC3339) }

// refuseAudit makes the database refuse entries of an action.
func (s *stack) refuseAudit(t testing.TB, action string) {
	t.Helper()
	owner := pgtest.Open(t, s.pool.Config().ConnString(), "")
	must(owner.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`))(t)
	must(owner.Exec(t.Context(), `CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW WHEN (NEW.action = '`+action+`') EXECUTE FUNCTION refuse()`))(t)
}

// Staff see the events of a number, who reported them and when, the newest first,
// with withdrawn ones marked; and what was known at a time.
func TestNumberHistory(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	s.told(t, supply.Item{ID: "a", PhoneNumber: lifeNumber, Type: "ASSIGNED", EffectiveAt: daysAgo(29)})
	s.told(t, supply.Item{ID: "b", PhoneNumber: lifeNumber, Type: "SIM_CHANGED", EffectiveAt: daysAgo(20)})
	s.told(t, supply.Item{ID: "c", PhoneNumber: lifeNumber, Type: "VOIDED", Voids: "b", Note: "another line", EffectiveAt: daysAgo(0)})
	wantPage(t, s.get(t, numbersPath, auditor.session), http.StatusOK, `action="/portal/desk/numbers"`, "Phone number", "Reason")
	res := s.post(t, numbersPath, auditor.session, url.Values{"phoneNumber": {"0803 555 0001"}, "reason": {lifeReason}})
	wantPage(t, res, http.StatusOK, "<svg", "Show data table", "Show what was true against what was known", "Holder 1", `class="mark"`, "× withdrawn")
	wantPage(t, res, http.StatusOK, lifeNumber, "#answer-", "MTN", "Tenure 1 started with MTN", "Assigned to a holder", "SIM changed (withdrawn)", "Withdrawn", "another line", "<dt>Reported</dt>",
		"Lookups", lifeReason)
	body := res.Body.String()
	if i, j := strings.LastIndex(body, "SIM changed (withdrawn)"), strings.LastIndex(body, "Assigned to a holder"); i > j {
		t.Error("the oldest comes first")
	}
	before := time.Now().UTC().AddDate(0, 0, -1).Format("2006-01-02T15:04")
	res = s.post(t, numbersPath, auditor.session, url.Values{"phoneNumber": {lifeNumber}, "reason": {lifeReason}, "knownAt": {before}})
	wantPage(t, res, http.StatusOK, "No events", "What was known at")
}

// No number is looked up without an entry in the audit trail. It has the person, the
// reason and the masked number, and the look-ups of a number can be found by it. If
// it cannot be written, nothing is shown.
func TestEveryLookupIsAudited(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor, member := s.as(t, "auditor"), s.as(t, "member")
	form := url.Values{"phoneNumber": {lifeNumber}, "reason": {lifeReason}}
	for name, wrong := range map[string]url.Values{
		"phoneNumber": {"phoneNumber": {"nonsense"}, "reason": {lifeReason}},
		"reason":      {"phoneNumber": {lifeNumber}, "reason": {"because"}},
		"asOf":        {"phoneNumber": {lifeNumber}, "reason": {lifeReason}, "asOf": {"2999-01-01T00:00"}},
		"knownAt":     {"phoneNumber": {lifeNumber}, "reason": {lifeReason}, "knownAt": {"yesterday"}},
	} {
		wantPage(t, s.post(t, numbersPath, auditor.session, wrong), http.StatusUnprocessableEntity, `id="error-`+name+`"`)
	}
	wantPage(t, s.post(t, numbersPath, auditor.session, url.Values{"phoneNumber": {"+12025550123"}, "reason": {lifeReason}}), http.StatusUnprocessableEntity, "not a mobile number")
	wantPage(t, s.post(t, numbersPath, member.session, form), http.StatusNotFound)
	if n := s.rows(t, "history.read"); n != 0 {
		t.Fatalf("%d look-ups are in the trail before anything was shown", n)
	}
	for range 2 {
		wantPage(t, s.post(t, numbersPath, auditor.session, form), http.StatusOK, lifeNumber)
	}
	wantPage(t, s.post(t, numbersPath, auditor.session, url.Values{"phoneNumber": {"+2348035550002"}, "reason": {lifeReason}}), http.StatusOK)
	all := must(audit.List(t.Context(), s.pool, audit.Filter{Action: "history.read"}))(t)
	looks := must(s.Lines.StaffLookups(t.Context(), must(s.Region.ParseMobile(lifeNumber))(t), 10))(t)
	if len(all) != 3 || len(looks) != 2 || looks[0].Subject != looks[1].Subject {
		t.Fatalf("%d entries, %d of the number", len(all), len(looks))
	}
	for _, e := range looks {
		if e.Actor.ID != auditor.id || e.After["reason"] != lifeReason || e.After["phoneNumber"] != maskedPhone || e.Request == uuid.Nil {
			t.Errorf("the trail has %+v", e)
		}
	}
	s.refuseAudit(t, "history.read")
	res := s.post(t, numbersPath, auditor.session, form)
	wantPage(t, res, http.StatusInternalServerError)
	if strings.Contains(res.Body.String(), "answer-") || strings.Contains(res.Body.String(), lifeNumber) {
		t.Error("a look-up that is not in the trail was shown")
	}
}
