package audit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// An entry is stored if and only if its transaction is committed.
func TestEntryIsStoredExactlyWithItsAction(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	subject, undone := uuid.New(), errors.New("undone")
	for _, outcome := range []error{undone, nil} {
		err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
			err := audit.Write(t.Context(), tx, audit.Entry{
				At: time.Now(), Actor: audit.Actor{Kind: audit.Operator}, Action: audit.ClientCreated, Subject: subject,
			})
			return errors.Join(err, outcome)
		})
		if !errors.Is(err, outcome) {
			t.Fatal(err)
		}
	}
	var n int
	var actor uuid.NullUUID
	err := pool.QueryRow(t.Context(), `SELECT count(*) OVER (), actor_id FROM audit WHERE subject_id = $1`, subject).Scan(&n, &actor)
	if err != nil || n != 1 || actor.Valid {
		t.Errorf("%d entries, actor %v, %v; want the one that was committed, without an actor's id", n, actor, err)
	}
}

// The service's login can write entries of now and of no other time; the owner can.
func TestServiceLoginCannotDateAnEntryBack(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for _, role := range []string{pg.Serve, pg.Owner} {
		pool := pgtest.Open(t, url, role)
		for _, age := range []time.Duration{0, 50 * time.Second, -50 * time.Second, 70 * time.Second, -70 * time.Second, 80 * time.Minute} {
			err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
				return audit.Write(t.Context(), tx, audit.Entry{
					At: time.Now().Add(-age), Actor: audit.Actor{Kind: audit.Operator}, Action: audit.ClientCreated, Subject: uuid.New(),
				})
			})
			if allowed := age.Abs() < time.Minute || role == pg.Owner; (err == nil) != allowed || err != nil && pg.Violated(err) != "audit_time" {
				t.Errorf("%s: an entry of %v ago: %v", role, age, err)
			}
		}
	}
}
