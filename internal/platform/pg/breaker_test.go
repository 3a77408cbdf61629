package pg_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// openPool returns a pool of four connections with a breaker.
func openPool(t *testing.T, url string, b *pg.Breaker) *pgxpool.Pool {
	t.Helper()
	pool, err := pg.Open(t.Context(), url, pg.Options{Conns: 4, Breaker: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	t.Cleanup(b.Close)
	return pool
}

// countingProxy returns the url of a proxy to the server in url that counts
// connections. The pool's own statistics also count attempts that the breaker
// prevented.
func countingProxy(t *testing.T, url string) (through string, connections *atomic.Int32) {
	t.Helper()
	connections = &atomic.Int32{}
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	server := net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port)))
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			to, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "tcp", server)
			if err != nil {
				_ = from.Close()
				continue
			}
			for _, direction := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(direction[0], direction[1])
					_ = direction[0].Close()
				}()
			}
		}
	}()
	return strings.Replace(url, server, l.Addr().String(), 1), connections
}

// Once a failure is reported, calls fail at once and no connection is opened
// until the database answers. Then calls work again, on a connection that the
// probe has warmed.
func TestOpenBreakerFailsCallsUntilTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	node, err := pgtest.StartNode(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	warmed, changes := atomic.Int32{}, make(chan bool, 2)
	b := &pg.Breaker{
		Warm: func(ctx context.Context, tx pg.Tx) error {
			warmed.Add(1)
			_, err := tx.Exec(ctx, "SELECT 1")
			return err
		},
		OnChange: func(open bool, _ time.Duration) { changes <- open },
	}
	url, connections := countingProxy(t, node.Database())
	pool := openPool(t, url, b)
	if err := node.Freeze(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	b.ReportFailure(pg.Ping(short, pool))
	if !b.Open() || !<-changes {
		t.Fatal("a failed call did not open the breaker")
	}
	before := connections.Load()
	ample, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 20 {
		began := time.Now()
		if err := pg.Ping(ample, pool); !errors.Is(err, pg.ErrDatabaseDown) || !pg.IsUnavailable(err) {
			t.Fatalf("a call during the outage: %v, want ErrDatabaseDown", err)
		}
		if took := time.Since(began); took > 5*time.Second { // the deadline of the call is ten
			t.Fatalf("a call during the outage failed after %s", took)
		}
	}
	if n := connections.Load() - before; n > 2 { // that of the probe, and one that was under way when the breaker opened
		t.Errorf("%d connections were tried during the outage, by 20 calls", n)
	}
	if err := node.Thaw(); err != nil {
		t.Fatal(err)
	}
	b.Wait(ample)
	if b.Open() || warmed.Load() == 0 || <-changes {
		t.Errorf("after the outage: open %v, warmed %d times", b.Open(), warmed.Load())
	}
	if err := pg.Ping(ample, pool); err != nil {
		t.Errorf("a call after the outage: %v", err)
	}
}

// A rejected statement and an exhausted pool do not open the breaker: they are no
// evidence of an outage.
func TestBreakerOpensForOutagesOnly(t *testing.T) {
	t.Parallel()
	b := &pg.Breaker{}
	pool := openPool(t, pgtest.URL(t), b)
	for range 4 {
		conn, err := pg.Acquire(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	exhausted := pg.Ping(short, pool)
	if !pg.IsUnavailable(exhausted) {
		t.Fatalf("a pool without a free connection: %v", exhausted)
	}
	for _, err := range []error{nil, exhausted, &pgconn.PgError{Code: "23505"}, errors.New("a mistake"), pg.ErrDatabaseDown} {
		if b.ReportFailure(err); b.Open() {
			t.Errorf("it opened for %v", err)
		}
	}
}

// A node that shuts down during an outage does not wait until the outage ends.
func TestBreakerCloseEndsTheProbe(t *testing.T) {
	t.Parallel()
	b := &pg.Breaker{Warm: func(ctx context.Context, _ pg.Tx) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	pool := openPool(t, pgtest.URL(t), b)
	b.ReportFailure(context.DeadlineExceeded)
	closed := make(chan struct{})
	go func() {
		b.Close()
		pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("the pool waits for the probe")
	}
}
