package publiclog_test

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// sources writes one of everything that the log has besides batches, as its owner.
const sources = `
INSERT INTO policy SELECT (jsonb_populate_record(p, jsonb_build_object('version', 2, 'id', gen_random_uuid(), 'note', 'a "longer" note'))).* FROM policy p WHERE version = 1;
INSERT INTO numbering_plan VALUES (1, gen_random_uuid(), '2026-01-01Z', 13, 'a source', '2026-01-01Z');
INSERT INTO numbering_network VALUES (1, 7, 'Seven');
INSERT INTO numbering_range VALUES (1, '234803', 7, '2020-01-01', NULL);
INSERT INTO audit_hour (hour, entries, hash) VALUES ('2026-11-17T09:00:00Z', 3, sha256('hour'));
INSERT INTO journal_archive (manifest, day, sha256, batches, entries, bytes, root, archived_at) VALUES ('7d444840-9dc0-41d1-b245-5ffdce74fad2', '2020-02-04', sha256('manifest'), 1, 150, 1, sha256('root'), now());
INSERT INTO log_key (role, value) VALUES ('log', 'lineproof.example/log+00000000+AAAA');
INSERT INTO supply_import (uid, network, supplier, kind, as_of, dry_run, source, state, rows, refused, created_at, updated_at) VALUES ('7d444840-9dc0-41d1-b245-5ffdce74fad3', 7, 3, 'snapshot', '2026-11-14Z', false, 'api', 'applying', 9, 2, now(), now());
UPDATE supply_import SET state = 'applied', file_digest = sha256('file'), supplier_name = 'Seven';
UPDATE log_head SET began = date_trunc('month', now() - interval '1 month 2 days');
INSERT INTO erasure (id, ground, state, asked_at, marked_at) SELECT '7d444840-9dc0-41d1-b245-5ffdce74fad4', 'request', 'finished', began, began FROM log_head;
INSERT INTO journal_erased VALUES (gen_random_uuid(), now(), sha256('b'), '7d444840-9dc0-41d1-b245-5ffdce74fad4'), (gen_random_uuid(), now(), sha256('a'), '7d444840-9dc0-41d1-b245-5ffdce74fad4');
INSERT INTO journal_erased_day VALUES ('2020-02-03', '7d444840-9dc0-41d1-b245-5ffdce74fad4');`

// logWithSources returns a log that has all kinds of entries.
func logWithSources(t *testing.T) (serve, owner *pgxpool.Pool) {
	t.Helper()
	url := pgtest.URL(t)
	serve, owner = pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	l := openLog(t, serve)
	if _, err := owner.Exec(t.Context(), sources); err != nil {
		t.Fatal(err)
	}
	if err := addBatch(t.Context(), serve, 1, 0); err != nil {
		t.Fatal(err)
	}
	// A node that has just started looks for months that are over.
	tick(t, &publiclog.Log{Pool: serve, Origin: origin}, 8)
	tick(t, l, 0)
	return serve, owner
}

func sum(parts ...string) merkle.Hash { return sha256.Sum256([]byte(strings.Join(parts, ""))) }

