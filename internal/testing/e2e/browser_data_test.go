package e2e_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
)

// Names as people have them: long, in words that do not break, with marks, from
// right to left, and without spaces.
var names = map[string]string{
	"long":    strings.Repeat("Amalgamated Cooperative Trust ", 6) + "and Savings Bank Plc",
	"solid":   strings.Repeat("Donaudampfschifffahrtsgesellschaft", 5) + "skapitaensbank",
	"yoruba":  "Il\u00e9 \u00ccf\u00f3w\u00f3p\u00e0m\u1ecd\u0301 \u1ecc\u0300y\u1ecd\u0301 \u00e0ti \u00c8k\u00f3 \u1eb8gb\u1eb9\u0301 Al\u00e1\u1e63ep\u1ecd\u0300",
	"arabic":  "\u0645\u0635\u0631\u0641 \u0627\u0644\u0647\u0644\u0627\u0644 \u0644\u0644\u062a\u0646\u0645\u064a\u0629 \u0648\u0627\u0644\u0627\u0633\u062a\u062b\u0645\u0627\u0631",
	"chinese": "\u4e2d\u975e\u4fe1\u8d37\u94f6\u884c\u80a1\u4efd\u6709\u9650\u516c\u53f8\u62c9\u5404\u65af\u5206\u884c",
}

// browserData is a town that shows every page with something in it.
type browserData struct {
	*portalData

	empty  uuid.UUID // an organisation that has done nothing yet
	one    uuid.UUID // one that has one of everything
	paused uuid.UUID // a client that is suspended
}

// newGallery makes a town of that many keys and records, and gives its first bank
// a name.
func newGallery(t *testing.T, keys, entries int, name string) *browserData {
	t.Helper()
	w := newFixture(t, browserDatabase(t))
	g := &browserData{portalData: plantTown(t, w, 55, keys, entries, 0)}
	for _, e := range []struct {
		id        *uuid.UUID
		name, cac string
	}{{&g.empty, names["arabic"], "RC 900001"}, {&g.one, names["chinese"], "RC 900002"}} {
		*e.id = must(w.registry.CreateRelyingParty(t.Context(), e.name, e.cac, access.Operator, uuid.Nil))(t).ID
	}
	w.exec(t, `UPDATE entity SET name = $2 WHERE id = $1`, w.bank.ID, name)
	for i, text := range []string{names["long"], names["solid"], names["yoruba"], names["arabic"], names["chinese"]} {
		w.exec(t, `UPDATE entity SET name = $1 WHERE name = 'Planted Bank ' || $2::int`, text, i+1)
		w.exec(t, `UPDATE api_key SET name = left($1, 100), purpose = left($1, 100) WHERE id = (SELECT id FROM api_key WHERE entity_id = $2 ORDER BY created_at DESC OFFSET $3 LIMIT 1)`, text, w.bank.ID, 2*i)
	}
	// Where there are many keys, almost all of them belong to one bank.
	w.exec(t, `UPDATE api_key SET entity_id = $1 WHERE entity_id <> $1 AND created_at < now() - interval '2 days'`, w.bank.ID)
	w.exec(t, `UPDATE api_key SET revoked_at = now() WHERE entity_id = $1 AND name LIKE '%3'`, w.bank.ID)
	w.exec(t, `UPDATE api_key SET expires_at = now() + interval '5 days', networks = '{192.0.2.0/24,2001:db8::/32}', last_used_at = now(), last_used_from = '192.0.2.7' WHERE entity_id = $1 AND name LIKE '%5'`, w.bank.ID)
	must(w.keeper.CreateKey(t.Context(), access.KeyForm{Entity: g.one, Name: names["yoruba"], Mode: "test", Purpose: "kyc"}, access.Operator, uuid.Nil))(t)
	g.plantPapers(t)
	g.plantPeople(t)
	g.plantTrouble(t)
	g.plantFiles(t)
	g.plantOrders(t)
	g.plantHooks(t)
	g.plantJobs(t)
	g.plantWatch(t)
	g.plantStates(t)
	return g
}

