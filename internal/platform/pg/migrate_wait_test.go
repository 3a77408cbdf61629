package pg_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// plus returns the program's migrations and others.
func plus(t *testing.T, others map[string]string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	names, err := fs.Glob(pg.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(pg.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: text}
	}
	for name, text := range others {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

// hold opens a transaction that has read a table, as a report or a forgotten psql does.
func hold(t *testing.T, url, table string) pgx.Tx {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url+"&application_name=forgotten")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT count(*), pg_current_xact_id() FROM "+table); err != nil {
		t.Fatal(err)
	}
	return tx
}

// slowest runs a query without a pause until done is closed, and returns how long it took at
// most.
func slowest(t *testing.T, pool *pgxpool.Pool, sql string, done <-chan struct{}) (longest time.Duration) {
	t.Helper()
	for {
		select {
		case <-done:
			return longest
		default:
		}
		begin := time.Now()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Errorf("a query beside the migration: %v", err)
		}
		longest = max(longest, time.Since(begin))
	}
}

// told keeps what a migration reports.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (s *told) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *told) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

const addColumn = "-- +goose Up\nALTER TABLE line_now ADD COLUMN remark text;\n-- +goose Down\n"

// While a transaction keeps a table open, a migration of that table waits, says for whom, and
// delays nobody else for long; then it is applied.
func TestMigrationThatWaitsDelaysNobody(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	tx, pool := hold(t, url, "line_now"), pgtest.Open(t, url, pg.Serve)
	done := make(chan struct{})
	var said told
	var failed error
	go func() {
		defer close(done)
		_, failed = pg.MigrateFrom(context.Background(), url, plus(t, map[string]string{"90001_remark.sql": addColumn}), pg.MigrateOptions{Waiting: said.add})
	}()
	released := make(chan error, 1)
	time.AfterFunc(4*time.Second, func() { released <- tx.Rollback(context.Background()) })
	longest := slowest(t, pool, "SELECT count(*) FROM line_now", done)
	if err := <-released; err != nil { // the migration can be done before the one that let it through
		t.Errorf("end the transaction: %v", err)
	}
	if failed != nil {
		t.Fatalf("Migrate = %v", failed)
	}
	if longest > 3*time.Second {
		t.Errorf("a query waited %s behind the migration", longest)
	}
	for _, want := range []string{"90001_remark waits: process ", "forgotten", "line_now"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the reports do not say %q:\n%s", want, said.String())
		}
	}
}

// A migration that does not get its lock in time changes nothing and says who holds it.
func TestMigrationWithoutItsLockSaysWhoHoldsIt(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	hold(t, url, "line_now")
	applied, err := pg.MigrateFrom(t.Context(), url, plus(t, map[string]string{"90001_remark.sql": addColumn}), pg.MigrateOptions{LockWait: time.Second})
	if !errors.Is(err, pg.ErrMigrationLocked) || len(applied) != 0 || !strings.Contains(fmt.Sprint(err), "(forgotten, login postgres) holds a lock on line_now") {
		t.Errorf("Migrate = %v, %v; want ErrMigrationLocked that names the session", applied, err)
	}
}

// An index that is built concurrently waits for the transactions before it, for as long as they
// take: it blocks nobody. One that was interrupted is built again.
func TestConcurrentIndexWaitsForOlderTransactions(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	super := pgtest.Open(t, url, "")
	index, err := os.ReadFile(filepath.Join("testdata", "next", "90005_index.sql"))
	if err != nil {
		t.Fatal(err)
	}
	files := plus(t, map[string]string{"90005_index.sql": string(index)})
	tx := hold(t, url, "entity") // its snapshot is older than the index
	brief, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if applied, err := pg.MigrateFrom(brief, url, files, pg.MigrateOptions{}); err == nil || len(applied) > 0 {
		t.Errorf("Migrate beside an older transaction = %v, %v; want that it waits", applied, err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if applied, err := pg.MigrateFrom(t.Context(), url, files, pg.MigrateOptions{}); err != nil || len(applied) != 1 {
		t.Errorf("Migrate again = %v, %v", applied, err)
	}
	var valid bool
	if err := super.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = 'line_now_state_since'::regclass`).Scan(&valid); err != nil || !valid {
		t.Errorf("the index is valid: %t, %v", valid, err)
	}
}

// A migration does not wait until autovacuum has read a large table: that can take hours.
func TestMigrationInterruptsAutovacuum(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	c, err := pgtest.Start(t.Context(), pgtest.Quick, "autovacuum = on", "autovacuum_naptime = 1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	if err := c.MakeTemplate(t.Context()); err != nil {
		t.Fatal(err)
	}
	name, err := c.Clone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	url := c.URL(name)
	super := pgtest.Open(t, url, "")
	for _, sql := range []string{
		`ALTER TABLE line_now SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)`,
		`INSERT INTO line_now (number, version, baseline, network, state, bits) SELECT n, 1, 1, 1, 1, 0 FROM generate_series(1, 20000) n`,
		`DELETE FROM line_now WHERE number % 2 = 0`,
	} {
		if _, err := super.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	vacuuming := func() (n int) {
		if err := super.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = 'line_now'::regclass`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); vacuuming() == 0; <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("autovacuum does not start")
		}
	}
	var said told
	if _, err := pg.MigrateFrom(t.Context(), url, plus(t, map[string]string{"90001_remark.sql": addColumn}), pg.MigrateOptions{LockWait: time.Minute, Waiting: said.add}); err != nil {
		t.Errorf("Migrate during autovacuum = %v\n%s", err, said.String())
	}
	if !strings.Contains(said.String(), "autovacuum of line_now") {
		t.Errorf("the reports do not name autovacuum:\n%s", said.String())
	}
}
