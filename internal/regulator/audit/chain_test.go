package audit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// world is a trail of five hours and of the one that is not over.
type world struct {
	*testing.T
	url          string
	serve, super *pgxpool.Pool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	url := pgtest.URL(t)
	w := &world{T: t, url: url, serve: pgtest.Open(t, url, pg.Serve), super: pgtest.Open(t, url, "")}
	now := time.Now().UTC().Truncate(time.Hour).Add(30 * time.Minute) // far from the next hour
	for ago := 5; ago >= 0; ago-- {
		for i := range 3 {
			if ago == 3 {
				continue // an hour in which nothing happened
			}
			w.write(now.Add(-time.Duration(ago)*time.Hour - time.Duration(i)*time.Millisecond))
		}
	}
	return w
}

func (w *world) write(at time.Time) {
	w.Helper()
	err := pg.InTx(w.Context(), w.super, func(tx pg.Tx) error {
		return audit.Write(w.Context(), tx, audit.Entry{
			At: at, Actor: audit.Actor{Kind: audit.Account, ID: uuid.New()}, Action: audit.KeyCreated, Subject: uuid.New(), After: map[string]any{"name": "n"},
		})
	})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) extend() int {
	w.Helper()
	n, err := audit.ExtendChain(w.Context(), w.serve)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// check checks the chain after a statement of the owner, which is rolled back.
func (w *world) check(sql string, known ...audit.ChainHash) audit.ChainReport {
	w.Helper()
	tx, err := w.super.Begin(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = tx.Rollback(w.Context()) }()
	if _, err := tx.Exec(w.Context(), `ALTER TABLE audit DISABLE TRIGGER audit_append_only; ALTER TABLE audit_hour DISABLE TRIGGER audit_hour_append_only`); err != nil {
		w.Fatal(err)
	}
	if tag, err := tx.Exec(w.Context(), sql); err != nil || tag.RowsAffected() == 0 {
		w.Fatalf("%s: %v, %v", sql, tag, err)
	}
	r, err := audit.CheckChain(w.Context(), tx, known...)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

const nothing = `SELECT 1`

// Every hour that is over is chained once, empty ones too, and nothing is found.
func TestHoursAreChainedWhenTheyAreOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.check(nothing); r.Hours != 0 || len(r.Found) != 0 {
		t.Errorf("before the first hour is chained: %+v", r)
	}
	n := w.extend()
	if n < 4 || n > 5 { // the last one may have been over for less than a minute
		t.Errorf("%d hours were chained, want 5", n)
	}
	again := w.extend()
	r := w.check(nothing)
	if len(r.Found) != 0 || r.Hours != int64(n+again) || r.Entries != 3*(r.Hours-1) || time.Since(r.Through) > 2*time.Hour {
		t.Errorf("after %d and %d hours: %+v", n, again, r)
	}
	if r := w.check(nothing, r.Hash); len(r.Found) != 0 {
		t.Errorf("with the hash of an earlier check: %+v", r)
	}
}

// Whatever is done to an hour that is over is found, once, and also to the chain itself.
func TestChangesOfClosedHoursAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extend()
	const old = `(SELECT id FROM audit ORDER BY at LIMIT 1)`
	for sql, words := range map[string]string{
		`UPDATE audit SET action = 'key.revoked' WHERE id = ` + old:                                                                                "not those that were chained",
		`UPDATE audit SET after = '{"name": "m"}' WHERE id = ` + old:                                                                               "not those that were chained",
		`UPDATE audit SET actor_id = NULL WHERE id = ` + old:                                                                                       "not those that were chained",
		`UPDATE audit SET from_addr = '192.0.2.1' WHERE id = ` + old:                                                                               "not those that were chained",
		`UPDATE audit SET at = at + interval '1 microsecond' WHERE id = ` + old:                                                                    "not those that were chained",
		`DELETE FROM audit WHERE id = ` + old:                                                                                                      "had 3 entries when it was chained, and has 2",
		`INSERT INTO audit SELECT gen_random_uuid(), at, actor_kind, actor_id, action, subject_id FROM audit WHERE id = ` + old:                    "had 3 entries when it was chained, and has 4",
		`INSERT INTO audit SELECT gen_random_uuid(), at - interval '1 day', actor_kind, actor_id, action, subject_id FROM audit WHERE id = ` + old: "before the chain began",
		`UPDATE audit_hour SET entries = 7 WHERE hour = (SELECT min(hour) FROM audit_hour)`:                                                        "had 7 entries",
		`DELETE FROM audit_hour WHERE hour = (SELECT min(hour) + interval '1 hour' FROM audit_hour)`:                                               "are missing in the chain",
	} {
		r := w.check(sql)
		if len(r.Found) == 0 || !strings.Contains(r.Found[0].What, words) {
			t.Errorf("%s: %+v, want %q", sql, r.Found, words)
		}
	}
	// An hour that was chained anew is found by a hash that somebody kept.
	kept := w.check(nothing).Hash
	const last = `hour = (SELECT max(hour) FROM audit_hour)`
	if r := w.check(`DELETE FROM audit_hour WHERE `+last, kept); len(r.Found) != 1 || !strings.Contains(r.Found[0].What, "does not have the hash") {
		t.Errorf("without the last hour: %+v", r.Found)
	}
}

// Nobody can change the chain, and the owner must drop a trigger first.
func TestChainIsAppendOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extend()
	for _, role := range []string{pg.Serve, pg.Owner, ""} {
		pool := pgtest.Open(t, w.url, role)
		for _, sql := range []string{`UPDATE audit_hour SET entries = 0`, `DELETE FROM audit_hour`, `TRUNCATE audit_hour`} {
			_, err := pool.Exec(t.Context(), sql)
			if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
				t.Errorf("%q: %s gave %v, want permission denied", role, sql, err)
			}
		}
	}
}

// An entry of an hour that is over, whose transaction has not ended, is not left out: the
// hour is chained when it has.
func TestHourWaitsForTransactionsInProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tx, err := w.super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `INSERT INTO audit (id, at, actor_kind, action, subject_id) VALUES (gen_random_uuid(), now() - interval '2 hours', 'operator', 'x', gen_random_uuid())`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := audit.ExtendChain(t.Context(), w.serve)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("an hour was chained while a transaction could add to it: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if r := w.check(nothing); len(r.Found) != 0 || r.Entries != 3*(r.Hours-1)+1 {
		t.Errorf("%+v", r)
	}
}
