package feed_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/notify/feed"
)

// headReads counts the statements that read heads of feeds.
type headReads struct{ n atomic.Int64 }

func (h *headReads) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "feed_head") {
		h.n.Add(1)
	}
	return ctx
}

func (*headReads) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// counted returns a service of its own that runs until the test ends, and counts its reads.
func (e *env) counted() (*feed.Service, *headReads) {
	e.t.Helper()
	reads := &headReads{}
	config := e.pool.Config()
	config.ConnConfig.Tracer = reads
	pool, err := pgxpool.NewWithConfig(e.t.Context(), config)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(pool.Close)
	s := &feed.Service{Pool: pool, Now: time.Now}
	e.run(s)
	return s, reads
}

// Every login of the database can notify the channel of feeds. What it says is not
// believed: readers are not woken for entries that do not exist, and a flood costs a
// bounded number of reads. They are still woken by what is true.
func TestForgedNotificationsWakeNobody(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	o := e.bank()
	e.add(o, event(1))
	s, reads := e.counted()
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var woken atomic.Int64
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if s.Wait(ctx, o, 1) == nil {
					woken.Add(1)
				}
			}
		})
	}
	for reads.n.Load() < 2 { // both wait
		<-time.After(time.Millisecond)
	}
	before, begun := reads.n.Load(), time.Now()
	for range 200 {
		if _, err := e.pool.Exec(t.Context(), `SELECT pg_notify('feed', $1 || ' live ' || 1000000 + i), pg_notify('feed', $1 || ' live'), pg_notify('feed', 'x ' || i) FROM generate_series(1, 20) AS i`, o.Entity.String()); err != nil {
			t.Fatal(err)
		}
	}
	cost, took := reads.n.Load()-before, time.Since(begun)
	if n := woken.Load(); n != 0 {
		t.Errorf("readers were woken %d times for nothing", n)
	}
	if most := int64(took/(10*time.Millisecond)) + 5; cost > most {
		t.Errorf("forged notifications cost %d reads in %v, want at most %d", cost, took, most)
	}
	e.add(o, event(2))
	for deadline := time.Now().Add(time.Second); woken.Load() < 2; {
		if time.Now().After(deadline) {
			t.Fatal("readers are not woken by an entry")
		}
		<-time.After(time.Millisecond)
	}
	stop()
	readers.Wait()
}
