package publiclog_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

const origin = "lineproof.example/log/0/2027"

// begun is the size of a log that has just begun: it has an entry about the policy.
const begun = 1

func openLog(t *testing.T, pool *pgxpool.Pool) *publiclog.Log {
	t.Helper()
	l := &publiclog.Log{Pool: pool, Origin: origin}
	if err := l.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// addBatch writes a batch of the journal.
func addBatch(ctx context.Context, to pg.DB, epoch, n int64) error {
	root := sha256.Sum256(fmt.Append(nil, epoch, n))
	_, err := to.Exec(ctx, `INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES ('a', $1, $2, date_trunc('milliseconds', clock_timestamp()), 3, $3)`, epoch, n, root[:])
	return err
}

func tick(t *testing.T, l *publiclog.Log, want int) {
	t.Helper()
	if added, err := l.Tick(t.Context()); err != nil || added.Entries != want {
		t.Fatalf("a tick added %d, %v; want %d", added.Entries, err, want)
	}
}

func wantNothingFound(t *testing.T, pool *pgxpool.Pool) publiclog.Report {
	t.Helper()
	r, err := publiclog.Check(t.Context(), pool, nil)
	if err != nil || len(r.Found) > 0 {
		t.Fatalf("the check found %v, %v", r.Found, err)
	}
	return r
}

// Every batch that is committed is in the log once, and none that is not, however
// transactions overlap and however many nodes add entries.
func TestEveryCommittedBatchIsInTheLogOnce(t *testing.T) {
	t.Parallel()
	const writers, batches, nodes = 6, 60, 3
	pool := pgtest.New(t)
	first := openLog(t, pool)
	var done atomic.Bool
	var writing, ticking sync.WaitGroup
	for epoch := range int64(writers) {
		writing.Go(func() {
			for n := range int64(batches) {
				err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
					if err := addBatch(t.Context(), tx, epoch, n); err != nil {
						return err
					}
					<-time.After(rand.N(20 * time.Millisecond))
					if n%7 == 3 {
						return errAborted
					}
					return nil
				})
				if err != nil && (n%7 != 3 || err != errAborted) { //nolint:errorlint // returned unchanged
					t.Error(err)
				}
			}
		})
	}
	for range nodes {
		ticking.Go(func() {
			l := &publiclog.Log{Pool: pool, Origin: origin}
			for !done.Load() {
				if _, err := l.Tick(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	done.Store(true)
	ticking.Wait()
	if _, err := first.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	var committed, logged, different int64
	err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_batch), (SELECT count(*) FROM log_entry WHERE kind = 1), (SELECT count(DISTINCT (epoch, n)) FROM log_entry WHERE kind = 1)`).
		Scan(&committed, &logged, &different)
	if err != nil || committed == 0 || committed != logged || logged != different {
		t.Errorf("%d batches are committed, %d are in the log, %d of them different, %v", committed, logged, different, err)
	}
	if r := wantNothingFound(t, pool); r.Size != committed+begun || r.Checkpoints < 2 {
		t.Errorf("the log has the size %d and %d checkpoints", r.Size, r.Checkpoints)
	}
}

var errAborted = errors.New("aborted")

// A transaction that stays open delays its own batch and no other. The rule that waits
// until no older transaction is open would delay all of them.
func TestAnOpenTransactionDelaysNoOtherBatch(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	l := openLog(t, pool)
	long, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = long.Rollback(context.WithoutCancel(t.Context())) }()
	if err := addBatch(t.Context(), long, 1, 1); err != nil {
		t.Fatal(err)
	}
	for n := range int64(3) {
		if err := addBatch(t.Context(), pool, 2, n); err != nil {
			t.Fatal(err)
		}
		tick(t, l, 1)
	}
	var byAge int
	err = pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_batch WHERE xact < pg_snapshot_xmin(pg_current_snapshot())`).Scan(&byAge)
	if err != nil || byAge != 0 {
		t.Errorf("the other rule would add %d, %v; want 0, or this test shows nothing", byAge, err)
	}
	if err := long.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	tick(t, l, 1)
	tick(t, l, 0)
	wantNothingFound(t, pool)
}

// A database that was loaded into another cluster counts transactions anew. What is not in
// the log is added once, by its key.
func TestALoadedDatabaseGoesOnWithItsLog(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	pool, owner := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	l := openLog(t, pool)
	for n := range int64(3) {
		if err := addBatch(t.Context(), pool, 1, n); err != nil {
			t.Fatal(err)
		}
	}
	tick(t, l, 3)
	if err := addBatch(t.Context(), pool, 1, 3); err != nil {
		t.Fatal(err)
	}
	// As if all had been loaded: by transactions that the snapshot takes for later ones.
	if _, err := owner.Exec(t.Context(), `UPDATE log_head SET system = system - 1, seen = '1:1:'`); err != nil {
		t.Fatal(err)
	}
	tick(t, l, 1)
	tick(t, l, 0)
	if r := wantNothingFound(t, pool); r.Size != 4+begun {
		t.Errorf("the log has %d entries", r.Size)
	}
}

// The origin is the name of the log, and another one would be another log.
func TestALogKeepsItsOrigin(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	openLog(t, pool)
	openLog(t, pool)
	other := &publiclog.Log{Pool: pool, Origin: "other.example/log"}
	if err := other.Open(t.Context()); err == nil {
		t.Error("the log was opened under another origin")
	}
}
