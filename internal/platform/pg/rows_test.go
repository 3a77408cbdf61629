package pg_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

const plantAccount = `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1::uuid, 'staff', 'auditor', 'Ada', $1::uuid::text, $1::uuid::text, now())`

// A row is signed at the end of the transaction that writes it, and stays signed through
// every change by somebody who has the keys. After a change by somebody who has not, it is
// broken, and no later change makes it a genuine one.
func TestRowIsSignedOnlyByWhoHasTheKeys(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	stolen := pgtest.Stolen(t, pool)
	id := uuid.Must(uuid.NewV7())
	ours := func(sql string, args ...any) {
		t.Helper()
		if err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error { _, err := tx.Exec(t.Context(), sql, args...); return err }); err != nil {
			t.Fatal(err)
		}
	}
	theirs := func(sql string, args ...any) {
		t.Helper()
		if _, err := stolen.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, want bool) {
		t.Helper()
		if got := signed(t, pool, id); got != want {
			t.Errorf("%s: signed %v, want %v", when, got, want)
		}
	}
	ours(plantAccount, id)
	expect("inserted", true)
	ours(`UPDATE account SET role = 'reviewer' WHERE id = $1`, id)
	expect("changed", true)
	theirs(`UPDATE account SET name = 'Eve' WHERE id = $1`, id)
	expect("a column that decides nothing", true)
	theirs(`UPDATE account SET row_sum = '\x00' WHERE id = $1`, id)
	expect("with another sum, which the trigger replaces", true)
	theirs(`UPDATE account SET role = 'administrator' WHERE id = $1`, id)
	expect("forged", false)
	ours(`UPDATE account SET makes_keys = true WHERE id = $1`, id)
	expect("forged and then changed by us", false)
	theirs(`UPDATE account SET role = 'reviewer', makes_keys = false WHERE id = $1`, id)
	expect("put back", true)
	theirs(`UPDATE account SET row_mac = NULL WHERE id = $1`, id)
	expect("without an HMAC", false)
	id = uuid.Must(uuid.NewV7())
	theirs(plantAccount, id)
	expect("inserted by them", false)
	id = uuid.Nil // which no row has that the service wrote
	theirs(plantAccount, id)
	expect("inserted by them with the zero id", false)
	id = uuid.Must(uuid.NewV7())
	theirs(plantAccount, id)
	ours(plantAccount, uuid.Must(uuid.NewV7()))
	theirs(`UPDATE account SET row_mac = (SELECT o.row_mac FROM account o WHERE o.row_mac IS NOT NULL LIMIT 1) WHERE id = $1`, id)
	expect("with the HMAC of another", false)
}

// A transaction that changes a row twice, or rolls a part back, leaves it signed; without
// keys it fails and changes nothing.
func TestRowIsSignedAsItIsAtTheEnd(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	id := uuid.Must(uuid.NewV7())
	if _, err := pool.Exec(t.Context(), plantAccount, id); err != nil {
		t.Fatal(err)
	}
	set := func(tx pg.Tx, role string) {
		t.Helper()
		if _, err := tx.Exec(t.Context(), `UPDATE account SET role = $2 WHERE id = $1`, id, role); err != nil {
			t.Fatal(err)
		}
	}
	for _, kept := range []bool{true, false} {
		err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
			set(tx, "reviewer")
			inner, err := tx.Begin(t.Context())
			if err != nil {
				return err
			}
			set(inner, "administrator")
			if kept {
				return inner.Commit(t.Context())
			}
			return inner.Rollback(t.Context())
		})
		if err != nil || !signed(t, pool, id) {
			t.Errorf("with a savepoint, kept %v: signed %v, %v", kept, signed(t, pool, id), err)
		}
	}
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		set(tx, "reviewer")
		r := pg.Row{Table: "account", ID: id}
		if err := tx.QueryRow(t.Context(), `SELECT row_sum, row_mac FROM account WHERE id = $1`, id).Scan(&r.Sum, &r.MAC); err != nil {
			return err
		}
		if ok, err := pg.RowsSigned(t.Context(), tx, r); err != nil || !ok {
			t.Errorf("a row that the transaction itself changed: signed %v, %v", ok, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = pg.InTx(t.Context(), pgtest.Stolen(t, pool), func(tx pg.Tx) error { set(tx, "auditor"); return nil })
	if !errors.Is(err, pg.ErrNoRowKeys) || !signed(t, pool, id) {
		t.Errorf("without keys: %v, signed %v", err, signed(t, pool, id))
	}
}

// Deleting a second factor changes the account's row, which is then broken.
func TestDeletedFactorBreaksTheAccount(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	id := uuid.Must(uuid.NewV7())
	for _, sql := range []string{plantAccount, `INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, '\x00', now(), now())`} {
		if _, err := pool.Exec(t.Context(), sql, id); err != nil {
			t.Fatal(err)
		}
	}
	var has bool
	if err := pool.QueryRow(t.Context(), `SELECT has_factor FROM account WHERE id = $1`, id).Scan(&has); err != nil || !has || !signed(t, pool, id) {
		t.Fatalf("with a factor: %v, signed %v, %v", has, signed(t, pool, id), err)
	}
	stolen := pgtest.Stolen(t, pool)
	for _, sql := range []string{`UPDATE second_factor SET confirmed_at = NULL WHERE account_id = $1`, `DELETE FROM second_factor WHERE account_id = $1`} {
		if _, err := stolen.Exec(t.Context(), sql, id); err != nil || signed(t, pool, id) {
			t.Errorf("%s: %v, signed %v", sql, err, signed(t, pool, id))
		}
	}
}

func signed(t *testing.T, pool *pgxpool.Pool, id uuid.UUID) bool {
	t.Helper()
	r := pg.Row{Table: "account", ID: id}
	if err := pool.QueryRow(t.Context(), `SELECT row_sum, row_mac FROM account WHERE id = $1`, id).Scan(&r.Sum, &r.MAC); err != nil {
		t.Fatal(err)
	}
	ok, err := pg.RowsSigned(t.Context(), pool, r)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}
