package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// found stores an alert of the guard.
func (s *stack) found(t testing.TB, e registry.Entity, kind, level string, ends *time.Time) {
	t.Helper()
	must(s.pool.Exec(t.Context(), `INSERT INTO guard_alert (id, entity_id, kind, level, since, ends_at, node, numbers, misses, dense, block, budget)
		VALUES ($1, $2, $3, $4, now() - interval '1 hour', $5, 'one', 5000, 30, 4200, 10000, 100000)`, uuid.Must(uuid.NewV7()), e.ID, kind, level, ends))(t)
}

// trail returns the entries with an action, the newest first.
func (s *stack) trail(t testing.TB, action audit.Action) []audit.Record {
	t.Helper()
	return must(audit.List(t.Context(), s.pool, audit.Filter{Action: string(action)}))(t)
}

// Active alerts are on the first page, past ones on the other. A release that a second
// person has confirmed moves an alert there, with its reason and the name of the person.
func TestGuardIsReleasedWithAReason(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, auditor := s.promoted(t, s.as(t, "administrator")), s.as(t, "auditor")
	wantPage(t, s.get(t, "/portal/desk/limits", auditor.session), http.StatusOK, "No organisation is slowed or stopped")
	over := time.Now().Add(-time.Minute)
	s.found(t, s.bank, "density", "stopped", nil)
	s.found(t, s.other, "budget", "stopped", &over)
	at := "/portal/desk/limits/" + s.bank.ID.String()

	page := s.get(t, "/portal/desk/limits", boss.session)
	wantPage(t, page, http.StatusOK, "Harbour Bank", "4,200 of 5,000 different numbers are in dense blocks of 10,000", "Stopped", "Active until it is released", at+"/release")
	if strings.Contains(page.Body.String(), "Lagoon Bank") {
		t.Error("what has ended stands among what holds")
	}
	wantPage(t, s.get(t, "/portal/desk/limits?show=past", boss.session), http.StatusOK, "Lagoon Bank", "All 100,000 different numbers of the day are used up", "Ended ")
	if body := s.get(t, "/portal/desk/limits", auditor.session).Body.String(); strings.Contains(body, "/release") {
		t.Error("an auditor is offered the release")
	}
	wantPage(t, s.post(t, at+"/release", auditor.session, url.Values{"reason": {"x"}, "quiet": {"24"}}), http.StatusNotFound)

	wantPage(t, s.get(t, at+"/release", boss.session), http.StatusOK, "Harbour Bank", `name="reason"`, `name="quiet"`, "4,200 of 5,000 different numbers are in dense blocks of 10,000", "Stopped since", "/suspend")
	wantPage(t, s.post(t, at+"/release", boss.session, url.Values{"quiet": {"24"}}), http.StatusUnprocessableEntity, `id="error-reason"`)
	wantPage(t, s.post(t, at+"/release", boss.session, url.Values{"reason": {"x"}, "quiet": {"9999999"}}), http.StatusUnprocessableEntity, `id="error-quiet"`)
	wantGo(t, s.post(t, at+"/release", boss.session, url.Values{"reason": {"payroll of a ministry"}, "quiet": {"168"}}), at)
	wantPage(t, s.get(t, "/portal/desk/limits", boss.session), http.StatusOK, "Harbour Bank", "Active until it is released")
	second := s.confirmed(t, guard.ReleaseKind, "Release from the guard", "Harbour Bank", "168h")
	wantPage(t, s.get(t, "/portal/desk/limits?show=past", boss.session), http.StatusOK, "payroll of a ministry", "by Zainab Sule", "not slowed or stopped again before")
	if list := s.trail(t, audit.GuardReleased); len(list) != 1 || list[0].Actor.ID != second.id || list[0].After["askedBy"] != boss.id.String() || list[0].Request == uuid.Nil {
		t.Errorf("the trail has %+v", list)
	}
	wantPage(t, s.post(t, at+"/release", boss.session, url.Values{"reason": {"again"}, "quiet": {"24"}}), http.StatusNotFound, "nothing to release")
}

