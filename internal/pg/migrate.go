package pg

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
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

// Migrate creates the roles and brings the schema, River's included, to the
// newest version. Several processes may run it at once, and a second run does
// nothing. It returns the versions that it applied.
func Migrate(ctx context.Context, url string) ([]int64, error) {
	if err := ensureRoles(ctx, url); err != nil {
		return nil, err
	}
	pool, err := Open(ctx, url, Options{Role: Owner, Conns: 4})
	if err != nil {
		return nil, err
	}
	defer pool.Close()

	unlock, err := lockMigrations(ctx, pool)
	if err != nil {
		return nil, err
	}
	defer unlock()
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close() // the wrapper; the pool stays open
	provider, err := goose.NewProvider(goose.DialectPostgres, db, Migrations())
	if err != nil {
		return nil, fmt.Errorf("pg: read the migrations: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("pg: migrate: %w", err)
	}
	applied := make([]int64, 0, len(results))
	for _, r := range results {
		applied = append(applied, r.Source.Version)
	}
	if err := migrateRiver(ctx, pool); err != nil {
		return nil, err
	}
	return applied, nil
}

// lockMigrations waits until no other process migrates this database. It does
// not use goose's own lock, because River's tables and the grants are created
// under this one too.
func lockMigrations(ctx context.Context, pool *pgxpool.Pool) (unlock func(), err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("pg: acquire a connection: %w", err)
	}
	if _, err := conn.Exec(ctx, `SET lock_timeout = 0; SELECT pg_advisory_lock(hashtextextended('lineproof migrate', 0))`); err != nil {
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
	if _, err := pool.Exec(ctx, grants); err != nil {
		return fmt.Errorf("pg: grant the roles access: %w", err)
	}
	return nil
}

// ErrSchema reports a database whose schema is older than the program.
var ErrSchema = errors.New("the schema is not up to date; run: lineproof migrate")

// CheckSchema returns ErrSchema unless every migration of this program has been
// applied. A newer schema is fine: migrations are additive.
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

// SchemaVersion returns the newest version that was applied and the newest that
// this program knows.
func SchemaVersion(ctx context.Context, pool *pgxpool.Pool) (have, want int64, err error) {
	names, err := fs.Glob(Migrations(), "*.sql")
	if err != nil || len(names) == 0 {
		return 0, 0, errors.New("pg: no migrations are embedded")
	}
	if _, err := fmt.Sscanf(names[len(names)-1], "%d_", &want); err != nil {
		return 0, 0, fmt.Errorf("pg: read the name of a migration: %w", err)
	}
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
