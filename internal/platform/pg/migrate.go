package pg

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/lineproof/lineproof/internal/values/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the migration files, for commands that list them.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic("pg: embedded migrations are missing: " + err.Error())
	}
	return sub
}

// MigrateOptions tune [MigrateWith]. The zero value says nothing and waits for locks for ten
// minutes.
type MigrateOptions struct {
	// LockWait is how long one migration may try to get its locks; 0 means ten minutes.
	LockWait time.Duration
	// Applied gets each migration that was applied, and how long it took; nil for nobody.
	Applied func(name string, took time.Duration)
	// Waiting gets in words what a migration waits for, and how far it is; nil for nobody.
	Waiting func(text string)
	// Unverified is that of [Options].
	Unverified bool
}

// Migrate is [MigrateWith] without options.
func Migrate(ctx context.Context, url string) ([]int64, error) {
	return MigrateWith(ctx, url, MigrateOptions{})
}

// MigrateWith creates the roles and brings the schema, River's included, to the newest
// version. Nodes may serve meanwhile: a migration that waits for a lock gives up after a
// moment, so that nobody waits behind it, and tries again. Several processes may run it at
// once, and a second run does nothing. It returns the versions that it applied.
func MigrateWith(ctx context.Context, url string, o MigrateOptions) ([]int64, error) {
	return migrateFrom(ctx, url, Migrations(), o)
}

func migrateFrom(ctx context.Context, url string, files fs.FS, o MigrateOptions) (applied []int64, err error) {
	if err := ensureRoles(ctx, url, o.Unverified); err != nil {
		return nil, err
	}
	m := &migrator{files: files, limit: cmp.Or(o.LockWait, 10*time.Minute), applied: o.Applied, waiting: o.Waiting}
	if m.applied == nil {
		m.applied = func(string, time.Duration) {}
	}
	if m.waiting == nil {
		m.waiting = func(string) {}
	}
	for pool, timeout := range map[**pgxpool.Pool]string{&m.brief: briefLock, &m.patient: "0"} {
		if *pool, err = openMigrating(ctx, url, Options{Role: Owner, Conns: 4, Unverified: o.Unverified}, timeout); err != nil {
			return nil, err
		}
		defer (*pool).Close()
	}
	unlock, err := lockMigrations(ctx, m.patient)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if applied, err = m.applyAll(ctx); err != nil {
		return applied, err
	}
	return applied, m.untilLocked(ctx, "the job tables", nil, func() error { return migrateRiver(ctx, m.brief) })
}

// openMigrating connects as the owner, with the time that a statement waits for a lock.
func openMigrating(ctx context.Context, url string, o Options, lockTimeout string) (*pgxpool.Pool, error) {
	cfg, err := Config(ctx, url, o)
	if err != nil {
		return nil, err
	}
	cfg.MinConns = 0
	cfg.ConnConfig.RuntimeParams["lock_timeout"] = lockTimeout
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("pg: create the pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, unreachable(err, Owner)
	}
	return pool, nil
}

// lockMigrations waits until no other process migrates this database. It does
// not use goose's own lock, because River's tables and the grants are created
// under this one too.
func lockMigrations(ctx context.Context, pool *pgxpool.Pool) (unlock func(), err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("pg: acquire a connection: %w", err)
	}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtextextended('lineproof migrate', 0))`); err != nil {
		conn.Release()
		return nil, fmt.Errorf("pg: wait for other migrations: %w", err)
	}
	return func() { _ = conn.Hijack().Close(context.WithoutCancel(ctx)) }, nil // the lock ends with its session
}

// migrateRiver brings River's own tables up to date and grants the other roles
// access to them. River knows nothing of roles, so the grants are repeated each
// time.
func migrateRiver(ctx context.Context, pool *pgxpool.Pool) error {
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return fmt.Errorf("pg: prepare the job tables: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("pg: migrate the job tables: %w", err)
	}
	const grants = `
		DO $$
		DECLARE t record;
		BEGIN
			FOR t IN SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
				WHERE s.nspname = 'public' AND c.relname LIKE 'river\_%' AND c.relkind IN ('r', 'S') LOOP
				IF t.relkind = 'S' THEN
					EXECUTE format('GRANT USAGE ON SEQUENCE public.%I TO lineproof_serve', t.relname);
				ELSE
					EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON public.%I TO lineproof_serve', t.relname);
					EXECUTE format('GRANT SELECT ON public.%I TO lineproof_read', t.relname);
					IF obj_description(format('public.%I', t.relname)::regclass) IS NULL THEN
						EXECUTE format('COMMENT ON TABLE public.%I IS %L', t.relname, 'Belongs to River, the job queue.');
					END IF;
				END IF;
			END LOOP;
			GRANT SELECT ON goose_db_version TO lineproof_serve, lineproof_read;
			COMMENT ON TABLE goose_db_version IS 'Belongs to goose: which migrations were applied.';
		END $$`
	_, err = pool.Exec(ctx, grants)
	return fault.Wrap(err, "pg: grant the roles access")
}

// ErrSchema reports a database whose schema is older than the program.
var ErrSchema = errors.New("the schema is not up to date; run: lineproof migrate")

// CheckSchema returns ErrSchema unless every migration of this program has been
// applied. A newer schema is fine: migrations only add, so that nodes can be replaced one by one.
func CheckSchema(ctx context.Context, pool *pgxpool.Pool) error {
	have, want, err := SchemaVersion(ctx, pool)
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf("%w (it has version %d, this program needs %d)", ErrSchema, have, want)
	}
	return nil
}

// NewestMigration returns the newest version that this program knows.
func NewestMigration() int64 {
	names, _ := fs.Glob(Migrations(), "*.sql") // the pattern is well formed
	var newest int64
	for _, name := range names {
		newest = max(newest, versionOf(name))
	}
	return newest
}

// SchemaVersion returns the newest version that was applied and the newest that
// this program knows.
func SchemaVersion(ctx context.Context, pool *pgxpool.Pool) (have, want int64, err error) {
	want = NewestMigration()
	var exists bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('public.goose_db_version') IS NOT NULL`).Scan(&exists); err != nil {
		return 0, want, fmt.Errorf("pg: find the schema's version: %w", err)
	}
	if !exists {
		return 0, want, nil
	}
	if err := pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&have); err != nil {
		return 0, want, fmt.Errorf("pg: read the schema's version: %w", err)
	}
	return have, want, nil
}
