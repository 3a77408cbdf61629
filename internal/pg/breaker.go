package pg

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	// ErrAway reports that the database has stopped answering, and that nobody is
	// sent there before it answers again.
	ErrAway = errors.New("pg: the database does not answer")

	// errCrowded reports that others had all connections for the whole time.
	errCrowded = errors.New("pg: all connections are busy (LINEPROOF_DATABASE_CONNS)")
)

const (
	// probeTime is what a probe has for all it does. It is generous: a call that
	// is given up costs its connection, and making a new one is the most that a
	// database which is just coming back can do.
	probeTime = 15 * time.Second
	// probePause keeps a server that refuses from being asked without end.
	probePause = 100 * time.Millisecond
	// trusted is how long a connection may have been idle and is still handed out
	// without being tried first.
	trusted = time.Second
)

// Breaker keeps everybody away from a database that has stopped answering. Once
// somebody has lost a call there, the pool hands out no connection and makes
// none: whoever asks is refused at once, and not after a time-out that costs one
// connection more. Meanwhile one probe asks, patiently, and opens the way again.
//
// The zero value is given to [Open]. A nil Breaker never breaks.
type Breaker struct {
	// Warm, if set, is what a probe does in its transaction: the work of those who
	// wait, on nothing. Its connection is then as good as the one that was lost.
	Warm func(ctx context.Context, tx Tx) error
	// Changed, if set, is told when the database has stopped answering, and when
	// it answers again, after how long.
	Changed func(away bool, after time.Duration)

	pool *pgxpool.Pool
	ctx  context.Context //nolint:containedctx // of the probes, which belong to no caller
	end  context.CancelFunc
	away atomic.Pointer[outage] // nil while the database answers
}

// outage ends when the database answers again.
type outage struct{ over chan struct{} }

// Lost notes that a call ended with err. Only a call that wanted little and had
// enough time may say so: the patience of others says nothing of the database.
func (b *Breaker) Lost(err error) {
	if b == nil || b.pool == nil || !Away(err) || errors.Is(err, ErrAway) || errors.Is(err, errCrowded) {
		return
	}
	if o := (&outage{make(chan struct{})}); b.away.CompareAndSwap(nil, o) {
		go b.probe(o, time.Now())
	}
}

// Away reports whether the database has stopped answering.
func (b *Breaker) Away() bool { return b != nil && b.away.Load() != nil }

// Wait returns when the database answers, or when ctx ends.
func (b *Breaker) Wait(ctx context.Context) {
	if b == nil {
		return
	}
	if o := b.away.Load(); o != nil {
		select {
		case <-o.over:
		case <-ctx.Done():
		}
	}
}

// Close ends the probe. It comes before the end of the pool, which waits for
// every connection.
func (b *Breaker) Close() { b.end() }

// probe asks until there is an answer, or nobody has a use for one.
func (b *Breaker) probe(o *outage, since time.Time) {
	if b.Changed != nil {
		b.Changed(true, 0)
	}
	for b.ask() != nil && b.ctx.Err() == nil {
		select {
		case <-b.ctx.Done():
		case <-time.After(probePause):
		}
	}
	b.away.Store(nil)
	close(o.over)
	if b.Changed != nil {
		b.Changed(false, time.Since(since))
	}
}

func (b *Breaker) ask() error {
	ctx, cancel := context.WithTimeout(context.WithValue(b.ctx, probing{}, true), probeTime)
	defer cancel()
	return InTx(ctx, b.pool, func(tx Tx) error {
		if b.Warm != nil {
			return b.Warm(ctx, tx)
		}
		if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
			return fmt.Errorf("pg: probe: %w", err)
		}
		return nil
	})
}

// probing marks the context of a probe, which is let through.
type probing struct{}

func isProbe(ctx context.Context) bool { return ctx.Value(probing{}) != nil }

// guard lets nobody but the probe have a connection, try one or make one while
// the database is away.
func (b *Breaker) guard(ctx context.Context, cfg *pgxpool.Config) {
	b.ctx, b.end = context.WithCancel(context.WithoutCancel(ctx))
	stopped := func(ctx context.Context) bool { return b.Away() && !isProbe(ctx) }
	cfg.ShouldPing = func(ctx context.Context, p pgxpool.ShouldPingParams) bool {
		return p.IdleDuration > trusted && !stopped(ctx)
	}
	cfg.PrepareConn = func(ctx context.Context, _ *pgx.Conn) (keep bool, err error) {
		if stopped(ctx) {
			return true, ErrAway // the connection may be good once more
		}
		return true, nil
	}
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		switch {
		case stopped(ctx):
			return ErrAway
		case isProbe(ctx):
			c.ConnectTimeout = probeTime
		}
		return nil
	}
}

// Ping asks the database for a word.
func Ping(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := Take(ctx, pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := conn.Ping(ctx); err != nil {
		return fmt.Errorf("pg: ping: %w", err)
	}
	return nil
}

// Take returns a connection of the pool, and tells a pool that others use up
// from a database that does not answer.
func Take(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	conn, err := pool.Acquire(ctx)
	if err == nil {
		return conn, nil
	}
	if s := pool.Stat(); s.AcquiredConns() >= s.MaxConns() {
		return nil, fmt.Errorf("%w: %w", errCrowded, err)
	}
	return nil, fmt.Errorf("pg: take a connection: %w", err)
}