// plantPapers makes documents in every state.
func (g *browserData) plantPapers(t *testing.T) {
	t.Helper()
	for i, state := range []string{"received", "scanning", "clean", "refused", "infected", "accepted", "rejected", "deleted"} {
		for _, entity := range []uuid.UUID{g.bank.ID, g.telco.ID} {
			g.exec(t, `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at, reason, note, moved_at)
				VALUES (gen_random_uuid(), $1, 'CAC_CERTIFICATE', $2, $3, 'application/pdf', 123456, sha256($4), $5, 'account', gen_random_uuid(), now() - $6 * interval '1 hour', CASE WHEN $5 IN ('refused', 'rejected') THEN 'unreadable' ELSE '' END, $7, now())`,
				entity, names["yoruba"], names["solid"]+".pdf", []byte{byte(i)}, state, i, names["long"])
		}
	}
}

// plantPeople makes colleagues.
func (g *browserData) plantPeople(t *testing.T) {
	t.Helper()
	for _, entity := range []uuid.UUID{g.bank.ID, g.telco.ID} {
		g.exec(t, `INSERT INTO account (id, kind, entity_id, name, email, email_key, password_hash, verified_at, verified_by, created_at, disabled_at)
			SELECT gen_random_uuid(), CASE WHEN i % 7 = 0 THEN 'admin' ELSE 'member' END, $1::uuid, CASE i % 6 WHEN 0 THEN $2::text WHEN 1 THEN $3 WHEN 2 THEN $4 ELSE 'Colleague ' || i END,
				i || repeat('x', i) || '.' || right($1::uuid::text, 4) || '@bank.example', i || repeat('x', i) || '.' || right($1::uuid::text, 4) || '@bank.example',
				CASE WHEN i % 4 > 0 THEN 'x' END, CASE WHEN i % 4 > 0 THEN now() END, CASE WHEN i % 4 > 0 THEN 'email' END, now() - i * interval '1 day', CASE WHEN i % 9 = 0 THEN now() END
			FROM generate_series(1, 52) i`, entity, names["long"], names["arabic"], names["yoruba"])
	}
}

// plantTrouble makes what staff look at: requests for two, alerts, and an
// organisation that is suspended.
func (g *browserData) plantTrouble(t *testing.T) {
	t.Helper()
	who := g.entities[3]
	g.exec(t, `UPDATE entity SET status = 'Suspended', status_reason = $2, status_since = now() WHERE id = $1`, who, names["long"])
	g.exec(t, `INSERT INTO approval (id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_at, expires_at)
		VALUES (gen_random_uuid(), 'entity.restore', $1, $1, '{}', $2, 'waiting', 'operator', now(), now() + interval '1 day')`, who, names["long"])
	g.exec(t, `INSERT INTO guard_alert (id, entity_id, kind, level, since, node, numbers, misses, dense, block, budget)
		VALUES (gen_random_uuid(), $1, 'misses', 'stopped', now(), 'e2e', 1234, 900, 10, 234803100, 5000)`, who)
}

// eventsTold is a file of which a row is wrong. An end in it was told late.
const eventsTold = `id,number,type,effectiveAt,reason
a,+2348037700001,ASSIGNED,BEGAN,
b,+2348037700002,ASSIGNED,BEGAN,
c,+2348037700003,ASSIGNED,BEGAN,
d,+2348037700004,ASSIGNED,BEGAN,
e,+2348037700004,ENDED,LATE,CHURNED
f,+2348037700002,SIM_CHANGED,LATE,
g,+2348037700003,SIM_CHANGED,never,
`

// plantFiles lets the telco send a file of events, of which a row is refused, and
// a snapshot that lacks almost all of its lines, which is held.
func (g *browserData) plantFiles(t *testing.T) {
	t.Helper()
	g.hold(t, "COBALT", "+234803")
	// A month in which it grew, was not looked at for two days, and fell silent.
	g.exec(t, `INSERT INTO supply_reach SELECT network, (now() AT TIME ZONE 'utc')::date - i, 8000000 - i * 90000, 20000000,
			now() - i * interval '1 day' - CASE WHEN i < 9 THEN interval '5 hours' ELSE (25 - i) * interval '1 day' END, now() - i * interval '1 day'
		FROM supply_coverage, generate_series(1, 24) i WHERE topic = 1 AND i NOT IN (15, 16)`)
}

// send sends a file of a network, which must come to a state.
func (g *browserData) send(t *testing.T, network string, form supply.ImportForm, text, state string) uuid.UUID {
	t.Helper()
	lines := &supply.Service{Pool: g.pool, Region: g.region, Lines: &linestore.Resolver{}, Now: time.Now}
	telco := supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: network, Actor: access.Operator}
	im := must(lines.Begin(t.Context(), telco, form, "cli"))(t)
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	if im = must(lines.Run(t.Context(), im.ID, supply.Source{Open: open}, nil))(t); im.State != state {
		t.Fatalf("the file is %s (%s), want %s", im.State, im.Reason, state)
	}
	return im.ID
}

