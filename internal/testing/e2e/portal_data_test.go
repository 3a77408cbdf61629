package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// portalData is a service that has been in use for a while: organisations, their keys,
// and a journal of the last weeks.
type portalData struct {
	*fixture

	entities []uuid.UUID
	keys     int
	refused  int // requests
	days     int
}

// newTown returns a town in a database of its own, or the one that
// LINEPROOF_E2E_TOWN names: a large one takes half an hour to plant, and can be
// visited again with another version of the pages.
func newTown(t *testing.T, entities, keys, entries, refused int) *portalData {
	t.Helper()
	url := os.Getenv("LINEPROOF_E2E_TOWN")
	if url == "" {
		return plantTown(t, newFixture(t, pgtest.URL(t)), entities, keys, entries, refused)
	}
	must(pg.Migrate(t.Context(), url))(t)
	w := &fixture{url: url, pool: pgtest.Open(t, url, ""), data: t.TempDir()}
	var there int
	if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM entity WHERE name LIKE 'Planted Bank %'`).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if there == 0 {
		return plantTown(t, newFixture(t, url), entities, keys, entries, refused)
	}
	w.keeper = &access.Service{
		Pool: w.pool, Peppers: must(secret.NewPeppers([]secret.Text{pepper}))(t), SessionLifetime: 12 * time.Hour, SessionIdle: 12 * time.Hour, Now: time.Now,
	}
	for name, into := range map[string]*uuid.UUID{"First Bank": &w.bank.ID, "First Telco": &w.telco.ID} {
		if err := w.pool.QueryRow(t.Context(), `SELECT id FROM entity WHERE name = $1`, name).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	return &portalData{fixture: w, entities: append([]uuid.UUID{w.bank.ID}, w.plantedBanks(t)...), keys: keys, refused: refused, days: 30}
}

func (w *fixture) plantedBanks(t *testing.T) []uuid.UUID {
	t.Helper()
	rows := must(w.pool.Query(t.Context(), `SELECT id FROM entity WHERE name LIKE 'Planted Bank %' ORDER BY name`))(t)
	return must(pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]))(t)
}

// plantTown makes so many organisations, keys, records and refused requests.
func plantTown(t *testing.T, w *fixture, entities, keys, entries, refused int) *portalData {
	t.Helper()
	o := &portalData{fixture: w, entities: []uuid.UUID{w.bank.ID}, keys: keys, refused: refused, days: 30}
	w.exec(t, `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		SELECT gen_random_uuid(), 'Planted Bank ' || i, 'RC 1' || i, 'Approved', 1 = 2, false, true, now() - i * interval '1 hour' FROM generate_series(1, $1) i`, entities-1)
	o.entities = append(o.entities, w.plantedBanks(t)...)
	w.exec(t, `UPDATE client SET sole = true, network = 'COBALT', scopes = scopes || '{line:supply}' WHERE id = $1`, w.client.ID) // so that the telco has a network and rotates its secret
	w.exec(t, `INSERT INTO api_key (id, entity_id, name, mode, purpose, mac, preview, created_at)
		SELECT gen_random_uuid(), ($2::uuid[])[1 + i % cardinality($2::uuid[])], 'key ' || i, CASE WHEN i % 3 = 0 THEN 'test' ELSE 'live' END, 'kyc',
			decode(md5(i::text) || md5('mac' || i), 'hex'), 'lp_live_' || i, now() - i * interval '1 minute' FROM generate_series(1, $1) i`, keys, o.entities)
	w.exec(t, `INSERT INTO audit (id, at, actor_kind, action, subject_id, entity_id)
		SELECT gen_random_uuid(), now() - i * interval '1 minute', 'operator', 'key.created', k.id, k.entity_id FROM (SELECT row_number() OVER () AS i, * FROM api_key WHERE name LIKE 'key %') k`)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for ago := o.days; ago > 0; ago-- {
		if err := journaltest.MakeDay(t.Context(), w.pool, today.AddDate(0, 0, -ago)); err != nil {
			t.Fatal(err)
		}
	}
	for ago := o.days; ago > 0; ago-- {
		o.fill(t, today.AddDate(0, 0, -ago), entries/o.days)
	}
	o.countAll(t, today)
	o.refuse(t, today)
	for _, table := range []string{"entity", "api_key", "audit", "account", "journal_entry", "journal_minute", "journal_day", "refused_request"} {
		w.exec(t, "VACUUM ANALYZE "+table)
	}
	return o
}

func (w *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := w.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// fill writes a day of the journal, from its first moment to its last. One
// record in five is the first bank's, few are those of the last one, and the
// others share the rest.
func (o *portalData) fill(t *testing.T, day time.Time, entries int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(day.Unix()), 1))
	statuses := []string{"NORMAL", "NORMAL", "NORMAL", "NORMAL", "SWAPPED", "PORTED", "UNALLOCATED"}
	conn := must(pgx.Connect(t.Context(), o.url))(t)
	defer conn.Close(context.WithoutCancel(t.Context()))
	i := 0
	_, err := conn.CopyFrom(t.Context(), pgx.Identifier{"journal_entry"}, journaltest.Columns(), pgx.CopyFromFunc(func() ([]any, error) {
		if i == entries {
			return nil, nil
		}
		at := day.Add(time.Duration(float64(24*time.Hour) * float64(i) / float64(entries))).Truncate(time.Millisecond)
		who := o.entities[1+rng.IntN(len(o.entities)-2)]
		switch {
		case i%5 == 0:
			who = o.bank.ID
		case i == entries/2 || i == entries/3:
			who = o.entities[len(o.entities)-1]
		}
		e := record.Entry{
			RequestID: record.NewRequestID(at), At: at, Entity: who, Key: o.key.ID, Type: "number", Mode: "live", Purpose: "payment",
			Status: statuses[rng.IntN(len(statuses))], MobileNetwork: "Cobalt", LineVersion: 1, PolicyVersion: 1, PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
			Personal: record.Personal{Number: 2348031000000 + rng.Int64N(1_000_000), PhoneNumber: "08031000000", Correlator: "load"},
		}
		i++
		return journaltest.Row(&e, 1, int64(i), 0), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// refuse writes a month of refused requests, one in five of the first bank, which has few
// errors of the kind that its quiet key gets.
func (o *portalData) refuse(t *testing.T, today time.Time) {
	t.Helper()
	const insert = `INSERT INTO refused_request (at, id, entity_id, key_id, mode, route, status, code, violations, number_mac, correlator, skipped) `
	// The id of a request begins with its time.
	const id = `(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || left(md5(i::text || at), 3) || 'a' || right(md5(i::text || at), 15))::uuid`
	for ago := o.days - 1; ago >= 0; ago-- {
		day := today.AddDate(0, 0, -ago)
		o.exec(t, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS refused_request_%s PARTITION OF refused_request FOR VALUES FROM ('%s+00') TO ('%s+00')`,
			day.Format("20060102"), day.Format(time.DateTime), day.AddDate(0, 0, 1).Format(time.DateTime)))
		o.exec(t, insert+`SELECT at, `+id+`, CASE WHEN i % 5 = 0 THEN $4 ELSE ($6::uuid[])[1 + i % cardinality($6::uuid[])] END, $5, 'live', 'POST /api/v1/verify',
				CASE WHEN i % 3 = 0 THEN 400 ELSE 429 END, CASE WHEN i % 3 = 0 THEN 'INVALID_ARGUMENT' ELSE 'TOO_MANY_REQUESTS' END,
				CASE WHEN i % 3 = 0 THEN '{phoneNumber: REQUIRED}'::text[] ELSE '{}' END, CASE WHEN i % 3 > 0 THEN sha256(i::text::bytea) END, 'order-' || i, 0
			FROM (SELECT i, $1::timestamptz + i * $2::interval / $3::integer AS at FROM generate_series(0, $3::integer - 1) i) t`,
			day, min(time.Since(day), 24*time.Hour), o.refused/o.days, o.bank.ID, o.key.ID, o.entities)
	}
	o.exec(t, insert+`SELECT at, `+id+`, entity_id, key, mode, 'POST /api/v1/verify', 429, 'QUOTA_EXCEEDED', '{}', NULL, 'rare', 0
		FROM (SELECT entity_id, id AS key, mode, 1 AS i, now() - interval '20 days' AS at FROM api_key WHERE entity_id = $1 ORDER BY name LIMIT 1) k`, o.bank.ID)
}

