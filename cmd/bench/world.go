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
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// world is a database that keeps its promises, with somebody in it who may ask.
type world struct {
	dir     string // of everything that is written; gone when this process ends
	janitor *guard

	cluster  *pgtest.Cluster
	url      string
	pool     *pgxpool.Pool // as superuser
	postgres int           // process id of the postmaster
	bin      string        // where PostgreSQL's programs are

	pepper  secret.Text
	entity  uuid.UUID
	key     access.NewKey
	network numbering.Network
	lines   int64 // loaded so far
}

// janitorScript removes a directory when its standard input ends.
const janitorScript = `read -r _
rm -rf "$0"`

// newWorld starts PostgreSQL and fills it, but for the lines.
func newWorld(ctx context.Context, o *options) (w *world, err error) {
	w = &world{pepper: secret.Text(rand.Text() + rand.Text())}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "lineproof-bench-"); err != nil {
		return w, fmt.Errorf("bench: make a directory: %w", err)
	}
	if w.janitor, err = startGuard(ctx, janitorScript, w.dir); err != nil {
		return w, errors.Join(err, os.RemoveAll(w.dir))
	}
	if w.cluster, err = pgtest.Start(ctx, pgtest.Durable, clusterSettings(o)...); err != nil {
		return w, err
	}
	if err = w.cluster.MakeTemplate(ctx); err != nil {
		return w, err
	}
	name, err := w.cluster.Clone(ctx)
	if err != nil {
		return w, err
	}
	w.url = w.cluster.URL(name)
	if w.pool, err = pg.Open(ctx, w.url, pg.Options{Conns: 4}); err != nil {
		return w, err
	}
	if w.postgres, err = postmaster(w.cluster); err != nil {
		return w, err
	}
	w.bin = programs(w.postgres)
	return w, w.fill(ctx)
}

// clusterSettings suit a machine that does nothing else, as nationSettings in
// internal/e2e do; what the user says comes last and so prevails.
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

// programs returns the directory of the server that runs, so that its own
// pgbench is used; "" when that cannot be seen.
func programs(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// fill makes the plan, an organisation that asks, and its key.
func (w *world) fill(ctx context.Context) error {
	peppers, err := secret.NewPeppers([]secret.Text{w.pepper})
	if err != nil {
		return fmt.Errorf("bench: make a pepper: %w", err)
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		return err
	}
	passwords := secret.NewPasswords(secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 1, 1)
	members := &registry.Registry{Pool: w.pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now}
	bank, err := members.CreateAsker(ctx, "Bench Bank", "RC 1", access.Operator, uuid.Nil)
	if err != nil {
		return err
	}
	w.entity = bank.ID
	keeper := &access.Keeper{
		Pool: w.pool, Peppers: peppers, TokenLifetime: time.Hour, SessionLifetime: time.Hour, SessionIdle: time.Hour, Now: time.Now,
	}
	if w.key, err = keeper.CreateKey(ctx, access.KeyForm{Entity: bank.ID, Name: "bench", Mode: "live", Purpose: "kyc"}, access.Operator, uuid.Nil); err != nil {
		return err
	}
	return w.makePlan(ctx)
}

// host returns where PostgreSQL listens, for programs that take no URL.
func (w *world) host() (address, port, database string, err error) {
	u, err := url.Parse(w.url)
	if err != nil {
		return "", "", "", fmt.Errorf("bench: read the address of the database: %w", err)
	}
	return u.Hostname(), u.Port(), strings.TrimPrefix(u.Path, "/"), nil
}

// close ends PostgreSQL and removes everything.
func (w *world) close() {
	if w.pool != nil {
		w.pool.Close()
	}
	if w.cluster != nil {
		w.cluster.Stop()
	}
	if w.janitor != nil {
		w.janitor.stop()
	}
}
