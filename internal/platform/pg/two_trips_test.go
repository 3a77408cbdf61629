package pg_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// noted is a table of numbers, none of which may be there twice.
func noted(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := pgtest.Open(t, pgtest.URL(t), "")
	if _, err := pool.Exec(t.Context(), `CREATE TABLE noted (n integer PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	return pool
}

func count(t *testing.T, from pg.DB) (n int) {
	t.Helper()
	if err := from.QueryRow(t.Context(), `SELECT count(*) FROM noted`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func note(n byte) *pg.Final {
	return &pg.Final{Name: "note", SQL: `INSERT INTO noted VALUES ($1) RETURNING n`, Values: [][]byte{{0, 0, 0, n}}}
}

func TestTwoTripsReadOneSnapshotAndCommit(t *testing.T) {
	t.Parallel()
	pool := noted(t)
	for i := range byte(3) {
		row, err := pg.InTwoTrips(t.Context(), pool, func(s *pg.Snapshot) (*pg.Final, error) {
			queries := &pgx.Batch{}
			queries.Queue(`SELECT count(*) FROM noted`)
			var before int
			results := s.SendBatch(t.Context(), queries)
			if err := errors.Join(results.QueryRow().Scan(&before), results.Close()); err != nil {
				return nil, err
			}
			if _, err := pool.Exec(t.Context(), `INSERT INTO noted VALUES ($1)`, 100+int(i)); err != nil {
				return nil, err
			}
			if after := count(t, s); after != before {
				t.Errorf("the snapshot has %d rows and then %d", before, after)
			}
			if len(s.Timeline) != 8 {
				t.Errorf("timeline %q", s.Timeline)
			}
			return note(i), nil
		})
		if err != nil || len(row) != 1 || row[0][3] != i {
			t.Fatalf("row %v, %v", row, err)
		}
	}
	if n := count(t, pool); n != 6 {
		t.Errorf("%d rows, want 6", n)
	}
}

func TestTwoTripsWithoutAStatementOrWithAnErrorCommitNothing(t *testing.T) {
	t.Parallel()
	pool := noted(t)
	own := errors.New("own")
	for _, want := range []error{nil, own} {
		_, err := pg.InTwoTrips(t.Context(), pool, func(s *pg.Snapshot) (*pg.Final, error) {
			if _, err := s.Exec(t.Context(), `INSERT INTO noted VALUES (1)`); err != nil {
				t.Fatal(err)
			}
			return nil, want
		})
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if n := count(t, pool); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}

// What the server refuses is certainly not written, and the connection is as good as
// before.
func TestTwoTripsReportARefusedStatementAsCertain(t *testing.T) {
	t.Parallel()
	pool := noted(t)
	write := func(ctx context.Context) error {
		_, err := pg.InTwoTrips(ctx, pool, func(*pg.Snapshot) (*pg.Final, error) { return note(7), nil })
		return err
	}
	if err := write(t.Context()); err != nil {
		t.Fatal(err)
	}
	opened := pool.Stat().NewConnsCount()
	for range 5 {
		if err := write(t.Context()); pg.Violated(err) != "noted_pkey" || !pg.Refused(err) || errors.Is(err, pg.ErrUnknown) {
			t.Fatalf("the second time: %v", err)
		}
	}
	if pool.Stat().NewConnsCount() != opened {
		t.Error("a refused statement cost its connection")
	}
	if n := count(t, pool); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// A caller that has gone before the statement was sent leaves nothing behind.
func TestTwoTripsSendNothingForACallerThatHasGone(t *testing.T) {
	t.Parallel()
	pool := noted(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := pg.InTwoTrips(ctx, pool, func(s *pg.Snapshot) (*pg.Final, error) {
		count(t, s)
		cancel()
		return note(1), nil
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, pg.ErrUnknown) {
		t.Errorf("got %v", err)
	}
	if n := count(t, pool); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}

// A connection that ends is not the fault of the statement: it may be sent again.
func TestTwoTripsWhoseConnectionEndsAreNotTakenForRefused(t *testing.T) {
	t.Parallel()
	pool := noted(t)
	locker, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locker.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := locker.Exec(t.Context(), `INSERT INTO noted VALUES (3)`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := pg.InTwoTrips(t.Context(), pool, func(s *pg.Snapshot) (*pg.Final, error) {
			_, err := s.Exec(t.Context(), `SET LOCAL lock_timeout = 0`)
			return note(3), err
		})
		done <- err
	}()
	// Not in the transaction of the locker: there pg_stat_activity stays as it was first read.
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ended := false; !ended; {
		err := pool.QueryRow(soon, `SELECT coalesce(bool_or(pg_terminate_backend(pid)), false) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO noted%' AND datname = current_database()`).Scan(&ended)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err == nil || pg.Refused(err) {
		t.Errorf("got %v, want that the database is not available", err)
	}
}
