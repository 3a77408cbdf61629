package journal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func sealed(t *testing.T, j *Journal, n int) *batch {
	t.Helper()
	at := time.Now().UTC().Truncate(time.Millisecond)
	entries := make([]record.Entry, n)
	for i := range entries {
		entries[i] = record.Entry{RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Mode: "live", Status: "NORMAL", Nonce: record.NewNonce()}
	}
	number, err := j.numbers.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := j.prepare(number, entries)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func counts(t *testing.T, pool *pgxpool.Pool) (entries, fences int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_entry), (SELECT count(*) FROM journal_fence)`).Scan(&entries, &fences); err != nil {
		t.Fatal(err)
	}
	return entries, fences
}

// A batch of unknown outcome that was written is not written again, and is
// acknowledged only after one more commit, never because it can be read.
func TestWrittenBatchIsAcknowledgedByOneMoreCommit(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	j, err := Open(t.Context(), pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	b := sealed(t, j, 3)
	first := func(tx pg.Tx) (err error) {
		_, b.timeline, err = b.insert(t.Context(), tx)
		return err
	}
	if err := pg.InTx(t.Context(), pool, first); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.settle(t.Context(), b, pg.ErrUnknown); err != nil {
			t.Fatal(err)
		}
	}
	if entries, fences := counts(t, pool); entries != 3 || fences != 1 {
		t.Errorf("%d entries and %d fences, want 3 and 1", entries, fences)
	}
}

// A batch that was not written is written by the second attempt, unless a standby
// has taken over in between: the lookup on the old server may be out of date.
func TestBatchThatDidNotGetThroughIsWrittenOnTheSameServerOnly(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	j, err := Open(t.Context(), pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	for timeline, want := range map[string]int{"00000001": 2, "00000002": 0} {
		before, _ := counts(t, pool)
		b := sealed(t, j, 2)
		b.timeline = timeline
		if err := j.settle(t.Context(), b, pg.ErrUnknown); (err == nil) != (want > 0) {
			t.Errorf("on timeline %s: %v", timeline, err)
		}
		if after, fences := counts(t, pool); after-before != want || fences != 0 {
			t.Errorf("on timeline %s: %d entries and %d fences, want %d and none", timeline, after-before, fences, want)
		}
	}
}

// A connection that breaks during the commit leaves the outcome unknown; the
// batch is retried under its key, and exists once.
func TestConnectionThatBreaksDuringTheCommitIsSettled(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	pool, super := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	// The commit takes half a second the first time.
	_, err := super.Exec(t.Context(), `CREATE SEQUENCE slow; GRANT USAGE ON SEQUENCE slow TO lineproof_serve;
		CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('slow') = 1 THEN PERFORM pg_sleep(30); END IF; RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON journal_batch DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Open(t.Context(), pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		b := sealed(t, j, 2)
		done <- j.Record(ctx, func(pg.DB) ([]record.Entry, error) { return b.entries, nil })
	}()
	for killed := 0; killed == 0; {
		if err := super.QueryRow(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'commit%' AND state = 'active'`).Scan(&killed); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Errorf("Record = %v, want the batch to be settled", err)
	}
	if entries, _ := counts(t, super); entries != 2 {
		t.Errorf("%d entries, want 2", entries)
	}
}

// While the outcome of a batch cannot be determined, it stays unknown, and the wait
// for it ends at the deadline.
func TestOutcomeStaysUnknownWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	j, err := Open(t.Context(), pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	b := sealed(t, j, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	pool.Close()
	begin := time.Now()
	if err := j.settle(ctx, b, pg.ErrUnknown); !errors.Is(err, pg.ErrUnknown) || time.Since(begin) > 3*time.Second {
		t.Errorf("settle = %v after %s, want unknown when the time is up", err, time.Since(begin))
	}
}
