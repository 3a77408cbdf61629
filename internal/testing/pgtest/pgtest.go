// Package pgtest creates a PostgreSQL database for each test.
//
// The first test of a process starts a cluster on a private port and migrates a
// template; every test then clones it. There is no fake store in this module: a
// test that needs the database uses the database.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

const template = "lineproof_template"

// shared is the cluster of this process. It is stopped when the process ends.
var shared = sync.OnceValues(func() (*Cluster, error) {
	ctx := context.Background()
	c, err := Start(ctx, Quick)
	if err != nil {
		return nil, err
	}
	return c, c.MakeTemplate(ctx)
})

// MakeTemplate creates and migrates the database that [Cluster.Clone] copies,
// with the journal's partitions.
func (c *Cluster) MakeTemplate(ctx context.Context) error {
	if err := c.Admin(ctx, "CREATE DATABASE "+template); err != nil {
		return err
	}
	if _, err := pg.Migrate(ctx, c.URL(template)); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, c.URL(template))
	if err != nil {
		return fmt.Errorf("pgtest: connect to the template: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SELECT journal_make_partitions(7)"); err != nil {
		return fmt.Errorf("pgtest: create the partitions: %w", err)
	}
	return nil
}

// Clone copies the template and returns the new database's name.
func (c *Cluster) Clone(ctx context.Context) (string, error) {
	name := "test_" + strings.ToLower(rand.Text())
	return name, c.Admin(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s STRATEGY file_copy", name, template))
}

// Admin runs one statement as superuser.
func (c *Cluster) Admin(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("pgtest: connect: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("pgtest: %s: %w", sql, err)
	}
	return nil
}

// URL returns the address, as superuser, of a fresh and migrated database that
// is dropped when the test ends. It skips the test in -short mode and fails it
// when no server can be started: a suite that silently skips its database tests
// proves nothing.
func URL(tb testing.TB) string {
	tb.Helper()
	c := Server(tb)
	ctx := context.Background() // not tb.Context: the drop runs after that is cancelled
	name, err := c.Clone(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Admin(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			tb.Error(err)
		}
	})
	return c.URL(name)
}

// Empty is like [URL] for a database that is not migrated.
func Empty(tb testing.TB) string {
	tb.Helper()
	c := Server(tb)
	ctx := context.Background()
	name := "empty_" + strings.ToLower(rand.Text())
	if err := c.Admin(ctx, "CREATE DATABASE "+name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Admin(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			tb.Error(err)
		}
	})
	return c.URL(name)
}

// Server returns the cluster that the tests of this process share.
func Server(tb testing.TB) *Cluster {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs PostgreSQL; not run with -short")
	}
	c, err := shared()
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	return c
}

// New returns a pool on a database of its own, in the serving role, so that a
// test has the same rights as the service.
func New(tb testing.TB) *pgxpool.Pool {
	tb.Helper()
	return Open(tb, URL(tb), pg.Serve)
}

// NewAnyTime is like [New] for a test that moves the clock of the service.
func NewAnyTime(tb testing.TB) *pgxpool.Pool {
	tb.Helper()
	return Open(tb, AnyTime(tb, URL(tb)), pg.Serve)
}

// AnyTime lets the serving role write records and audit entries of any time to the
// database at url, which it returns. In production only the owner can.
func AnyTime(tb testing.TB, url string) string {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	defer conn.Close(tb.Context())
	if _, err := conn.Exec(tb.Context(), "ALTER TABLE journal_batch DISABLE TRIGGER journal_batch_time; ALTER TABLE audit DISABLE TRIGGER audit_time"); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	return url
}
