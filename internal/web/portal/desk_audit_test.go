package portal_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

var nextLink = regexp.MustCompile(`href="([^"]+)" rel="next"`)

func (s *stack) written(t testing.TB, entries ...audit.Entry) {
	t.Helper()
	owner := pgtest.Open(t, s.pool.Config().ConnString(), pg.Owner) // the service cannot write entries of the past
	for _, e := range entries {
		if e.At.IsZero() {
			e.At = time.Now()
		}
		if err := pg.InTx(t.Context(), owner, func(tx pg.Tx) error { return audit.Write(t.Context(), tx, e) }); err != nil {
			t.Fatal(err)
		}
	}
}

// An entry shows the actor's name and the action's name, links to its subject, and
// shows the old values beside the new ones.
func TestTrailShowsNamesAndChanges(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	request, paper := uuid.New(), uuid.New()
	var client uuid.UUID
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM client LIMIT 1`).Scan(&client); err != nil {
		t.Fatal(err)
	}
	s.written(t,
		audit.Entry{
			Actor: audit.Actor{Kind: audit.Account, ID: auditor.id, From: addr}, Action: audit.EntitySuspended, Subject: s.bank.ID, Entity: s.bank.ID, Request: request,
			Before: map[string]any{"status": "Approved"}, After: map[string]any{"status": "Suspended", "reason": hostile},
		},
		audit.Entry{Actor: audit.Actor{Kind: audit.Client, ID: client}, Action: audit.DocumentUploaded, Subject: paper, Entity: s.bank.ID},
		audit.Entry{Actor: audit.Actor{Kind: audit.System}, Action: "later.version", Subject: uuid.New()},
	)
	page := s.get(t, "/portal/desk/audit", auditor.session)
	wantPage(t, page, http.StatusOK,
		"Zainab Sule", "Organisation suspended", "entity.suspended", `href="/portal/desk/entities/`+s.bank.ID.String()+`"`, "Approved</span>", "Suspended</span>", "&lt;script&gt;",
		">MTN (client)<", `href="/portal/desk/documents/`+paper.String()+`"`, "The service", "later.version", "Service operator", addr.String(), "/portal/desk/audit?request="+request.String())
	if strings.Contains(page.Body.String(), "<script>alert") {
		t.Error("a reason runs")
	}
}

// Each filter shows only matching entries; an invalid one is reported at its field.
func TestTrailIsFiltered(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	request, subject, entity := uuid.New(), uuid.New(), uuid.New()
	s.written(t, audit.Entry{
		At: time.Date(2025, 3, 4, 23, 30, 0, 0, time.UTC), Actor: audit.Actor{Kind: audit.System}, Action: audit.JournalArchived, Subject: subject, Entity: entity, Request: request,
	})
	for _, q := range []string{
		"by=system", "action=journal.", "action=journal.archived", "from=2025-03-04&to=2025-03-04", "entity=" + entity.String(), "subject=" + subject.String(), "request=" + request.String(),
		"by=system&action=journal.&to=2025-12-31&request=" + request.String(),
	} {
		body := s.get(t, "/portal/desk/audit?"+q, auditor.session).Body.String()
		if n := strings.Count(body, `<td`); n != 5 || !strings.Contains(body, "Day of the journal archived</span>") {
			t.Errorf("%s: %d cells, want those of the one entry", q, n)
		}
	}
	for _, q := range []string{"to=2025-03-03", "from=2025-03-05&to=2025-03-06", "by=client&subject=" + subject.String(), "subject=" + uuid.NewString()} {
		wantPage(t, s.get(t, "/portal/desk/audit?"+q, auditor.session), http.StatusOK, "No entries")
	}
	if body := s.get(t, "/portal/desk/audit?actor="+auditor.id.String(), auditor.session).Body.String(); strings.Contains(body, "<td") && !strings.Contains(body, "Zainab Sule") {
		t.Error("the trail of one actor has another's")
	}
	for field, value := range map[string]string{"by": "ghost", "from": "yesterday", "to": "1.2.2026", "entity": "bank", "actor": "me", "subject": "it", "request": "x", "action": strings.Repeat("x", 65)} {
		wantPage(t, s.get(t, "/portal/desk/audit?"+url.Values{field: {value}}.Encode(), auditor.session), http.StatusUnprocessableEntity, `id="error-`+field+`"`)
		if res := s.get(t, "/portal/export/audit.csv?"+url.Values{field: {value}}.Encode(), auditor.session); res.Code != http.StatusBadRequest {
			t.Errorf("an export with a wrong %s answered %d", field, res.Code)
		}
	}
	wantPage(t, s.get(t, "/portal/desk/audit?after="+uuid.NewString(), auditor.session), http.StatusOK, "Organisation created")
}

// The pages have every matching entry once, and the export has them all, with
// nothing that a spreadsheet would run.
func TestTrailIsPagedAndExported(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	must(pgtest.Open(t, s.pool.Config().ConnString(), pg.Owner).Exec(t.Context(), `INSERT INTO audit (id, at, actor_kind, action, subject_id, after) SELECT gen_random_uuid(), now() - interval '1 minute' * (n / 3), 'operator', 'policy.set',
		gen_random_uuid(), '{"reason": "r"}' FROM generate_series(1, 1120) n`))(t)
	must(s.pool.Exec(t.Context(), `UPDATE client SET name = '=cmd|calc'`))(t)
	var client uuid.UUID
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM client LIMIT 1`).Scan(&client); err != nil {
		t.Fatal(err)
	}
	s.written(t, audit.Entry{Actor: audit.Actor{Kind: audit.Client, ID: client}, Action: audit.PolicySet, Subject: uuid.New()})
	seen, path, most := map[string]bool{}, "/portal/desk/audit?action=policy.set", 0
	subject := regexp.MustCompile(`audit\?subject=([0-9a-f-]{36})"`)
	for range 40 {
		body := s.get(t, path, auditor.session).Body.String()
		rows := subject.FindAllStringSubmatch(body, -1)
		most = max(most, len(rows))
		for _, m := range rows {
			seen[m[1]] = true
		}
		next := nextLink.FindStringSubmatch(body)
		if next == nil {
			break
		}
		if path = strings.ReplaceAll(next[1], "&amp;", "&"); !strings.Contains(path, "action=policy.set") {
			t.Fatalf("the next page is %s, without the filter", path)
		}
	}
	if len(seen) != 1121 || most != 50 {
		t.Errorf("the pages have %d entries, at most %d at a time; want 1121 by 50", len(seen), most)
	}
	res := s.get(t, "/portal/export/audit.csv?action=policy.set&after="+uuid.NewString(), auditor.session)
	rows, err := csv.NewReader(res.Body).ReadAll()
	if err != nil || len(rows) != 1122 || rows[1][4] != "'=cmd|calc (client)" || rows[2][11] != `{"reason":"r"}` {
		t.Errorf("the export has %d rows, %v: %v", len(rows), err, rows[:min(3, len(rows))])
	}
	if kind := res.Header().Get("Content-Type"); kind != "text/csv; charset=utf-8" || !strings.Contains(res.Header().Get("Content-Disposition"), "attachment") {
		t.Errorf("the export is sent as %s", kind)
	}
	wantPage(t, s.get(t, "/portal/export/audit.csv", s.as(t, "admin").session), http.StatusNotFound)
}

