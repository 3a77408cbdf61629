package pg_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var update = flag.Bool("update", false, "rewrite schema.sql and rights.txt")

var dumpNoise = regexp.MustCompile(`(?m)^(-- (Dumped|TOC|Name: SCHEMA).*|\\(un)?restrict .*|SET .*|SELECT pg_catalog\.set_config.*|--|)\n`)

// The file schema.sql at the root is the schema that the migrations create, so that a review
// sees the schema and not only its changes.
func TestSchemaFileIsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if _, err := pg.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	dump, err := exec.CommandContext(t.Context(), "pg_dump", "--schema-only", "--no-owner", url).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	got := "-- What the migrations make. Written by: make generate\n\n" + dumpNoise.ReplaceAllString(string(dump), "")
	compareFile(t, "../../../schema.sql", got)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rights, err := pg.Rights(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	compareFile(t, "rights.txt", strings.Join(rights, "\n")+"\n")
}

// compareFile compares a generated file with what it should be.
func compareFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale; run make generate (-file +migrations):\n%s", path, diff)
	}
}

// Migrating is safe to repeat and safe to do from several processes at once.
func TestMigrateTwiceAndAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	errs := make(chan error, 3)
	for range cap(errs) {
		go func() {
			_, err := pg.Migrate(context.Background(), url)
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Errorf("Migrate beside others: %v", err)
		}
	}
	applied, err := pg.Migrate(t.Context(), url)
	if err != nil || len(applied) != 0 {
		t.Errorf("Migrate again = %v, %v; want nothing applied", applied, err)
	}
	if err := pg.CheckSchema(t.Context(), pgtest.Open(t, url, pg.Serve)); err != nil {
		t.Errorf("CheckSchema after Migrate: %v", err)
	}
}

// Going down removes everything that going up has created, so that each Down part
// matches its Up part, and going up again works.
func TestMigrationsGoDownAndUpAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	pool := pgtest.Open(t, url, "")
	if _, err := pg.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, pg.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	// River's own migrations are not part of this.
	var left []string
	err = pool.QueryRow(t.Context(), `SELECT coalesce(array_agg(name), '{}') FROM (
		SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S', 'v')
		UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace) o (name)
		WHERE name !~ '^(river_|goose_)'`).Scan(&left)
	if err != nil || len(left) != 0 {
		t.Errorf("after going down there are %v, %v; want nothing", left, err)
	}
	if applied, err := pg.Migrate(t.Context(), url); err != nil || len(applied) == 0 {
		t.Errorf("Migrate after going down = %v, %v", applied, err)
	}
}

func TestErrorForAMissingSchemaNamesTheCommand(t *testing.T) {
	t.Parallel()
	err := pg.CheckSchema(t.Context(), pgtest.Open(t, pgtest.Empty(t), ""))
	if !errors.Is(err, pg.ErrSchema) || !strings.Contains(err.Error(), "lineproof migrate") {
		t.Errorf("CheckSchema = %v, want ErrSchema that names the command", err)
	}
}

// A smallint is a code or the id of a network, and a code that the program does not know can't
// be stored. Plain counts have larger types.
func TestEveryCodeHasARange(t *testing.T) {
	t.Parallel()
	networks := []string{"network.id", "network", "peer", "from_network", "base_network"}
	rows, err := pgtest.New(t).Query(t.Context(), `SELECT c.relname || '.' || a.attname, a.attname = ANY($1) OR c.relname || '.' || a.attname = ANY($1),
			EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND a.attnum = ANY(k.conkey))
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT LIKE 'river%'
			AND a.atttypid = 'int2'::regtype AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1`, networks)
	if err != nil {
		t.Fatal(err)
	}
	var column string
	var isNetwork, checked bool
	codes := 0
	_, err = pgx.ForEachRow(rows, []any{&column, &isNetwork, &checked}, func() error {
		if !isNetwork {
			codes++
		}
		if !isNetwork && !checked {
			t.Errorf("%s has no CHECK of its range, and is not the id of a network", column)
		}
		return nil
	})
	if err != nil || codes < 25 {
		t.Errorf("%d codes were looked at: %v", codes, err)
	}
}