// countAll counts what was planted, with the result of the job, which would take hours
// for what the journal of a month gets at once: every minute is written to an index that
// does not fit into memory.
func (o *portalData) countAll(t *testing.T, today time.Time) {
	t.Helper()
	began := time.Now()
	o.exec(t, `ALTER TABLE journal_minute DROP CONSTRAINT journal_minute_pkey`)
	for ago := o.days; ago > 0; ago-- {
		day := today.AddDate(0, 0, -ago)
		o.exec(t, `INSERT INTO journal_minute (entity_id, minute, mode, status, n, seconds)
			SELECT entity_id, date_trunc('minute', at), mode, status, count(*), bit_or(1::bigint << date_part('second', at)::integer)
			FROM (SELECT entity_id, date_trunc('second', at) AS at, mode, status FROM journal_entry WHERE at >= $1 AND at < $2) e GROUP BY 1, 2, 3, 4`, day, day.AddDate(0, 0, 1))
	}
	o.exec(t, `ALTER TABLE journal_minute ADD PRIMARY KEY (entity_id, minute, mode, status)`)
	o.exec(t, `INSERT INTO journal_day (entity_id, day, mode, status, n) SELECT entity_id, (minute AT TIME ZONE 'UTC')::date, mode, status, sum(n) FROM journal_minute GROUP BY 1, 2, 3, 4`)
	o.exec(t, `INSERT INTO journal_day (entity_id, day, mode, status, n) SELECT $1, day, mode, status, sum(n) FROM journal_day GROUP BY 2, 3, 4`, uuid.Nil)
	o.exec(t, `INSERT INTO tally_mark (settled, seen, fence_at, fence_xact) VALUES ($1, now(), current_timestamp, pg_current_xact_id())`, today)
	t.Logf("the journal was counted in %s", time.Since(began).Round(time.Millisecond))
}
