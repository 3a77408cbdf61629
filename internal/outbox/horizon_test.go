package outbox_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/outbox"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func number(i int) phone.Number {
	n, _ := phone.FromInt(2348030000000 + int64(i))
	return n
}

const (
	hotNumbers = 200
	hotWriters = 24
)

var errAborted = errors.New("the writer changed its mind")

// writeHot lets many writers change few numbers until there are enough changes, as
// supply does: lock the rows, change them, append, commit. One in ten rolls back. It
// returns how many changes of each number were committed.
func writeHot(t *testing.T, pool *pgxpool.Pool, changes int64) (committed [hotNumbers]int32) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `CREATE TABLE hot AS SELECT i AS number, 0 AS version FROM generate_series(0, $1::int - 1) AS i`, hotNumbers)
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	left.Store(changes)
	var mu sync.Mutex
	var writers sync.WaitGroup
	for w := range hotWriters {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 7))
			for left.Add(-1) >= 0 {
				i := random.IntN(hotNumbers)
				var version int32
				err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
					if err := tx.QueryRow(t.Context(), `UPDATE hot SET version = version + 1 WHERE number = $1 RETURNING version`, i).Scan(&version); err != nil {
						return err
					}
					if err := outbox.Append(t.Context(), tx, outbox.Change{Number: number(i), FromVersion: version - 1, Version: version, Kind: outbox.Swapped}); err != nil {
						return err
					}
					if random.IntN(20) == 0 {
						pause(t.Context(), time.Duration(random.IntN(20))*time.Millisecond)
					}
					if random.IntN(10) == 0 {
						return errAborted
					}
					return nil
				})
				if err != nil && !errors.Is(err, errAborted) {
					t.Error(err)
					return
				}
				if err == nil {
					mu.Lock()
					committed[i] = max(committed[i], version)
					mu.Unlock()
				}
			}
		})
	}
	writers.Wait()
	return committed
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// follower reads changes until it is told to stop, and checks them.
type follower struct {
	seen             [hotNumbers]int32 // the version of each number that was read last
	read, disordered int64
	worst            time.Duration // between two reads that brought something
}

func (f *follower) take(changes []outbox.Change) {
	for _, c := range changes {
		i := c.Number.Int() - 2348030000000
		if c.Version != f.seen[i]+1 {
			f.disordered++
		}
		f.seen[i] = max(f.seen[i], c.Version)
		f.read++
	}
}

func follow(t *testing.T, stop <-chan struct{}, read func(mark int64) ([]outbox.Change, int64, error)) *follower {
	t.Helper()
	f := &follower{}
	var mark int64
	last := time.Now()
	for stopping := false; ; {
		changes, next, err := read(mark)
		if err != nil {
			t.Error(err)
			return f
		}
		f.take(changes)
		mark = next
		if len(changes) > 0 {
			f.worst, last = max(f.worst, time.Since(last)), time.Now()
			continue
		}
		if stopping {
			return f
		}
		select {
		case <-stop:
			stopping = true // and read what came meanwhile
		case <-time.After(time.Millisecond):
		}
	}
}

func total(of [hotNumbers]int32) (sum int64) {
	for _, n := range of {
		sum += int64(n)
	}
	return sum
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
// number in their order, while many writers change few numbers and some roll back, and
// although somebody else keeps a transaction open all the time, for which it does not
// wait. A reader that asks for what is above its last n misses some: the test is able
// to find a loss.
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
	defer func() { _ = foreign.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := foreign.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; CREATE TABLE foreign_work (i int)`); err != nil {
		t.Fatal(err)
	}

	stop := make(chan struct{})
	var byHorizon, naive *follower
	var readers sync.WaitGroup
	readers.Go(func() {
		byHorizon = follow(t, stop, func(mark int64) ([]outbox.Change, int64, error) { return outbox.Read(t.Context(), pool, mark, 500) })
	})
	readers.Go(func() {
		naive = follow(t, stop, func(mark int64) (changes []outbox.Change, next int64, err error) {
			rows, err := pool.Query(t.Context(), `SELECT n, number, version FROM line_change WHERE n > $1 ORDER BY n LIMIT 500`, mark)
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
		})
	})
	committed := writeHot(t, pool, changesToTry(t))
	close(stop)
	readers.Wait()
	if t.Failed() {
		return
	}

	want := total(committed)
	if byHorizon.read != want || byHorizon.seen != committed || byHorizon.disordered != 0 {
		t.Errorf("by the horizon: %d of %d changes read, %d out of order", byHorizon.read, want, byHorizon.disordered)
	}
	if naive.read >= want {
		t.Errorf("the control reader missed nothing of %d changes: the test shows nothing", want)
	}
	t.Logf("%d changes; control reader: %d missed, %d out of order; longest wait of the reader by the horizon %v", want, want-naive.read, naive.disordered, byHorizon.worst)
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
