package tampering_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/witness"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/logfiles"
	"github.com/lineproof/lineproof/receipt"
)

const origin = "lineproof.example/log/0/2027"

// site is what all worlds of a worker share: the database server, the keys, and the
// addresses of the log and of its witnesses, at which one world at a time is served.
type site struct {
	cluster    *pgtest.Cluster
	key        *logkey.Key
	witnesses  [2]*witness.Key
	secrets    [2]*logkey.Key // of the witnesses
	policyText string
	policy     *receipt.Policy // needs both witnesses
	owner      *receipt.Policy // believes the key of the log alone
	address    string          // of the log

	servers [3]atomic.Pointer[http.Handler] // the log and the witnesses
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{cluster: pgtest.Server(t), key: logtest.NewKey(t, origin)}
	var addresses [3]string
	for i := range s.servers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.servers[i].Load()).ServeHTTP(w, r) }))
		t.Cleanup(server.Close)
		addresses[i] = server.URL
	}
	s.address = addresses[0] + "/log/0/2027"
	s.policyText = "log " + s.key.Verifier() + "\n"
	for i := range s.witnesses {
		s.secrets[i] = logtest.NewKey(t, fmt.Sprintf("w%d.example", i))
		s.witnesses[i] = witness.NewKey(s.secrets[i])
		s.policyText += fmt.Sprintf("witness w%d %s %s\n", i, s.witnesses[i].Verifier(), addresses[i+1])
	}
	s.policyText += "group both all w0 w1\nquorum both\n"
	var err error
	if s.policy, err = receipt.ParsePolicy(s.policyText); err != nil {
		t.Fatal(err)
	}
	if s.owner, err = receipt.NewPolicy(s.key.Verifier()); err != nil {
		t.Fatal(err)
	}
	return s
}

// world is a database, the files of the log and of the archive, the memory of the
// witnesses and of a monitor, and receipts.
type world struct {
	*site

	database string
	dir      string
	exchange string   // an archive of the old day that was made of other records
	notes    []string // every checkpoint that was published
}

// copy copies a world, to which nobody may be connected.
func (w *world) copy(ctx context.Context) (*world, error) {
	to := &world{site: w.site, database: "world_" + strings.ToLower(rand.Text()), exchange: w.exchange, notes: w.notes}
	if err := w.cluster.Admin(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s STRATEGY file_copy", to.database, w.database)); err != nil {
		return nil, err
	}
	var err error
	if to.dir, err = os.MkdirTemp(filepath.Dir(w.dir), "world"); err != nil {
		return nil, err
	}
	return to, os.CopyFS(to.dir, os.DirFS(w.dir))
}

// drop removes a copy.
func (w *world) drop() {
	_ = w.cluster.Admin(context.Background(), "DROP DATABASE IF EXISTS "+w.database+" WITH (FORCE)")
	_ = os.RemoveAll(w.dir)
}

// open connects as the owner, who is the service and the operator, and as superuser.
func (w *world) open(ctx context.Context) (owner, super *pgxpool.Pool, done func(), err error) {
	url := w.cluster.URL(w.database)
	if owner, err = pg.Open(ctx, url, pg.Options{Role: pg.Owner, Conns: 4}); err != nil {
		return nil, nil, nil, err
	}
	if super, err = pg.Open(ctx, url, pg.Options{Conns: 1}); err != nil {
		owner.Close()
		return nil, nil, nil, err
	}
	if err := w.serve(owner); err != nil {
		return nil, nil, nil, err
	}
	return owner, super, func() { owner.Close(); super.Close() }, nil
}

// serve serves this world at the addresses of the site.
func (w *world) serve(pool *pgxpool.Pool) error {
	tiles, err := blob.OpenDir(filepath.Join(w.dir, "log"))
	if err != nil {
		return err
	}
	w.handle(0, http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		// A new one each time: it remembers the checkpoint for a second.
		files := &logfiles.Files{Pool: pool, Tiles: tiles, Origin: origin, Verifier: w.key.Verifier()}
		if err := files.Serve(to, r); err != nil {
			status := http.StatusServiceUnavailable
			if fault.CodeOf(err) == fault.NotFound {
				status = http.StatusNotFound
			}
			http.Error(to, err.Error(), status)
		}
	}))
	for i, key := range w.witnesses {
		honest, err := witness.Open(key, []string{w.key.Verifier()}, filepath.Join(w.dir, fmt.Sprintf("witness%d", i)))
		if err != nil {
			return err
		}
		w.handle(i+1, honest.Handler(slog.New(slog.DiscardHandler)))
	}
	return nil
}

func (s *site) handle(server int, by http.Handler) { s.servers[server].Store(&by) }

// publish adds to the log what is new and publishes it, as the service does every second.
func (w *world) publish(ctx context.Context, pool *pgxpool.Pool, l *publiclog.Log) error {
	if _, err := l.Tick(ctx); err != nil {
		return err
	}
	tiles, err := blob.OpenDir(filepath.Join(w.dir, "log"))
	if err != nil {
		return err
	}
	defer tiles.Close()
	publisher := publiclog.NewPublisher(l, tiles, w.key)
	publisher.Witnesses = &publiclog.Witnesses{Policy: w.policy}
	if _, err := publisher.Publish(ctx); err != nil {
		return err
	}
	note, err := publiclog.Checkpoint(ctx, pool)
	w.notes = append(slices.Clip(w.notes), note)
	return err
}

// attack connects as superuser, for whom no trigger fires.
func (w *world) attack(ctx context.Context, rng *mathrand.Rand) (*attack, error) {
	cfg, err := pg.Config(ctx, w.cluster.URL(w.database), pg.Options{Conns: 2})
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.RuntimeParams["session_replication_role"] = "replica"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	return &attack{world: w, ctx: ctx, rng: rng, pool: pool}, err
}
