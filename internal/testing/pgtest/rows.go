package pgtest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Pepper is the pepper under which the pools of tests sign rows that decide access. It has
// no comma, so that servers of tests can have it in their settings.
const Pepper = "a pepper for tests that is more than thirty-two bytes long"

// Open returns a pool on the database at url in the given role; "" means superuser. Rows
// that decide access are signed under [Pepper], those too that a test plants with a
// statement of its own.
func Open(tb testing.TB, url, role string) *pgxpool.Pool {
	tb.Helper()
	cfg, err := pg.Config(tb.Context(), url, pg.Options{Role: role})
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	cfg.ConnConfig.Tracer = &planting{}
	pool, err := pgxpool.NewWithConfig(tb.Context(), cfg)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(pool.Close)
	if err := UsePeppers(tb.Context(), pool, Pepper); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	return pool
}

// UsePeppers lets a pool sign and check rows under peppers, the newest first.
func UsePeppers(ctx context.Context, pool *pgxpool.Pool, list ...secret.Text) error {
	peppers, err := secret.NewPeppers(list)
	if err != nil {
		return err
	}
	return pg.UseRowKeys(ctx, pg.RowKeys{Peppers: peppers}, pool)
}

// Stolen returns a pool on the database of another, in the serving role and without the
// keys of rows: what somebody has who stole the login of the service.
func Stolen(tb testing.TB, of *pgxpool.Pool) *pgxpool.Pool {
	tb.Helper()
	pool, err := pg.Open(tb.Context(), of.Config().ConnString(), pg.Options{Role: pg.Serve, Name: "stolen"})
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

// Watch calls f with the arguments of every statement that a pool of [Open] sends from now on.
func Watch(pool *pgxpool.Pool, f func(args []any)) {
	pool.Config().ConnConfig.Tracer.(*planting).watch.Store(&f) //nolint:forcetypeassert // Open sets it
}

// planting signs the rows of statements that are no transaction of [pg.InTx].
type planting struct{ watch atomic.Pointer[func([]any)] }

type signing struct{}

func (p *planting) TraceQueryStart(ctx context.Context, _ *pgx.Conn, start pgx.TraceQueryStartData) context.Context {
	p.see(start.Args)
	return ctx
}

func (p *planting) TraceBatchStart(ctx context.Context, _ *pgx.Conn, start pgx.TraceBatchStartData) context.Context {
	for _, q := range start.Batch.QueuedQueries {
		p.see(q.Arguments)
	}
	return ctx
}

func (*planting) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*planting) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (p *planting) see(args []any) {
	if f := p.watch.Load(); f != nil {
		(*f)(args)
	}
}

func (*planting) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, end pgx.TraceQueryEndData) {
	if end.Err != nil || conn.PgConn().TxStatus() != 'I' || ctx.Value(signing{}) != nil {
		return
	}
	// An error is one of a broken connection, which the test will notice, or leaves a row
	// unsigned, which it will notice, too.
	_ = pg.SignPlanted(context.WithValue(context.WithoutCancel(ctx), signing{}, true), conn)
}
