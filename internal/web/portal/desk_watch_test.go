package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// heldList stores a list of an organisation that waits for staff.
func (s *stack) heldList(t testing.TB, e registry.Entity, name string) uuid.UUID {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	must(s.pool.Exec(t.Context(), `INSERT INTO watch_list (id, entity_id, mode, name, state, members, sampled, missing, uncovered, created_at, changed_at)
		VALUES ($1, $2, 'live', $3, 'held', 120000, 1200, 640, 12, now(), now())`, id, e.ID, name))(t)
	return id
}

// Staff see the counts of held lists, and which share is what holds them. An administrator
// requests a release, which another confirms, or rejects a list at once; both give a reason.
func TestHeldListsAreDecided(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, auditor := s.promoted(t, s.as(t, "administrator")), s.as(t, "auditor")
	const at = "/portal/desk/watch"
	wantPage(t, s.get(t, at, auditor.session), http.StatusOK, "No list is on hold")
	first, second := s.heldList(t, s.bank, "customers"), s.heldList(t, s.other, "leads")
	page := s.get(t, at, boss.session)
	wantPage(t, page, http.StatusOK, "Harbour Bank", "customers", "120,000", "53.3%", "640 of 1,200 sampled", "1.0%", at+"/"+first.String()+"/release", at+"/"+second.String()+"/reject")
	if body := s.get(t, at, auditor.session).Body.String(); strings.Contains(body, "/reject") || strings.Contains(body, "/release") {
		t.Error("an auditor is offered the decision")
	}
	release, reject := at+"/"+first.String()+"/release", at+"/"+second.String()+"/reject"
	for _, path := range []string{release, reject} {
		wantPage(t, s.post(t, path, auditor.session, url.Values{"reason": {"x"}}), http.StatusNotFound)
		wantPage(t, s.get(t, path, boss.session), http.StatusOK, "120,000", `name="reason"`)
		wantPage(t, s.post(t, path, boss.session, nil), http.StatusUnprocessableEntity, `id="error-reason"`)
	}
	wantPage(t, s.get(t, at+"/"+uuid.NewString()+"/release", boss.session), http.StatusNotFound)

	wantGo(t, s.post(t, release, boss.session, url.Values{"reason": {"old customers, checked with the bank"}}), at)
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "customers")
	s.confirmed(t, watchlist.ReleaseKind, "Let a watch-list take effect", "120000")
	wantGo(t, s.post(t, reject, boss.session, url.Values{"reason": {"numbers at random"}}), at)
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "No list is on hold")
	if list := s.trail(t, audit.ListRejected); len(list) != 1 || list[0].Actor.ID != boss.id || list[0].After["reason"] != "numbers at random" || list[0].Entity != s.other.ID {
		t.Errorf("the trail has %+v", list)
	}
	var left, told int
	err := s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM watch_list WHERE id = $1), (SELECT count(*) FROM feed_entry WHERE entity_id = $2 AND type = 'list.v1.rejected')`, second, s.other.ID).Scan(&left, &told)
	if err != nil || left != 0 || told != 1 {
		t.Errorf("%d rejected lists are left, %d organisations were told, %v", left, told, err)
	}
	wantPage(t, s.post(t, reject, boss.session, url.Values{"reason": {"again"}}), http.StatusNotFound)
}

// Staff see first how many answers were told in all and how many of the notices are not
// acknowledged, then by whom, and by correction. A later acknowledgement counts for the
// earlier notice.
func TestNoticesAreCounted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	const at = "/portal/desk/notices"
	today := time.Now().UTC().Add(-time.Hour)
	wantPage(t, s.get(t, at, auditor.session), http.StatusOK, "No notices")
	must(s.pool.Exec(t.Context(), `WITH answers AS (SELECT gen_random_uuid() AS id, i FROM generate_series(1, 1234) AS i)
		INSERT INTO impact_notice (request_id, events, entity_id, event_id, told_at, acknowledged_at)
		SELECT id, 1, CASE WHEN i <= 1000 THEN $1::uuid ELSE $2::uuid END, '1-' || i, now() - interval '1 hour', CASE WHEN i <= 30 THEN now() END FROM answers
		UNION ALL SELECT id, 2, $1, '2-' || i, now() - interval '30 minutes', now() FROM answers WHERE i BETWEEN 31 AND 47`, s.bank.ID, s.other.ID))(t)
	page := s.get(t, at, auditor.session)
	wantPage(t, page, http.StatusOK, ">1,234<", ">3.8%<", ">1,187<", "Harbour Bank", ">1,000<", ">953<", "Lagoon Bank", ">234<", ">47<", ">17<", `datetime="`+today.Format(time.DateOnly)+`">`+today.Format("2 Jan 2006")+"<")
	if body := page.Body.String(); strings.Index(body, ">1,187<") > strings.Index(body, "Harbour Bank") || strings.Index(body, "Harbour Bank") > strings.Index(body, "Lagoon Bank") {
		t.Error("what is not acknowledged, and who has the most of it, does not come first")
	}
	wantPage(t, s.get(t, at, s.as(t, "admin").session), http.StatusNotFound)
}

// heldFile creates a file of the bank that waits for staff.
func (s *stack) heldFile(t *testing.T) uuid.UUID {
	t.Helper()
	id := newFile(t, s)
	must(s.pool.Exec(t.Context(), `UPDATE file_job SET mode = 'live', state = 'held', received_at = now(), rows = 40000, numbers = 40000, dense = 39000, block = 10000 WHERE id = $1`, id))(t)
	return id
}

// Staff see the figures of held files, and never their numbers. An administrator requests a
// release, which another confirms, or rejects a file at once; both give a reason.
func TestHeldFilesAreDecided(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss, auditor := s.promoted(t, s.as(t, "administrator")), s.as(t, "auditor")
	admin := s.as(t, "admin")
	const at = "/portal/desk/watch"
	wantPage(t, s.get(t, at, auditor.session), http.StatusOK, "No file is on hold")
	first, second := s.heldFile(t), s.heldFile(t)
	release, reject := at+"/files/"+first.String()+"/release", at+"/files/"+second.String()+"/reject"
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "Harbour Bank", "payroll", "39,000 in dense blocks of 10,000", release, reject)
	wantPage(t, s.get(t, "/portal/files/"+first.String(), admin.session), http.StatusOK, "The regulator holds this file")
	for _, path := range []string{release, reject} {
		wantPage(t, s.post(t, path, auditor.session, url.Values{"reason": {"x"}}), http.StatusNotFound)
		wantPage(t, s.get(t, path, boss.session), http.StatusOK, "40,000", `name="reason"`)
		wantPage(t, s.post(t, path, boss.session, nil), http.StatusUnprocessableEntity, `id="error-reason"`)
	}
	wantGo(t, s.post(t, release, boss.session, url.Values{"reason": {"old customers, checked with the bank"}}), at)
	s.confirmed(t, filejob.ReleaseKind, "Answer a file of numbers", "40000")
	wantGo(t, s.post(t, reject, boss.session, url.Values{"reason": {"a scan"}}), at)
	wantPage(t, s.get(t, at, boss.session), http.StatusOK, "No file is on hold")
	var released, rejected string
	err := s.pool.QueryRow(t.Context(), `SELECT (SELECT state FROM file_job WHERE id = $1), (SELECT state FROM file_job WHERE id = $2)`, first, second).Scan(&released, &rejected)
	if err != nil || released != "running" || rejected != "failed" {
		t.Errorf("the files are %s and %s, %v", released, rejected, err)
	}
	if list := s.trail(t, audit.JobRejected); len(list) != 1 || list[0].Actor.ID != boss.id || list[0].After["reason"] != "a scan" {
		t.Errorf("the trail has %+v", list)
	}
}
