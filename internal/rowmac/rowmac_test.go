package rowmac_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/rowmac"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
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
