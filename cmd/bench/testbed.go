package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// testbed is a durable database with an organisation and its API key.
type testbed struct {
	dir     string // of all files; removed when this process ends
	janitor *supervisor

	cluster  *pgtest.Cluster
	url      string
	pool     *pgxpool.Pool // as superuser
	postgres int           // process id of the postmaster
	bin      string        // directory of PostgreSQL's programs

	pepper  secret.Text
	entity  uuid.UUID
	key     access.NewKey
	network numbering.Network
	lines   int64 // loaded so far
}

// janitorScript removes a directory when its standard input is closed.
const janitorScript = `read -r _
rm -rf "$0"`

// newTestbed starts PostgreSQL and creates everything but the lines.
func newTestbed(ctx context.Context, o *options) (t *testbed, err error) {
	t = &testbed{pepper: secret.Text(rand.Text() + rand.Text())}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if t.dir, err = os.MkdirTemp("", "lineproof-bench-"); err != nil {
		return t, fmt.Errorf("bench: create a directory: %w", err)
	}
	if t.janitor, err = startSupervisor(ctx, janitorScript, t.dir); err != nil {
		return t, errors.Join(err, os.RemoveAll(t.dir))
	}
	if t.cluster, err = pgtest.Start(ctx, pgtest.Durable, clusterSettings(o)...); err != nil {
		return t, err
	}
	if err = t.cluster.MakeTemplate(ctx); err != nil {
		return t, err
	}
	name, err := t.cluster.Clone(ctx)
	if err != nil {
		return t, err
	}
	t.url = t.cluster.URL(name)
	if t.pool, err = pg.Open(ctx, t.url, pg.Options{Conns: 4}); err != nil {
		return t, err
	}
	if t.postgres, err = postmaster(t.cluster); err != nil {
		return t, err
	}
	t.bin = programDir(t.postgres)
	return t, t.createData(ctx)
}

// clusterSettings suit a dedicated machine, as nationSettings in
// internal/testing/e2e do; the user's settings come last and override them.
func clusterSettings(o *options) []string {
	buffers := max(memory()/4>>20, 128)
	all := []string{
		fmt.Sprintf("shared_buffers = %dMB", buffers), "max_wal_size = 16GB", "checkpoint_timeout = 30min", "checkpoint_completion_target = 0.9",
		"wal_compression = lz4", "wal_buffers = 64MB", "maintenance_work_mem = 512MB", fmt.Sprintf("effective_cache_size = %dMB", buffers*5/2),
		"autovacuum = on", fmt.Sprintf("max_connections = %d", max(o.callers, oneRowClients)+100),
	}
	return append(all, o.postgres...)
}

// postmaster returns the process id of the cluster's first process.
func postmaster(c *pgtest.Cluster) (int, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c.LogFile()), "data", "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("bench: find the postmaster: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0, fmt.Errorf("bench: find the postmaster: %w", err)
	}
	return pid, nil
}

// programDir returns the directory of the running server, so that its own pgbench
// is used; "" if it cannot be read.
func programDir(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// createData creates the numbering plan, a relying party, and its API key.
func (t *testbed) createData(ctx context.Context) error {
	peppers, err := secret.NewPeppers([]secret.Text{t.pepper})
	if err != nil {
		return fmt.Errorf("bench: create a pepper: %w", err)
	}
	if err := pg.UseRowKeys(ctx, pg.RowKeys{Peppers: peppers}, t.pool); err != nil {
		return err
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		return err
	}
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 1, 1)
	entities := &registry.Registry{Pool: t.pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now}
	bank, err := entities.CreateRelyingParty(ctx, "Bench Bank", "RC 1", access.Operator, uuid.Nil)
	if err != nil {
		return err
	}
	t.entity = bank.ID
	keys := &access.Service{
		Pool: t.pool, Peppers: peppers, TokenLifetime: time.Hour, SessionLifetime: time.Hour, SessionIdle: time.Hour, Now: time.Now,
	}
	if t.key, err = keys.CreateKey(ctx, access.KeyForm{Entity: bank.ID, Name: "bench", Mode: "live", Purpose: "kyc"}, access.Operator, uuid.Nil); err != nil {
		return err
	}
	return t.createPlan(ctx)
}

// databaseAddress returns the address of PostgreSQL, for programs that accept no
// URL.
func (t *testbed) databaseAddress() (address, port, database string, err error) {
	u, err := url.Parse(t.url)
	if err != nil {
		return "", "", "", fmt.Errorf("bench: read the address of the database: %w", err)
	}
	return u.Hostname(), u.Port(), strings.TrimPrefix(u.Path, "/"), nil
}

// close stops PostgreSQL and removes all files.
func (t *testbed) close() {
	if t.pool != nil {
		t.pool.Close()
	}
	if t.cluster != nil {
		t.cluster.Stop()
	}
	if t.janitor != nil {
		t.janitor.stop()
	}
}
