package distribute_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/notify/distribute"
)

// looks counts how often the mark of the outbox is read.
type looks struct{ n atomic.Int64 }

func (l *looks) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "FROM outbox_mark") {
		l.n.Add(1)
	}
	return ctx
}

func (*looks) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// However often it is woken, a distributor that has nothing to do asks the database at a
// bounded rate.
func TestAFloodOfWakeUpsCostsABoundedRateOfQueries(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	counted := &looks{}
	config := e.pool.Config()
	config.ConnConfig.Tracer = counted
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	d := distribute.New(&distribute.Distributor{Pool: pool, Lines: &linestore.Resolver{}, Now: time.Now})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx, slog.New(slog.DiscardHandler)) })
	begun := time.Now()
	for time.Since(begun) < 200*time.Millisecond || counted.n.Load() < 2 {
		d.Wake()
	}
	took := time.Since(begun)
	stop()
	running.Wait()
	if n, most := counted.n.Load(), int64(took/(10*time.Millisecond))+2; n < 2 || n > most {
		t.Errorf("%d looks at the outbox in %v, want 2 to %d", n, took, most)
	}
}