// hold sends the events of a network with a prefix, and then a snapshot that lacks almost
// all of its lines, which is held.
func (g *browserData) hold(t *testing.T, network, prefix string) uuid.UUID {
	t.Helper()
	days := func(n int) string { return time.Now().AddDate(0, 0, -n).Format(time.DateOnly) }
	events := strings.NewReplacer("BEGAN", days(25), "LATE", days(10), "+234803", prefix).Replace(eventsTold) // not so long ago that they are held
	g.send(t, network, supply.ImportForm{Kind: linefile.Events}, events, supply.Finished)
	text := "number,tenureStart,simChangedAt,state,stateSince\n" + prefix + "7700001," + days(25) + ",,ACTIVE,\n"
	return g.send(t, network, supply.ImportForm{Kind: linefile.Snapshot, AsOf: time.Now().Add(-time.Hour)}, text, supply.Held)
}

// plantHooks makes webhook endpoints in every state, with attempts and refused events.
func (g *browserData) plantHooks(t *testing.T) {
	t.Helper()
	s := webhookService(t, g.fixture)
	for i, state := range []string{"active", "active", "active", "paused", "disabled", "unconfirmed"} {
		form := webhook.NewForm{Name: []string{"core banking", "fraud desk", string([]rune(names["long"])[:100]), "data warehouse", names["yoruba"], "card processor"}[i], URL: "https://hooks.bank.example/lineproof/" + strings.Repeat("tenant-", 4*i)}
		if i%2 == 1 {
			form.Form, form.Algorithm = webhook.Single, "hmac"
		}
		mode := []string{"test", "live"}[i%2]
		e := must(s.Create(t.Context(), feed.Owner{Entity: g.bank.ID, Mode: mode}, form, webhook.By{Actor: access.Operator}))(t)
		g.exec(t, `UPDATE hook_endpoint SET state = $2, reason = CASE WHEN $2 = 'disabled' THEN 'failing' ELSE '' END WHERE id = $1`, e.ID, state)
		if state == "unconfirmed" {
			continue
		}
		g.exec(t, `UPDATE hook_cursor SET seq = 1048577, attempts = 60, delivered_at = now() - $2 * interval '1 hour' WHERE endpoint_id = $1`, e.ID, i)
		if i != 1 {
			g.exec(t, `UPDATE hook_cursor SET failures = $2, failing_since = now() - interval '90 minutes', next_at = now() + interval '20 minutes' WHERE endpoint_id = $1`, e.ID, 5+i)
		}
		g.exec(t, `INSERT INTO hook_attempt (endpoint_id, n, at, kind, message, first_seq, last_seq, events, status, error, took_ms, answer)
			SELECT $1, i, now() - (60 - i) * interval '7 minutes', CASE i WHEN 1 THEN 'challenge' WHEN 58 THEN 'test' WHEN 50 THEN 'again' ELSE 'events' END, '1-' || 1048000 + i || '_1-' || 1048020 + i,
				CASE WHEN i NOT IN (1, 58) THEN 1048000 + i END, CASE WHEN i NOT IN (1, 58) THEN 1048020 + i END, 21, CASE i % 4 WHEN 0 THEN 503 WHEN 1 THEN NULL ELSE 204 END,
				CASE i % 4 WHEN 1 THEN 'no complete response within 10 seconds' ELSE '' END, CASE i % 4 WHEN 1 THEN 10003 ELSE 12 END, CASE i % 4 WHEN 0 THEN convert_to($2, 'UTF8') ELSE '' END
			FROM generate_series(1, 60) i`, e.ID, `{"error":"the database is being maintained","trace":"`+strings.Repeat("0123456789abcdef", 20)+`"}`)
		g.exec(t, `INSERT INTO hook_dead (endpoint_id, seq, type, refusals, died_at, status, answer, sent_at)
			SELECT $1, 1047000 + i, 'line.v1.ported', 10, now() - i * interval '1 day', 422, convert_to('unknown network', 'UTF8'), CASE WHEN i = 2 THEN now() END FROM generate_series(1, 2) i`, e.ID)
	}
}
