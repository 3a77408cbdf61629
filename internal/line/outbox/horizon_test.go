package outbox_test

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

func number(i int) phone.Number {
	n, _ := phone.FromInt(2348030000000 + int64(i))
	return n
}

// changesToTry is how many changes the writers make; LINEPROOF_E2E_CHANGES sets it for the
// night.
func changesToTry(t *testing.T) int64 {
	t.Helper()
	if n, err := strconv.ParseInt(os.Getenv("LINEPROOF_E2E_CHANGES"), 10, 64); err == nil {
		return n
	}
	return 6_000
}

// A reader by the horizon misses no change, gets none twice, and gets those of a
// number in their order, while many writers change few numbers and some roll back. Somebody
// else has a transaction open for a minute, or until half of the changes are made, and the
// reader does not wait for it. A reader that asks for what is above its last n misses
// some: the test is able to find a loss.
func TestNoChangeIsMissed(t *testing.T) {
	t.Parallel()

	url := pgtest.URL(t)
	pool, err := pg.Open(t.Context(), url, pg.Options{Conns: hotWriters + 6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	foreign, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; CREATE TABLE foreign_work (i int)`); err != nil {
		t.Fatal(err)
	}
	var foreignEnded time.Time
	endForeign := sync.OnceFunc(func() {
		foreignEnded = time.Now()
		if err := foreign.Rollback(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})

	stop := make(chan struct{})
	var byHorizon, naive *follower
	var readers sync.WaitGroup
	readers.Go(func() {
		byHorizon = follow(t, stop, func(mark int64) ([]outbox.Change, int64, error) {
			return outbox.Read(t.Context(), pool, mark, readAtOnce)
		})
	})
	readers.Go(func() {
		naive = follow(t, stop, func(mark int64) (changes []outbox.Change, next int64, err error) {
			return readNaively(t.Context(), pool, mark)
		})
	})
	h, tried, begin := &hot{pool: pool}, changesToTry(t), time.Now()
	h.write(t, tried, func(made int64) {
		if time.Since(begin) > time.Minute || made >= tried/2 {
			endForeign()
		}
	})
	took := time.Since(begin)
	close(stop)
	readers.Wait()
	if t.Failed() {
		return
	}

	last, want := h.committed()
	if byHorizon.read != want || byHorizon.seen != last || byHorizon.disordered != 0 {
		t.Errorf("by the horizon: %d of %d changes read, %d out of order", byHorizon.read, want, byHorizon.disordered)
	}
	if naive.read >= want {
		t.Errorf("the control reader missed nothing of %d changes: the test shows nothing", want)
	}
	open, alone := h.delay(byHorizon, foreignEnded)
	t.Logf("%d changes, %.0f a second; control reader: %d missed, %d out of order; p99 from commit to reader %v while a foreign transaction was open for %v, and %v after it",
		want, float64(want)/took.Seconds(), want-naive.read, naive.disordered, open, foreignEnded.Sub(begin).Round(time.Second), alone)
	if tried >= 100_000 && open > 2*alone { // fewer are too few to compare
		t.Errorf("with a foreign transaction the p99 is %v, without %v", open, alone)
	}
}

// readNaively is the reader that must not be: it goes on after the last n that it has read.
func readNaively(ctx context.Context, pool *pgxpool.Pool, mark int64) (changes []outbox.Change, next int64, err error) {
	rows, err := pool.Query(ctx, `SELECT n, number, version FROM line_change WHERE n > $1 ORDER BY n LIMIT $2`, mark, readAtOnce)
	if err != nil {
		return nil, mark, err
	}
	defer rows.Close()
	for next = mark; rows.Next(); {
		var c outbox.Change
		var key int64
		if err := rows.Scan(&next, &key, &c.Version); err != nil {
			return nil, mark, err
		}
		c.Number, _ = phone.FromInt(key)
		changes = append(changes, c)
	}
	return changes, next, rows.Err()
}

// The horizon is never ahead of the sequence. While nextval writes to the log of the database,
// which it does for 32 numbers at once, the row of the sequence has the last of these: who
// reads the row may get it, and would skip all changes up to there.
func TestHorizonIsNotAheadOfTheSequence(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			for ctx.Err() == nil {
				_, _ = pool.Exec(ctx, `SELECT count(nextval('line_change_n')) FROM generate_series(1, 1000)`)
			}
		})
	}
	for range 10_000 {
		horizon, err := outbox.Horizon(t.Context(), pool)
		if err != nil {
			t.Error(err)
			break
		}
		var last int64
		if err := pool.QueryRow(t.Context(), `SELECT nextval('line_change_n')`).Scan(&last); err != nil || horizon >= last {
			t.Errorf("the horizon is %d, and the next number %d: %v", horizon, last, err)
			break
		}
	}
	stop()
	writers.Wait()
}

// The reader waits for a writer that has appended and not committed, and for nobody
// else; a rolled-back writer leaves only a gap.
func TestReaderWaitsForOpenWriters(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	read := func(mark int64) ([]outbox.Change, int64) {
		t.Helper()
		changes, next, err := outbox.Read(t.Context(), pool, mark, 100)
		if err != nil {
			t.Fatal(err)
		}
		return changes, next
	}
	if changes, next := read(0); len(changes) != 0 || next != 0 {
		t.Fatalf("an empty outbox: %v, mark %d", changes, next)
	}
	open, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := outbox.Append(t.Context(), open, outbox.Change{Number: number(1), Version: 2, Kind: outbox.Swapped}); err != nil {
		t.Fatal(err)
	}
	later := func(tx pg.Tx) error {
		return outbox.Append(t.Context(), tx, outbox.Change{Number: number(2), Version: 2, Kind: outbox.Barred})
	}
	if err := pg.InTx(t.Context(), pool, later); err != nil {
		t.Fatal(err)
	}
	if changes, next := read(0); len(changes) != 0 || next != 0 {
		t.Fatalf("while the first writer is open: %v, mark %d", changes, next)
	}
	if err := open.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes, next := read(0)
	if len(changes) != 1 || changes[0].Number != number(2) || changes[0].Kind != outbox.Barred {
		t.Fatalf("after it was rolled back: %v", changes)
	}
	if err := pg.InTx(t.Context(), pool, later); err != nil {
		t.Fatal(err)
	}
	if changes, _ := read(next); len(changes) != 1 {
		t.Fatalf("after the mark: %v", changes)
	}
}

// Changes are kept for a week, and until every reader has read them.
func TestOldChangesAreDeleted(t *testing.T) {
	t.Parallel()

	pool, now := pgtest.NewAnyTime(t), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, days := range []int{9, 8, 6, 0} {
		c := outbox.Change{Number: number(days), Version: 1, Kind: outbox.Swapped, ReportedAt: now.AddDate(0, 0, -days)}
		if err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return outbox.Append(t.Context(), tx, c) }); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := outbox.DeleteOld(t.Context(), pool, now); n != 0 || err != nil {
		t.Fatalf("%d deleted that the feed had not read, %v", n, err)
	}
	if err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return outbox.MoveMark(t.Context(), tx, 3) }); err != nil {
		t.Fatal(err)
	}
	if n, err := outbox.DeleteOld(t.Context(), pool, now); n != 0 || err != nil {
		t.Fatalf("%d deleted that other readers had not read, %v", n, err)
	}
	for _, reader := range []string{"impact", "impact-recent"} {
		moved := false
		err := pg.InTx(t.Context(), pool, func(tx pg.Tx) (err error) {
			moved, err = outbox.AdvanceMark(t.Context(), tx, reader, 0, 3)
			return err
		})
		if !moved || err != nil {
			t.Fatalf("the mark of %s: moved %v, %v", reader, moved, err)
		}
	}
	if n, err := outbox.DeleteOld(t.Context(), pool, now); n != 2 || err != nil {
		t.Fatalf("%d deleted, %v", n, err)
	}
	if left, _, err := outbox.Read(t.Context(), pool, 0, 10); len(left) != 2 || left[0].Number != number(6) || err != nil {
		t.Fatalf("left: %v, %v", left, err)
	}
}
