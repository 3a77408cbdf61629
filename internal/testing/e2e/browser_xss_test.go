package e2e_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
)

// hostile are texts that want to be more than text: elements, attributes of
// events, attributes of htmx, addresses that run, ends of the elements that they
// may stand in, templates, escapes that somebody might undo, and look-alikes.
var hostile = []string{
	`<script>__hit=1</script>`,
	`"><img src=x onerror=__hit=1 data-canary>`,
	`'><svg/onload=__hit=1 data-canary>`,
	`javascript:__hit=1//`,
	`<a href="javascript:__hit=1" data-canary>x</a>`,
	`" autofocus onfocus=__hit=1 x="`,
	`<div hx-on::load="__hit=1" hx-get="/portal/" hx-trigger="load" data-canary>`,
	`" hx-on:htmx:load="__hit=1" hx-trigger="load`,
	`</textarea></select><script>__hit=1</script>`,
	`</title><script src=//elsewhere.example/__hit.js></script>`,
	"{{constructor.constructor('__hit=1')()}} ${__hit=1} #{__hit=1} <%= __hit=1 %>",
	`&lt;img src=x onerror=__hit=1 data-canary&gt;`,
	`\u003cimg src=x onerror=__hit=1 data-canary\u003e \x3cscript\x3e`,
	"\uff1cscript\uff1e__hit=1\uff1c/script\uff1e\u202e\u200d\u2028",
	`<base href=//elsewhere.example/><style>@import '//elsewhere.example/__hit'</style>`,
	`<iframe srcdoc="<script>parent.__hit=1</script>" data-canary>`,
	`--><!--><img src=x onerror=__hit=1 data-canary>`,
	`data:text/html,<script>__hit=1</script>`,
	`<math><mtext><table><mglyph><style><img src onerror=__hit=1 data-canary>`,
	`%3Cscript%3E__hit=1%3C/script%3E`,
	`'-(__hit=1)-'`, "`-(__hit=1)-`",
}

// Text that somebody has typed, wherever it came in, is text on every page for
// everybody who sees it: no script of it runs, no element and no attribute is
// made of it, and no request goes where it points. Somebody reaches every page that the
// server has.
func TestBrowserXSS(t *testing.T) {
	g := newGallery(t, 3300, 300, names["yoruba"])
	held := g.hold(t, "AMBER", "+234802") // the telco withdraws its own before staff come
	p, base := g.startPublic(t)
	roles := append(g.roles(t, g.bank.ID, g.telco.ID), g.guest(t, "newcomer", "admin", "", g.empty, false))
	storm := g.roles(t, g.bank.ID, g.telco.ID)[:7] // all but those who can do next to nothing
	g.prepare(t, roles)
	g.prepare(t, storm)
	also := map[string]string{"admin": "/portal/journal/" + g.poison(t).String(), "administrator": "/portal/desk/supply/imports/" + held.String()}
	for _, some := range [][]role{roles, storm} {
		for i := range some {
			if address := also[some[i].Name]; address != "" {
				some[i].Also = append(some[i].Also, address)
			}
		}
	}
	spare := []string{g.bank.ID.String(), g.telco.ID.String(), g.empty.String()}
	for _, r := range roles {
		if r.account != uuid.Nil {
			spare = append(spare, r.account.String())
		}
	}
	for _, r := range storm {
		spare = append(spare, r.account.String())
	}
	most := size(t, "LINEPROOF_E2E_PAGES", 8)
	results := browse(t, "xss.mjs", map[string]any{
		"base": base, "roles": roles, "storm": storm, "payloads": hostile, "spare": spare, "looks": looks[:1], "most": most,
	})
	for _, s := range results {
		if s.Note != "" {
			t.Logf("%s %s", s.Role, s.Note)
		}
	}
	wantEveryPage(t, p, most, results)
}

// poison puts hostile text where people and programs can put text, past the
// checks of what takes it in. It returns the id of an answer that has it everywhere; the
// newest answer is an honest one, whose receipt can be verified.
func (g *browserData) poison(t *testing.T) (answer uuid.UUID) {
	t.Helper()
	for _, at := range []struct{ table, column, cut, where string }{
		{"entity", "name", "200", ""},
		{"entity", "status_reason", "500", "status <> 'Approved'"},
		{"account", "name", "200", ""},
		{"session", "agent", "200", ""},
		{"api_key", "name", "100", ""},
		{"api_key", "purpose", "100", ""},
		{"document", "label", "200", ""},
		{"document", "file_name", "200", ""},
		{"document", "note", "500", ""},
		{"client", "name", "200", ""},
		{"approval", "reason", "500", ""},
		{"line_order", "reason", "200", ""},
		{"mandate", "principal", "100", ""},
		{"mandate", "document", "200", ""},
		{"network", "name", "64", ""},
		{"numbering_plan", "source", "2000", ""},
		{"numbering_draft", "source", "2000", ""},
		{"policy", "note", "500", ""},
		{"message", "about", "300", ""},
		{"message", "detail", "500", ""},
		{"file_job", "name", "100", ""},
		{"file_job", "reason", "500", "state = 'failed'"},
		{"watch_list", "name", "100", ""},
		{"hook_endpoint", "name", "100", ""},
		{"hook_attempt", "error", "500", ""},
	} {
		sql := `UPDATE ` + at.table + ` AS t SET ` + at.column + ` = left(p.text, ` + at.cut + `)
			FROM (SELECT ctid AS at, ($1::text[])[1 + row_number() OVER () % cardinality($1::text[])] AS text FROM ` + at.table + `) p WHERE t.ctid = p.at`
		if at.where != "" {
			sql += ` AND ` + at.where
		}
		g.exec(t, sql, hostile)
	}
	g.exec(t, `UPDATE refused_request SET correlator = $1`, hostile[1])
	g.exec(t, `INSERT INTO audit (id, at, actor_kind, action, subject_id, entity_id, before, after)
		SELECT gen_random_uuid(), now(), 'operator', 'key.created', k.id, k.entity_id, jsonb_build_object('name', k.name), jsonb_build_object('name', k.name, 'reason', k.purpose) FROM api_key k WHERE k.entity_id = $1`, g.bank.ID)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i, text := range hostile {
		at := now.Add(-time.Hour - time.Duration(i)*time.Second)
		e := record.Entry{
			RequestID: record.NewRequestID(at), At: at, Entity: g.bank.ID, Key: g.key.ID, Type: "number", Mode: "live", Purpose: "other", PurposeText: text,
			Status: "NORMAL", MobileNetwork: text, LineVersion: 1, PolicyVersion: 1, PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
			Personal: record.Personal{Number: firstLine, PhoneNumber: text, Correlator: text, ExternalID: text, OnBehalfOf: text},
		}
		g.exec(t, journaltest.Insert(), journaltest.Row(&e, 1, int64(1_000_000+i), 0)...)
		answer = e.RequestID
	}
	return answer
}