// Each thing that decides an answer gets one entry, in the transaction of the thing itself,
// and the bytes that SQL writes are those that this program reads.
func TestEveryKindOfEntryIsInTheLogOnce(t *testing.T) {
	t.Parallel()
	serve, _ := logWithSources(t)
	var nonce []byte
	var began time.Time
	var policy, plan string
	err := serve.QueryRow(t.Context(), `SELECT log_nonce, (SELECT began FROM log_head), (SELECT log_policy_text(p) FROM policy p WHERE version = 2), (SELECT log_plan_text(p) FROM numbering_plan p) FROM supply_import`).
		Scan(&nonce, &began, &policy, &plan)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(policy, "\nnote=\"a \\\"longer\\\" note\"\n") || !strings.Contains(policy, "effective_at=\"2000-01-01T00:00:00+00:00\"\n") {
		t.Errorf("the text of the policy is %s", policy)
	}
	if !strings.HasSuffix(plan, "version=1\nnetwork=[7, \"Seven\"]\nrange=[\"234803\", 7, \"2020-01-01\", null]\n") {
		t.Errorf("the text of the plan is %s", plan)
	}
	uid := uuid.MustParse("7d444840-9dc0-41d1-b245-5ffdce74fad3")
	file, a, b := sum("file"), sum("a"), sum("b")
	number := func(n int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	field := func(f string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(f)))) + f }
	if sumA, sumB := string(a[:]), string(b[:]); sumA > sumB {
		a, b = b, a
	}
	want := []logentry.Body{
		&logentry.Commitment{Hash: sum("lineproof supply 1\n", field(string(nonce)), field(string(uid[:])), field(number(3)), field("Seven"), field("snapshot"),
			field(number(time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC).UnixMilli())), field(number(9)), field(number(2)), field(string(file[:])))},
		&logentry.Version{Of: "plan", Number: 1, Text: sum(plan)},
		&logentry.Version{Of: "policy", Number: 2, Text: sum(policy)},
		&logentry.Hour{Hour: time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC), Entries: 3, Hash: sum("hour")},
		&logentry.KeyUse{Role: "log", Value: "lineproof.example/log+00000000+AAAA"},
		&logentry.Day{Day: time.Date(2020, 2, 4, 0, 0, 0, 0, time.UTC), Entries: 150, Root: sum("root"), Manifest: sum("manifest")},
		&logentry.Month{Month: began, Records: 2, Days: 1, Hash: sum("lineproof erasures 1\n", string(a[:]), string(b[:]), "\x00\x00\x01\x70\x08\x58\xc4\x00")},
	}
	rows, err := serve.Query(t.Context(), `SELECT entry FROM log_entry`)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range want {
		found := 0
		kind, bytes := logentry.EncodeBody(body)
		for _, entry := range entries {
			if e, err := logentry.Decode(entry); err == nil && e.Kind == kind && string(e.Body) == string(bytes) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s is in the log %d times", body, found)
		}
	}
	wantNothingFound(t, serve)
}

// The check finds each thing that was changed, removed or added after it was logged.
func TestCheckComparesEveryKindWithItsSource(t *testing.T) {
	t.Parallel()
	serve, owner := logWithSources(t)
	for sql, found := range map[string]string{
		`UPDATE supply_import SET file_digest = sha256('other')`:                           "a file of an operator is in the log, but",
		`UPDATE supply_import SET rows = 8`:                                                "a file of an operator is in the database, but",
		`UPDATE supply_import SET supplier_name = 'Six'`:                                   "a file of an operator is in the database, but",
		`UPDATE supply_import SET refused = 1`:                                             "a file of an operator is in the log, but",
		`DELETE FROM supply_import`:                                                        "a file of an operator is in the log, but",
		`UPDATE policy SET recycled_days = 91 WHERE version = 2`:                           "version 2 of the policy is in the database, but",
		`DELETE FROM policy WHERE version = 2`:                                             "version 2 of the policy is in the log, but",
		`INSERT INTO numbering_range VALUES (1, '234804', 7, '2020-01-01', NULL)`:          "version 1 of the plan is in the database, but",
		`UPDATE numbering_network SET name = 'Eight'`:                                      "version 1 of the plan is in the log, but",
		`SET session_replication_role = replica; UPDATE audit_hour SET hash = sha256('x')`: "the audit trail of 2026-11-17T09Z is in the log, but",
		`UPDATE journal_archive SET sha256 = sha256('x')`:                                  "the archive of 2020-02-04 is in the database, but",
		`DELETE FROM log_key`:                                                              "a key of the role log is in the log, but",
		`INSERT INTO journal_erased VALUES (gen_random_uuid(), now(), sha256('c'), '7d444840-9dc0-41d1-b245-5ffdce74fad4')`: "the erasures of",
		`DELETE FROM log_pending; INSERT INTO log_key (role, value) VALUES ('log', 'x'); DELETE FROM log_pending`:           "a key of the role log is in the database, but",
	} {
		tx, err := owner.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		r, err := publiclog.Check(t.Context(), tx, nil)
		if err != nil || !strings.Contains(strings.Join(r.Found, "\n"), found) {
			t.Errorf("%s: it found %q, %v; want %q", sql, r.Found, err, found)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantNothingFound(t, serve)
}

// What was there when the log was turned on is in it, too, and the serving role, which adds
// entries, can't invent any.
func TestALogBeginsWithWhatIsThere(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	serve, owner := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	before := strings.ReplaceAll(sources, "UPDATE log_head", "-- ")
	before, _, _ = strings.Cut(before, "INSERT INTO erasure")
	if _, err := owner.Exec(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	openLog(t, serve)
	if r := wantNothingFound(t, serve); r.Size != 7 {
		t.Errorf("the log begins with %d entries", r.Size)
	}
	if _, err := serve.Exec(t.Context(), `INSERT INTO log_pending (kind, body) VALUES (6, 'x')`); err == nil {
		t.Error("the serving role can invent an entry")
	}
}