// Every action that is written has a name.
func TestEveryActionHasAName(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	body := s.get(t, "/portal/desk/audit", s.as(t, "auditor").session).Body.String()
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Action = "([a-z_.]+)"`).FindAllStringSubmatch(string(must(os.ReadFile("../../regulator/audit/action.go"))(t)), -1) {
		if !strings.Contains(body, `<option value="`+m[1]+`"`) {
			t.Errorf("%s cannot be chosen", m[1])
		}
	}
}

// Staff find entries by the name of an organisation or a person: one that fits is taken, of
// several the page asks which is meant, and none is said. No name is in an address.
func TestTrailIsFilteredByNames(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	s.as(t, "reviewer")
	const at = "/portal/desk/audit"
	bank := s.bank.ID.String()
	wantGo(t, s.post(t, at, auditor.session, url.Values{"organisation": {"harbour"}, "action": {"key."}, "entity": {""}}), at+"?action=key.&entity="+bank)
	picked := s.get(t, at+"?action=key.&entity="+bank, auditor.session)
	wantPage(t, picked, http.StatusOK, ">Harbour Bank</strong>", `name="entity" value="`+bank+`"`, at+"?action=key.")
	wantGo(t, s.post(t, at, auditor.session, url.Values{"entity": {bank}, "from": {"2026-01-01"}}), at+"?entity="+bank+"&from=2026-01-01")

	several := s.post(t, at, auditor.session, url.Values{"person": {"Zainab"}, "organisation": {"a"}, "by": {"account"}})
	wantPage(t, several, http.StatusOK, "Several names fit", `<select id="field-actor"`, `<select id="field-entity"`, "Zainab Sule, auditor", bank)
	for name, form := range map[string]url.Values{"organisation": {"organisation": {"nobody"}}, "person": {"person": {"<b>nobody"}}} {
		wantPage(t, s.post(t, at, auditor.session, form), http.StatusUnprocessableEntity, `id="error-`+name+`"`)
	}
	wantGo(t, s.post(t, at, auditor.session, url.Values{}), at+"?")
	wantPage(t, s.post(t, at, s.as(t, "member").session, url.Values{"organisation": {"harbour"}}), http.StatusNotFound)
	unknown := uuid.NewString()
	wantPage(t, s.get(t, at+"?entity="+unknown+"&actor="+unknown, auditor.session), http.StatusOK, unknown, "No entries found")
}

// While the page asks which person is meant, the organisation that was chosen before stays
// chosen, and the other way round.
func TestTrailKeepsTheFilterThatWasChosenBefore(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	s.as(t, "reviewer")
	const at = "/portal/desk/audit"
	bank, person := s.bank.ID.String(), auditor.id.String()
	page := s.post(t, at, auditor.session, url.Values{"person": {"Zainab"}, "entity": {bank}, "by": {"account"}})
	wantPage(t, page, http.StatusOK, `<select id="field-actor"`, ">Harbour Bank</strong>", `name="entity" value="`+bank+`"`, `href="`+at+`?by=account"`)
	page = s.post(t, at, auditor.session, url.Values{"organisation": {"a"}, "actor": {person}})
	wantPage(t, page, http.StatusOK, `<select id="field-entity"`, `name="actor" value="`+person+`"`)
	page = s.post(t, at, auditor.session, url.Values{"person": {"<b>nobody"}, "entity": {bank}})
	wantPage(t, page, http.StatusUnprocessableEntity, `id="error-person"`, `name="entity" value="`+bank+`"`)
}

// An entry calls its subject what it is, and links only to pages that exist: the release of
// a client's organisations to the client.
func TestTrailCallsSubjectsWhatTheyAre(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	for _, c := range []struct {
		action audit.Action
		label  string
	}{
		{audit.WebhookCreated, "Webhook endpoint"},
		{audit.JobCreated, "File job"},
		{audit.ListReleased, "Watch-list"},
		{audit.MandateAdded, "Mandate"},
		{audit.NumberSealed, "Seal"},
		{audit.HoldPlaced, "Legal hold"},
		{audit.ErasureConfirmed, "Erasure"},
		{audit.MassChangeAnnounced, "Announcement"},
		{audit.PasswordChanged, "Account"},
		{audit.FactorSet, "Account"},
		{audit.OrderGiven, "Order"},
		{"later.version", "Subject"},
	} {
		action, label, subject := c.action, c.label, uuid.New()
		s.written(t, audit.Entry{Actor: audit.Actor{Kind: audit.System}, Action: action, Subject: subject})
		body := s.get(t, "/portal/desk/audit?subject="+subject.String(), auditor.session).Body.String()
		if !strings.Contains(body, ">"+label+"<") || label != "Account" && strings.Contains(body, ">Account<") {
			t.Errorf("%s does not call its subject %s", action, label)
		}
	}
	client := must(s.Access.Clients(t.Context()))(t)[0].ID
	s.written(t, audit.Entry{Actor: audit.Actor{Kind: audit.System}, Action: audit.GuardReleased, Subject: client})
	s.written(t, audit.Entry{Actor: audit.Actor{Kind: audit.System}, Action: audit.GuardReleased, Subject: s.bank.ID, Entity: s.bank.ID})
	page := s.get(t, "/portal/desk/audit?action=guard.released", auditor.session)
	wantPage(t, page, http.StatusOK, `href="/portal/desk/clients/`+client.String()+`"`, ">MTN<", `href="/portal/desk/entities/`+s.bank.ID.String()+`"`)
	wantNone(t, page.Body.String(), "/portal/desk/entities/"+client.String())
}