// Every table has a comment that says what it is for.
func TestEveryTableHasAComment(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	rows, err := pool.Query(t.Context(), `SELECT c.relname FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
		WHERE s.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND obj_description(c.oid) IS NULL`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		t.Errorf("table %s has no comment", name)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// Lines and the journal have no foreign keys: it must be possible to move them to
// another cluster and to detach daily partitions.
func TestLinesAndJournalHaveNoForeignKeys(t *testing.T) {
	t.Parallel()
	var keys []string
	err := pgtest.New(t).QueryRow(t.Context(), `SELECT coalesce(array_agg(conname::text), '{}') FROM pg_constraint
		WHERE contype = 'f' AND (conrelid::regclass::text ~ '^(line|network|journal_)' OR confrelid::regclass::text ~ '^(line|network|journal_)')`).Scan(&keys)
	if err != nil || len(keys) != 0 {
		t.Errorf("foreign keys %v, %v; want none", keys, err)
	}
}

// The serving role can neither change the schema nor rewrite evidence, and the
// reading role can write nothing.
func TestRolesAreRefusedWhatTheyMustNotDo(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for role, statements := range map[string][]string{
		pg.Serve: {
			"CREATE TABLE x (i int)", "DROP TABLE entity", "ALTER TABLE entity ADD x int", "CREATE ROLE x", "TRUNCATE idempotency",
			"UPDATE journal_entry SET status = 'x'", "DELETE FROM journal_entry", "TRUNCATE journal_entry",
			"UPDATE journal_batch SET count = 2", "DELETE FROM journal_batch", "UPDATE audit SET action = 'x'", "DELETE FROM audit",
			"DELETE FROM entity", "DELETE FROM line_now", "UPDATE line_event SET kind = 1", "SELECT setval('journal_epoch', 1)", "SET ROLE lineproof_owner",
		},
		pg.Read: {
			"CREATE TABLE x (i int)", "INSERT INTO network VALUES (1, 'x')", "UPDATE line_now SET state = 1", "DELETE FROM session",
			"SELECT journal_make_partitions(1)", "SELECT nextval('journal_epoch')", "SELECT line_delete_baselines(1, 0, 1)",
			"SELECT password_hash FROM account", "SELECT mac FROM api_key", "SELECT mac FROM session", "SELECT mac FROM access_token",
			"SELECT mac FROM client_secret", "SELECT answer FROM idempotency", "SELECT name FROM access_channel",
		},
	} {
		pool := loginAs(t, url, role)
		for _, sql := range statements {
			_, err := pool.Exec(t.Context(), sql)
			if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
				t.Errorf("%s: %q gave %v, want permission denied", role, sql, err)
			}
		}
	}
}

// PostgreSQL lets every login send notifications. The reading role can't learn the
// name of the channel on which nodes listen, so what it sends reaches none of them;
// and it can't fill the disk with temporary tables.
func TestReadingRoleReachesNoNode(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if _, err := pg.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	var channel string
	if err := pgtest.Open(t, url, pg.Serve).QueryRow(t.Context(), "SELECT name FROM access_channel").Scan(&channel); err != nil || len(channel) < 32 {
		t.Fatalf("the channel is %q, %v", channel, err)
	}
	listener := pgtest.Open(t, url, pg.Serve)
	if _, err := listener.Exec(t.Context(), "LISTEN "+channel); err != nil {
		t.Fatal(err)
	}
	reader := loginAs(t, url, pg.Read)
	var seen int
	err := reader.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_proc WHERE prosrc LIKE '%' || $1 || '%')
		+ (SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%' || $1 || '%')`, channel).Scan(&seen)
	if err != nil || seen != 0 {
		t.Errorf("the reading role finds the channel %d times, %v", seen, err)
	}
	_, err = reader.Exec(t.Context(), "CREATE TEMPORARY TABLE x AS SELECT generate_series(1, 10)")
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
		t.Errorf("a temporary table: %v, want permission denied", err)
	}
}

// The serving role can do its work: the test above would also pass for a role
// without any rights.
func TestServingRoleCanReadAndInsertEvidence(t *testing.T) {
	t.Parallel()
	pool := loginAs(t, pgtest.URL(t), pg.Serve)
	for _, sql := range []string{
		"INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES ('a', nextval('journal_epoch'), 1, now(), 1, sha256('x'))",
		"SELECT * FROM journal_entry", "SELECT * FROM audit", "SELECT password_hash FROM account", "SELECT mac FROM api_key", "SELECT journal_make_partitions(9)", "SELECT * FROM goose_db_version", "SELECT * FROM river_job",
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Errorf("%q: %v", sql, err)
		}
	}
}

