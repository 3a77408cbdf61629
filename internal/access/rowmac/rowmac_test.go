package rowmac_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func plant(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, password_hash, created_at)
		SELECT i, 'staff', 'auditor', 'Ada', i || '@regulator.example', i::text, repeat('h', 120), now() FROM (SELECT gen_random_uuid() AS i FROM generate_series(1, $1)) x`, n)
	if err != nil {
		t.Fatal(err)
	}
}

func peppers(t *testing.T, list ...secret.Text) *secret.Peppers {
	t.Helper()
	p, err := secret.NewPeppers(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// accounts returns what Check finds in the table of accounts.
func accounts(t *testing.T, pool *pgxpool.Pool, keys *secret.Peppers) rowmac.Table {
	t.Helper()
	tables, err := rowmac.Check(t.Context(), pool, keys)
	if err != nil {
		t.Fatal(err)
	}
	return tables[0]
}

// Rows that somebody else wrote are found by their ids, and only the operator's word makes
// them genuine, which the audit trail has.
func TestForgedRowsAreFoundAndAcceptedByTheOperatorOnly(t *testing.T) {
	t.Parallel()
	pool, keys := pgtest.New(t), peppers(t, pgtest.Pepper)
	plant(t, pool, 5)
	if got := accounts(t, pool, keys); got.Name != "account" || got.Rows != 5 || len(got.Broken) != 0 {
		t.Fatalf("before: %+v", got)
	}
	var forged uuid.UUID
	err := pgtest.Stolen(t, pool).QueryRow(t.Context(), `UPDATE account SET role = 'administrator' WHERE id = (SELECT id FROM account LIMIT 1) RETURNING id`).Scan(&forged)
	if err != nil {
		t.Fatal(err)
	}
	if got := accounts(t, pool, keys); len(got.Broken) != 1 || got.Broken[0] != forged {
		t.Errorf("forged: %+v, want %s", got, forged)
	}
	if n, err := rowmac.Renew(t.Context(), pool, keys); n != 0 || err != nil {
		t.Errorf("renewed %d, %v", n, err)
	}
	now, by := time.Now().UTC().Truncate(time.Microsecond), audit.Actor{Kind: audit.Operator}
	accept := func(table, reason string, ids ...uuid.UUID) (int, error) {
		return rowmac.Accept(t.Context(), pool, keys, table, ids, reason, by, now)
	}
	if _, err := accept("river_job", ""); len(violations(err)) != 2 {
		t.Errorf("without a reason, of another table: %v", err)
	}
	if _, err := accept("account", "It is right.", uuid.New()); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("another id: %v", err)
	}
	if n, err := accept("account", "It is right.", forged); n != 1 || err != nil {
		t.Errorf("accepted %d, %v", n, err)
	}
	if got := accounts(t, pool, keys); len(got.Broken) != 0 {
		t.Errorf("after: %+v", got)
	}
	var entries int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = 'rows.accepted' AND subject_id = $1`, forged).Scan(&entries); err != nil || entries != 1 {
		t.Errorf("%d entries, %v", entries, err)
	}
}

func violations(err error) []fault.Violation {
	if f, ok := err.(*fault.Error); ok { //nolint:errorlint // Form returns it so
		return f.Violations
	}
	return nil
}

// After a rotation of the pepper every row that was signed is signed anew, and the older
// pepper can be retired. A forged row stays one.
func TestRowsAreSignedAnewAfterARotation(t *testing.T) {
	t.Parallel()
	const newer secret.Text = "the newer pepper, which is long enough"
	pool, both, after := pgtest.New(t), peppers(t, newer, pgtest.Pepper), peppers(t, newer)
	plant(t, pool, 1203)
	if _, err := pgtest.Stolen(t, pool).Exec(t.Context(), `UPDATE account SET disabled_at = now() WHERE id IN (SELECT id FROM account LIMIT 3)`); err != nil {
		t.Fatal(err)
	}
	if got := accounts(t, pool, both); got.Outdated != 1200 || len(got.Broken) != 3 {
		t.Fatalf("after the rotation: %d outdated, %d broken", got.Outdated, len(got.Broken))
	}
	for i, want := range []int64{1200, 0} {
		if n, err := rowmac.Renew(t.Context(), pool, both); n != want || err != nil {
			t.Errorf("run %d renewed %d, want %d: %v", i, n, want, err)
		}
	}
	if got := accounts(t, pool, after); got.Outdated != 0 || len(got.Broken) != 3 {
		t.Errorf("without the older pepper: %d outdated, %d broken", got.Outdated, len(got.Broken))
	}
}

