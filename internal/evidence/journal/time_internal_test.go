package journal

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// sealedAt is a batch of one record that has the given age.
func sealedAt(t *testing.T, pool *pgxpool.Pool, age time.Duration) *batch {
	t.Helper()
	j, err := Open(t.Context(), pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	b := sealed(t, j, 1)
	at := b.at.Add(-age)
	b.at, b.entries[0].At, b.entries[0].RequestID = at, at, record.NewRequestID(at)
	return b
}

func write(t *testing.T, pool *pgxpool.Pool, b *batch) error {
	t.Helper()
	return pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		_, _, err := b.insert(t.Context(), tx)
		return err
	})
}

// The service's login can write records of now and of no other time, neither by a
// transaction that began long ago; the owner can.
func TestServiceLoginCannotDateARecordBack(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	serve, owner := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, pg.Owner)
	for _, age := range []time.Duration{0, 50 * time.Second, -50 * time.Second, 70 * time.Second, -70 * time.Second, 80 * time.Minute} {
		allowed := age.Abs() < time.Minute
		if err := write(t, serve, sealedAt(t, serve, age)); (err == nil) != allowed || err != nil && pg.Violated(err) != "journal_batch_time" {
			t.Errorf("a record of %v ago by the service: %v", age, err)
		}
		if err := write(t, owner, sealedAt(t, serve, age)); err != nil {
			t.Errorf("a record of %v ago by the owner: %v", age, err)
		}
	}
	if entries, _ := counts(t, serve); entries != 9 {
		t.Errorf("%d records, want the 9 that were accepted", entries)
	}
}

// A batch that was written, and whose outcome stayed unknown for longer than a minute, is
// retried like any other; one that was not written is refused then.
func TestLateRetryIsAcceptedOnlyForABatchThatIsThere(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	serve, owner := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, pg.Owner)
	j, err := Open(t.Context(), serve, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	there, missing := sealedAt(t, serve, 5*time.Minute), sealedAt(t, serve, 5*time.Minute)
	if err := write(t, owner, there); err != nil {
		t.Fatal(err)
	}
	if err := j.settle(t.Context(), there, pg.ErrUnknown); err != nil {
		t.Errorf("a late retry of a batch that is there: %v", err)
	}
	if err := j.settle(t.Context(), missing, pg.ErrUnknown); pg.Violated(err) != "journal_batch_time" {
		t.Errorf("a late retry of a batch that is not there: %v, want that it is refused", err)
	}
	if entries, fences := counts(t, serve); entries != 1 || fences != 1 {
		t.Errorf("%d records and %d fences, want 1 and 1", entries, fences)
	}
}