func TestInTxCommitsRollsBackAndKeepsFaults(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	insert := func(tx pg.Tx, id int) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO network VALUES ($1, 'n' || $2::text)", id, strconv.Itoa(id))
		return err
	}
	if err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return insert(tx, 1) }); err != nil {
		t.Fatal(err)
	}
	sentinel := fault.New(fault.NotFound, "x")
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return errors.Join(insert(tx, 2), sentinel) })
	if !errors.Is(err, sentinel) {
		t.Errorf("InTx = %v, want the fault of fn", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	err = pg.InTx(cancelled, pool, func(tx pg.Tx) error { defer cancel(); return insert(tx, 3) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("InTx for a caller that cancelled = %v, want context.Canceled", err)
	}
	err = pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return insert(tx, 1) })
	if pg.Violated(err) != "network_pkey" || pg.IsUnavailable(err) {
		t.Errorf("InTx with a duplicate key = %v", err)
	}
	var n int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM network").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v; want 1", n, err)
	}
}

// A setting of the database cannot turn off durable commits.
func TestSessionsCommitDurablyWhateverTheDatabaseIsSetTo(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	super := pgtest.Open(t, url, "")
	var name string
	if err := super.QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := super.Exec(t.Context(), "ALTER DATABASE "+name+" SET synchronous_commit = off"); err != nil {
		t.Fatal(err)
	}
	var mode string
	if err := pgtest.Open(t, url, pg.Serve).QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&mode); err != nil || mode != "on" {
		t.Errorf("synchronous_commit is %q, %v; want on", mode, err)
	}
}

// COMMIT has its own deadline: the time that fn took does not count.
func TestSlowWorkDoesNotMakeTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		_, err := tx.Exec(t.Context(), "SELECT pg_sleep(5.5)")
		return err
	})
	if err != nil {
		t.Errorf("InTx after slow work = %v", err)
	}
}

// If the connection breaks at COMMIT, the outcome is unknown, and the error must
// say exactly that.
func TestInTxReportsABrokenCommitAsUnknown(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	pool, super := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		_, err := super.Exec(t.Context(), "SELECT pg_terminate_backend($1, 5000)", tx.Conn().PgConn().PID())
		return err
	})
	if !errors.Is(err, pg.ErrUnknown) {
		t.Errorf("InTx on a connection that is gone = %v, want ErrUnknown", err)
	}
}

// The server reports a COMMIT that did not wait for its standby as a success
// with a warning. InTx must not report success.
func TestInTxReportsACommitWithoutItsStandbyAsUnknown(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	// The test raises the warning itself, with the server's own text: a standby that never confirms would block every other test of the cluster.
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		_, err := tx.Exec(t.Context(), `DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication due to user request'; END $$`)
		return err
	})
	if !errors.Is(err, pg.ErrUnknown) {
		t.Errorf("InTx with a lost standby = %v, want ErrUnknown", err)
	}
}

func TestIsUnavailable(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, slow := pool.Exec(short, "SELECT pg_sleep(5)")
	_, wrong := pool.Exec(t.Context(), "SELECT nonsense")
	_, unreachable := pg.Open(t.Context(), "postgres://u:hunter2@127.0.0.1:1/none", pg.Options{})
	_, rejected := pg.Open(t.Context(), strings.Replace(pgtest.Server(t).URL("postgres"), "postgres@", "stranger@", 1), pg.Options{})
	if !pg.IsUnavailable(rejected) {
		t.Errorf("a rejected login is not unavailable: %v", rejected)
	}
	if !pg.IsUnavailable(slow) || !pg.IsUnavailable(unreachable) || pg.IsUnavailable(wrong) || pg.IsUnavailable(nil) {
		t.Errorf("IsUnavailable: slow %v, unreachable %v, wrong %v, nil %v", pg.IsUnavailable(slow), pg.IsUnavailable(unreachable), pg.IsUnavailable(wrong), pg.IsUnavailable(nil))
	}
	if strings.Contains(unreachable.Error(), "hunter2") {
		t.Error("the error contains the password")
	}
}
