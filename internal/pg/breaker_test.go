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

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
)

// opened returns a pool of four connections behind a breaker.
func opened(t *testing.T, url string, b *pg.Breaker) *pgxpool.Pool {
	t.Helper()
	pool, err := pg.Open(t.Context(), url, pg.Options{Conns: 4, Breaker: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	t.Cleanup(b.Close)
	return pool
}

// counted returns an address that leads to the one in url, and counts who comes
// that way. What a pool says of itself counts those, too, whom the breaker kept
// from trying.
func counted(t *testing.T, url string) (through string, came *atomic.Int32) {
	t.Helper()
	came = &atomic.Int32{}
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	there := net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port)))
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
			came.Add(1)
			to, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "tcp", there)
			if err != nil {
				_ = from.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					_ = way[0].Close()
				}()
			}
		}
	}()
	return strings.Replace(url, there, l.Addr().String(), 1), came
}

// Once a call is lost, nobody waits for a database that does not answer, nobody
// connects to it, and as soon as it answers it is used again, on a connection
// that was made ready.
func TestBreakerRefusesAtOnceUntilTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	node, err := pgtest.StartNode(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	warmed, told := atomic.Int32{}, make(chan bool, 2)
	b := &pg.Breaker{
		Warm: func(ctx context.Context, tx pg.Tx) error {
			warmed.Add(1)
			_, err := tx.Exec(ctx, "SELECT 1")
			return err
		},
		Changed: func(away bool, _ time.Duration) { told <- away },
	}
	url, came := counted(t, node.Database())
	pool := opened(t, url, b)
	if err := node.Pause(); err != nil {
		t.Fatal(err)
	}
	lost, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	b.Lost(pg.Ping(lost, pool))
	if !b.Away() || !<-told {
		t.Fatal("a lost call was not noted")
	}
	made := came.Load()
	patient, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 20 {
		began := time.Now()
		if err := pg.Ping(patient, pool); !errors.Is(err, pg.ErrAway) || !pg.Away(err) {
			t.Fatalf("a call during the outage: %v, want ErrAway", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Fatalf("a call during the outage was refused after %s", took)
		}
	}
	if n := came.Load() - made; n > 1 { // the probe's own
		t.Errorf("%d connections were tried during the outage", n)
	}
	if err := node.Resume(); err != nil {
		t.Fatal(err)
	}
	b.Wait(patient)
	if b.Away() || warmed.Load() == 0 || <-told {
		t.Errorf("after the outage: away %v, made ready %d times", b.Away(), warmed.Load())
	}
	if err := pg.Ping(patient, pool); err != nil {
		t.Errorf("a call after the outage: %v", err)
	}
}

// What a statement is refused for, and a pool that others use up, say nothing
// about the database.
func TestBreakerDoesNotBreakForOthersFaults(t *testing.T) {
	t.Parallel()
	b := &pg.Breaker{}
	pool := opened(t, pgtest.URL(t), b)
	for range 4 {
		conn, err := pg.Take(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	crowded := pg.Ping(short, pool)
	if !pg.Away(crowded) {
		t.Fatalf("a pool without a free connection: %v", crowded)
	}
	for _, err := range []error{nil, crowded, &pgconn.PgError{Code: "23505"}, errors.New("a mistake"), pg.ErrAway} {
		if b.Lost(err); b.Away() {
			t.Errorf("it broke for %v", err)
		}
	}
}

// A node that is stopped during an outage does not wait for its end.
func TestBreakerEndsWithItsNode(t *testing.T) {
	t.Parallel()
	b := &pg.Breaker{Warm: func(ctx context.Context, _ pg.Tx) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	pool := opened(t, pgtest.URL(t), b)
	b.Lost(context.DeadlineExceeded)
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
