package audit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
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