// An alert about all organisations of a client names the client and is released as
// one. The page of each of its organisations shows it, too.
func TestSponsorIsReleasedAsOne(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	var client uuid.UUID
	if err := s.pool.QueryRow(t.Context(), `SELECT client_id FROM entity WHERE id = $1`, s.telco.ID).Scan(&client); err != nil {
		t.Fatal(err)
	}
	must(s.pool.Exec(t.Context(), `INSERT INTO guard_alert (id, sponsor_id, kind, level, since, node, numbers, misses, dense, block, budget)
		VALUES ($1, $2, 'misses', 'stopped', now(), 'one', 5000, 3000, 0, 0, 0)`, uuid.Must(uuid.NewV7()), client))(t)
	at := "/portal/desk/limits/" + client.String() + "/release"
	for _, path := range []string{"/portal/desk/limits", "/portal/desk/limits/" + s.telco.ID.String()} {
		wantPage(t, s.get(t, path, boss.session), http.StatusOK, "All organisations that this client onboarded", "/portal/desk/clients/"+client.String(), at)
	}
	if body := s.get(t, "/portal/desk/limits/"+s.bank.ID.String(), boss.session).Body.String(); strings.Contains(body, at) {
		t.Error("the page of another organisation shows the alert")
	}
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "the organisations of the client MTN")
	wantGo(t, s.post(t, at, boss.session, url.Values{"reason": {"a new brand"}, "quiet": {"24"}}), "/portal/desk/limits")
	s.confirmed(t, guard.ReleaseKind, "The organisations of client MTN")
	wantPage(t, s.get(t, "/portal/desk/limits?show=past", boss.session), http.StatusOK, "a new brand")
	wantPage(t, s.get(t, "/portal/desk/limits/"+uuid.NewString()+"/release", boss.session), http.StatusNotFound)
}

// The page of a release shows the alerts that the release ends, and no others: those of the
// client for all its organisations, and an organisation's own.
func TestReleaseShowsTheAlertsThatItEnds(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.asAdministrator(t)
	var client uuid.UUID
	if err := s.pool.QueryRow(t.Context(), `SELECT client_id FROM entity WHERE id = $1`, s.telco.ID).Scan(&client); err != nil {
		t.Fatal(err)
	}
	s.found(t, s.telco, "density", "stopped", nil)
	must(s.pool.Exec(t.Context(), `INSERT INTO guard_alert (id, sponsor_id, kind, level, since, node, numbers, misses, dense, block, budget)
		VALUES ($1, $2, 'misses', 'stopped', now(), 'one', 7000, 3000, 0, 0, 0)`, uuid.Must(uuid.NewV7()), client))(t)
	own, shared := "4,200 of 5,000 different numbers", "of 7,000"
	page := s.get(t, "/portal/desk/limits/"+client.String()+"/release", boss.session)
	wantPage(t, page, http.StatusOK, shared)
	wantNone(t, page.Body.String(), own)
	page = s.get(t, "/portal/desk/limits/"+s.telco.ID.String()+"/release", boss.session)
	wantPage(t, page, http.StatusOK, own)
	wantNone(t, page.Body.String(), shared)
}

// Many alerts are paged, and the pages have each alert once.
func TestAlertsArePaged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	must(s.pool.Exec(t.Context(), `INSERT INTO guard_alert (id, entity_id, kind, level, since, ends_at, node, numbers, misses, dense, block, budget)
		SELECT gen_random_uuid(), $1, 'budget', 'stopped', now() - interval '1 day' * n, now() - interval '1 hour' * n, 'one', 5000, 30, 4200, 10000, 1000 + n FROM generate_series(1, 120) n`, s.bank.ID))(t)
	seen, path := 0, "/portal/desk/limits?show=past"
	for range 4 {
		body := s.get(t, path, auditor.session).Body.String()
		seen += strings.Count(body, "different numbers of the day are used up")
		next := nextLink.FindStringSubmatch(body)
		if next == nil {
			break
		}
		path = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	if seen != 120 {
		t.Errorf("the pages have %d alerts, want 120", seen)
	}
}