// A row that somebody writes back as it once was, with the HMAC of then, is found, and no later
// change by the service makes it the newest one: that leaves it without an HMAC. Nobody can pass
// an old record, or one of their own, for the newest, or take a number in advance.
func TestOldRowsAreFoundAndStayOld(t *testing.T) {
	t.Parallel()
	const newer = "the newer pepper, which is long enough"
	pool, keys := pgtest.New(t), peppers(t, pgtest.Pepper)
	plant(t, pool, 3)
	thief := pgtest.Stolen(t, pool)
	var id uuid.UUID
	var mac []byte
	if err := pool.QueryRow(t.Context(), `SELECT id, row_mac FROM account LIMIT 1`).Scan(&id, &mac); err != nil {
		t.Fatal(err)
	}
	run := func(as *pgxpool.Pool, sql string, args ...any) {
		t.Helper()
		if _, err := as.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	expect := func(when string, broken, old int) {
		t.Helper()
		if got := accounts(t, pool, keys); len(got.Broken) != broken || len(got.Old) != old {
			t.Errorf("%s: %d broken, %d old, want %d and %d", when, len(got.Broken), len(got.Old), broken, old)
		}
	}
	writeBack := func(role string) {
		run(thief, `UPDATE account SET role = $3, row_mac = $2 WHERE id = $1`, id, mac, role)
	}
	run(pool, `UPDATE account SET role = 'reviewer' WHERE id = $1`, id)
	expect("changed by the service", 0, 0)
	writeBack("auditor")
	expect("written back", 0, 1)
	run(thief, `UPDATE account SET name = 'Eve' WHERE id = $1`, id)
	run(thief, `INSERT INTO row_signed SELECT 'account', $1, 2, row_sum, row_mac FROM account WHERE id = $1`, id)
	expect("with a record of the thief", 0, 1)
	for _, sql := range []string{
		`UPDATE row_signed SET sum = sum`, `DELETE FROM row_signed`, `TRUNCATE row_signed`,
		`INSERT INTO row_signed SELECT table_name, id, 4, sum, mac FROM row_signed LIMIT 1`,
	} {
		if _, err := thief.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s: no error", sql)
		}
	}
	keys = peppers(t, newer, pgtest.Pepper)
	if n, err := rowmac.Renew(t.Context(), pool, keys); n != 2 || err != nil {
		t.Errorf("renewed %d, %v", n, err)
	}
	expect("after a rotation", 0, 1)
	if err := pgtest.UsePeppers(t.Context(), pool, newer, pgtest.Pepper); err != nil {
		t.Fatal(err)
	}
	run(pool, `UPDATE account SET makes_keys = true WHERE id = $1`, id)
	expect("changed by the service when it was old", 1, 0)
	now := time.Now().UTC().Truncate(time.Microsecond)
	if n, err := rowmac.Accept(t.Context(), pool, keys, "account", nil, "They are right.", audit.Actor{Kind: audit.Operator}, now); n != 1 || err != nil {
		t.Errorf("accepted %d, %v", n, err)
	}
	expect("accepted", 0, 0)
	run(pool, `UPDATE account SET makes_keys = false WHERE id = $1`, id)
	expect("accepted and changed", 0, 0)
}

// Records that are superseded, or of sessions that are gone, are removed after 90 days, by the
// owner only. The newest record of every other row stays.
func TestSupersededRecordsAreRemovedByTheOwner(t *testing.T) {
	t.Parallel()
	pool, keys := pgtest.New(t), peppers(t, pgtest.Pepper)
	plant(t, pool, 2)
	for _, sql := range []string{
		`UPDATE account SET makes_keys = true`, `UPDATE account SET role = 'reviewer'`,
		`INSERT INTO row_signed SELECT 'session', gen_random_uuid(), 1, sum, mac FROM row_signed WHERE n = 1`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	owner := pgtest.Open(t, pool.Config().ConnString(), pg.Owner)
	if n, err := pg.PruneRecords(t.Context(), owner); n != 0 || err != nil {
		t.Errorf("removed %d of today, %v", n, err)
	}
	if _, err := owner.Exec(t.Context(), `UPDATE row_signed SET at = at - interval '91 days'`); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.PruneRecords(t.Context(), pool); err == nil {
		t.Error("the service's login may remove records")
	}
	if n, err := pg.PruneRecords(t.Context(), owner); n != 4 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if got := accounts(t, pool, keys); len(got.Broken)+len(got.Old) != 0 {
		t.Errorf("after: %+v", got)
	}
}

// Checking as many accounts as LINEPROOF_ROWS says takes seconds. Every signed table is
// read, and each has its columns.
func TestCheckReadsEverySignedTable(t *testing.T) {
	t.Parallel()
	n := 1000
	if text := os.Getenv("LINEPROOF_ROWS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	pool, keys := pgtest.New(t), peppers(t, pgtest.Pepper)
	plant(t, pool, n)
	began := time.Now()
	tables, err := rowmac.Check(t.Context(), pool, keys)
	took := time.Since(began)
	if err != nil || len(tables) != len(pg.SignedTables) || tables[0].Rows != int64(n) || len(tables[0].Broken) != 0 {
		t.Fatalf("%d tables of %d, %v", len(tables), len(pg.SignedTables), err)
	}
	t.Logf("%d rows in %s", n, took.Round(time.Millisecond))
}
