package pg

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrDatabaseDown is returned at once, without a connection attempt, while the
	// breaker is open.
	ErrDatabaseDown = errors.New("pg: the database does not answer")

	// errPoolExhausted means that other callers held every connection of the pool
	// until the deadline. It is no evidence of an outage.
	errPoolExhausted = errors.New("pg: all connections for this kind of work are busy")
)

const (
	// probeTimeout bounds one probe, connecting included. It is generous because
	// a probe that times out loses its connection, and a database that is just
	// recovering can hardly open new ones. Several hosts are asked at once, so
	// that none waits for another.
	probeTimeout = 15 * time.Second
	// probePause is the time between two probes, so that a server that refuses
	// connections at once is not flooded with attempts.
	probePause = 100 * time.Millisecond
	// maxIdleWithoutPing is how long a connection may have been idle and still be
	// handed out without a ping first.
	maxIdleWithoutPing = time.Second
)

// Breaker is a circuit breaker around connection pools.
//
// While it is closed, the pools work as usual. ReportFailure opens it: from then
// on they neither hand out nor open connections and return
// [ErrDatabaseDown] at once, so that callers do not wait for a timeout, which
// would also cost each of them its connection. A single goroutine probes the database and
// closes the breaker as soon as a probe succeeds.
//
// Pass a Breaker to [Open] in [Options]. Several pools of one database may share it: it
// probes with the first. All methods but Close also work on a nil Breaker, which never
// opens.
type Breaker struct {
	// Warm, if set, is the body of the probe's transaction. It should run the
	// statements that callers will run next, with arguments that match no row, so
	// that the probe's connection has them prepared when it returns to the pool.
	// Without it the probe runs SELECT 1.
	Warm func(ctx context.Context, tx Tx) error
	// OnChange, if set, is called with true when the breaker opens, and with false
	// and the length of the outage when it closes.
	OnChange func(open bool, lasted time.Duration)

	hosts   hosts
	sockets sockets // of all pools
	guards  sync.Mutex
	pools   []*pgxpool.Pool // that share it
	ctx     context.Context //nolint:containedctx // the probe's; it outlives the caller that started it
	cancel  context.CancelFunc
	outage  atomic.Pointer[outage] // nil while the breaker is closed
}

// outage is one period in which the breaker is open.
type outage struct{ ended chan struct{} }

// ReportFailure opens the breaker if err, the result of a call, means that the
// database is unavailable. Only calls that normally end long before their deadline may
// report a failure; a timeout of a caller's own is no evidence of an outage.
func (b *Breaker) ReportFailure(err error) {
	if b == nil || !IsUnavailable(err) || errors.Is(err, ErrDatabaseDown) || errors.Is(err, errPoolExhausted) || b.pool() == nil {
		return
	}
	if o := (&outage{make(chan struct{})}); b.outage.CompareAndSwap(nil, o) {
		go b.probeUntilUp(o, time.Now())
	}
}

// Open reports whether the breaker is open: the database has stopped answering.
func (b *Breaker) Open() bool { return b != nil && b.outage.Load() != nil }

// Wait returns once the breaker is closed, or when ctx ends.
func (b *Breaker) Wait(ctx context.Context) {
	if b == nil {
		return
	}
	if o := b.outage.Load(); o != nil {
		select {
		case <-o.ended:
		case <-ctx.Done():
		}
	}
}

// add lets a pool share the breaker.
func (b *Breaker) add(pool *pgxpool.Pool) {
	b.guards.Lock()
	defer b.guards.Unlock()
	b.pools = append(b.pools, pool)
}

// pool returns the pool of the probe, or nil before there is one.
func (b *Breaker) pool() *pgxpool.Pool {
	b.guards.Lock()
	defer b.guards.Unlock()
	if len(b.pools) == 0 {
		return nil
	}
	return b.pools[0]
}

// findPrimary looks for the primary among several hosts. If it is another one than before,
// all connections are given up: those to the one before may hang.
func (b *Breaker) findPrimary() {
	if moved := b.hosts.find(b.ctx, b.pool().Config().ConnConfig); !moved {
		return
	}
	b.sockets.closeAll()
	b.guards.Lock()
	defer b.guards.Unlock()
	for _, pool := range b.pools {
		pool.Reset()
	}
}

// Prefer lets a configuration try the host first that was last known to be the primary.
func (b *Breaker) Prefer(c *pgx.ConnConfig) {
	if b != nil {
		b.hosts.first(c)
	}
}

// Close ends the probe. Call it before closing the pool: the pool waits for all
// of its connections, the probe's too.
func (b *Breaker) Close() { b.cancel() }

// probeUntilUp probes the database until a probe succeeds or Close is called, and
// then closes the breaker.
func (b *Breaker) probeUntilUp(o *outage, since time.Time) {
	if b.OnChange != nil {
		b.OnChange(true, 0)
	}
	for b.ctx.Err() == nil {
		if b.findPrimary(); b.probe() == nil {
			break
		}
		pause.For(b.ctx, probePause)
	}
	b.outage.Store(nil)
	close(o.ended)
	if b.OnChange != nil {
		b.OnChange(false, time.Since(since))
	}
}

// probe runs one transaction.
func (b *Breaker) probe() error {
	ctx, cancel := context.WithTimeout(context.WithValue(b.ctx, probeKey{}, true), probeTimeout)
	defer cancel()
	return InTx(ctx, b.pool(), func(tx Tx) error {
		if b.Warm != nil {
			return b.Warm(ctx, tx)
		}
		_, err := tx.Exec(ctx, "SELECT 1")
		return fault.Wrap(err, "pg: probe")
	})
}

// probeKey marks the context of a probe, which an open breaker lets pass.
type probeKey struct{}

func isProbe(ctx context.Context) bool { return ctx.Value(probeKey{}) != nil }

// guard sets the pool's hooks so that, while the breaker is open, only the probe
// can be given a connection, ping one or open one.
func (b *Breaker) guard(ctx context.Context, cfg *pgxpool.Config) {
	if b.ctx == nil {
		b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
	cfg.ConnConfig.DialFunc = b.sockets.track(cfg.ConnConfig.DialFunc)
	blocked := func(ctx context.Context) bool { return b.Open() && !isProbe(ctx) }
	cfg.ShouldPing = func(ctx context.Context, p pgxpool.ShouldPingParams) bool {
		return p.IdleDuration > maxIdleWithoutPing && !blocked(ctx)
	}
	cfg.PrepareConn = func(ctx context.Context, _ *pgx.Conn) (keep bool, err error) {
		if blocked(ctx) {
			return true, ErrDatabaseDown // keep the connection: it may work after the outage
		}
		return true, nil
	}
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		switch {
		case blocked(ctx):
			return ErrDatabaseDown
		case isProbe(ctx):
			c.ConnectTimeout = probeTimeout
		}
		b.hosts.first(c)
		return nil
	}
}

// Ping checks that the database answers.
func Ping(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := Acquire(ctx, pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	return fault.Wrap(conn.Ping(ctx), "pg: ping")
}

// Acquire returns a connection of the pool. Its error distinguishes a pool whose
// connections are all in use from a database that does not answer: the breaker
// opens for the second only.
func Acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	conn, err := pool.Acquire(ctx)
	if err == nil {
		return conn, nil
	}
	if s := pool.Stat(); s.AcquiredConns() >= s.MaxConns() {
		return nil, fmt.Errorf("%w: %w", errPoolExhausted, err)
	}
	return nil, fmt.Errorf("pg: acquire a connection: %w", err)
}