// An administrator sets lower limits alone, and higher ones with a second person; an empty field means the default of the settings, an
// error is shown at its field, and the audit trail has the old and the new values.
func TestLimitsAreSetByAdministrators(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.Access.Limits = access.Limits{EntityRate: 500, EntityBurst: 1000, DayNumbers: 100_000}
	boss, reviewer := s.promoted(t, s.as(t, "administrator")), s.as(t, "reviewer")
	must(s.pool.Exec(t.Context(), `INSERT INTO usage_day (day, entity_id, node, asked, answered, misses, numbers) VALUES ((now() AT TIME ZONE 'UTC')::date, $1, 'one', 95000, 94000, 10, 9000)`, s.bank.ID))(t)
	at := "/portal/desk/limits/" + s.bank.ID.String()
	wantGo(t, s.get(t, "/portal/desk/limits?entity="+s.bank.ID.String(), reviewer.session), at)
	wantGo(t, s.get(t, "/portal/desk/limits?entity=+hArbour+", reviewer.session), at)
	wantGo(t, s.get(t, "/portal/desk/limits?entity=rc7", reviewer.session), at)
	several := s.get(t, "/portal/desk/limits?entity=bank", reviewer.session)
	wantPage(t, several, http.StatusOK, "Several organisations match", `href="`+at+`"`, "/portal/desk/limits/"+s.other.ID.String(), "Lagoon Bank", "RC 8, Approved")
	if strings.Contains(several.Body.String(), "Harmattan Telecom") {
		t.Error("an organisation without the word in its name is offered")
	}
	must(s.Registry.CreateRelyingParty(t.Context(), "Harbour Bank of the North", "RC 77", access.Operator, uuid.Nil))(t)
	wantGo(t, s.get(t, "/portal/desk/limits?entity=Harbour+Bank", reviewer.session), at) // it is called exactly that
	wantPage(t, s.get(t, "/portal/desk/limits?entity=nobody+at+all", reviewer.session), http.StatusUnprocessableEntity, `id="error-entity"`, "No organisation has this in its name.")
	wantPage(t, s.get(t, "/portal/desk/limits?entity="+uuid.NewString(), reviewer.session), http.StatusUnprocessableEntity, `id="error-entity"`)
	page := s.get(t, at, reviewer.session)
	wantPage(t, page, http.StatusOK, "Harbour Bank", "9,000, 90 %", "94,000", "No limit", "The settings, growing to 100,000")
	if strings.Contains(page.Body.String(), `name="dayQuota"`) {
		t.Error("a reviewer is offered the form")
	}
	wantPage(t, s.post(t, at, reviewer.session, url.Values{"rate": {"1"}}), http.StatusNotFound)
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "Leave empty or 0 for the default: 100,000.", "Leave empty or 0 for the default: no limit.")
	wantPage(t, s.post(t, at, boss.session, url.Values{"rate": {"fast"}, "burst": {"99999999999"}, "dayQuota": {"1.5"}}), http.StatusUnprocessableEntity,
		`id="error-rate"`, `id="error-burst"`, `id="error-dayQuota"`, `value="fast"`)
	wantPage(t, s.post(t, at, boss.session, url.Values{"rate": {"-1"}, "monthQuota": {"-5"}}), http.StatusUnprocessableEntity, `id="error-rate"`, `id="error-monthQuota"`)

	wantGo(t, s.post(t, at, boss.session, url.Values{"rate": {"0.5"}, "burst": {""}, "dayQuota": {"100,000"}, "monthQuota": {"0"}}), at)
	if l := must(s.Access.LimitsOf(t.Context(), s.bank.ID))(t); l != (access.Limits{EntityRate: 0.5, DayQuota: 100_000}) {
		t.Errorf("the limits are %+v", l)
	}
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "94,000, 94 %", "staff", `value="100000"`)
	if list := s.trail(t, audit.LimitsSet); len(list) != 1 || list[0].Actor.ID != boss.id || list[0].Before["dayQuota"] != 0.0 {
		t.Errorf("the trail has %+v", list)
	}
	wantPage(t, s.post(t, "/portal/desk/limits/"+uuid.NewString(), boss.session, url.Values{"rate": {"1"}}), http.StatusNotFound)

	higher := url.Values{"rate": {"0.5"}, "dayQuota": {"2,000,000"}}
	wantPage(t, s.post(t, at, boss.session, higher), http.StatusUnprocessableEntity, `id="error-reason"`)
	higher.Set("reason", "Its licence of June")
	wantGo(t, s.post(t, at, boss.session, higher), at)
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, `value="100000"`)
	s.confirmed(t, registry.RaiseLimits, "Raise the limits", "Harbour Bank", "dayQuota 100,000", "dayQuota 2,000,000")
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, `value="2000000"`)
}

// The profile, the usage page and the staff's page of a new organisation show the same
// budget of numbers: the part that it has now.
func TestPagesAgreeOnTheNumbersOfANewOrganisation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.Access.Limits = access.Limits{DayNumbers: 100_000}
	admin, auditor := s.as(t, "admin"), s.as(t, "auditor")
	for path, who := range map[string]visitor{"/portal/overview": admin, "/portal/profile": admin, "/portal/desk/entities/" + s.bank.ID.String(): auditor} {
		page := s.get(t, path, who.session)
		wantPage(t, page, http.StatusOK, "10,000")
		// Files may have ten times as many.
		files := strings.Count(page.Body.String(), "Numbers of files today: 0 of 100,000, 100,000 left")
		if want := path == "/portal/overview"; want != (files > 0) {
			t.Errorf("%s tells %d times what files may have", path, files)
		}
		wantNone(t, strings.ReplaceAll(page.Body.String(), "Numbers of files today: 0 of 100,000, 100,000 left", ""), "100,000")
	}
}
