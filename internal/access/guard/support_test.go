package guard_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// clock is a clock that the test moves.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) set(t time.Time)         { c.at.Store(t.UnixNano()) }
func (c *clock) forward(d time.Duration) { c.at.Add(int64(d)) }

// morning is an ordinary moment: the middle of a day in the middle of a month.
var morning = time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)

// bench is a guard on a database of its own.
type bench struct {
	*guard.Guard

	clock *clock
	pool  *pgxpool.Pool
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	b := &bench{clock: &clock{}, pool: pgtest.NewAnyTime(tb)}
	b.clock.set(morning)
	b.Guard = b.node(tb, "one")
	return b
}

// node returns another node on the same database, as it is after its start.
func (b *bench) node(tb testing.TB, name string) *guard.Guard {
	tb.Helper()
	g := guard.New(&guard.Guard{Pool: b.pool, Node: name, Mode: guard.Stop, Now: b.clock.now, Log: slog.New(slog.DiscardHandler)})
	settle(tb, g)
	return g
}

// entity returns a relying party.
func (b *bench) entity(tb testing.TB) uuid.UUID {
	tb.Helper()
	id := uuid.Must(uuid.NewV7())
	_, err := b.pool.Exec(context.Background(), `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		VALUES ($1, 'A Bank', 'RC 1', 'Approved', $2, $2, true, '2020-01-01')`, id, false)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

// sponsor returns a client and so many organisations that it onboarded.
func (b *bench) sponsor(tb testing.TB, organisations int) (client uuid.UUID, entities []uuid.UUID) {
	tb.Helper()
	client = uuid.Must(uuid.NewV7())
	for range organisations {
		entities = append(entities, uuid.Must(uuid.NewV7()))
	}
	_, err := b.pool.Exec(context.Background(), `WITH c AS (INSERT INTO client (id, name, scopes, created_at) VALUES ($1, 'A Sponsor', '{}', '2020-01-01'))
		INSERT INTO entity (id, name, cac, status, document_required, supplies, client_id, asks, created_at)
		SELECT unnest($2::uuid[]), 'A Member', 'RC 1', 'Approved', false, true, $1, true, '2020-01-01'`, client, entities)
	if err != nil {
		tb.Fatal(err)
	}
	return client, entities
}

func settle(tb testing.TB, g *guard.Guard) {
	tb.Helper()
	if err := g.Sync(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// number returns a phone number.
func number(n int64) phone.Number {
	p, ok := phone.FromInt(n)
	if !ok {
		panic("not a number: " + strconv.FormatInt(n, 10))
	}
	return p
}

// first is the first number of an ordinary prefix.
const first = 234_803_000_0000

// ask verifies a number and gets an answer, or is refused.
func ask(g *guard.Guard, entity uuid.UUID, b guard.Budget, n int64) error {
	if err := g.Admit(entity, b, number(n)); err != nil {
		return err
	}
	g.Record(entity, number(n), false)
	return nil
}

// mustAsk verifies numbers one after the other; none may be refused.
func mustAsk(tb testing.TB, g *guard.Guard, entity uuid.UUID, b guard.Budget, numbers ...int64) {
	tb.Helper()
	for _, n := range numbers {
		if err := ask(g, entity, b, n); err != nil {
			tb.Fatalf("a question was refused: %v", err)
		}
	}
}

// refused fails the test unless a request was refused.
func refused(tb testing.TB, err error) {
	tb.Helper()
	_ = refusalOf(tb, err)
}

// refusalOf returns the fault of a request that must be refused.
func refusalOf(tb testing.TB, err error) *fault.Error {
	tb.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.QuotaExceeded && f.Code != fault.ScanSuspected {
		tb.Fatalf("got %v, want QUOTA_EXCEEDED or SCAN_SUSPECTED", err)
	}
	return f
}

// count returns the one number that a query gives.
func count(tb testing.TB, pool *pgxpool.Pool, sql string, args ...any) (n int64) {
	tb.Helper()
	if err := pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// size returns how large a run of a scan is.
func size(tb testing.TB, otherwise int) int {
	tb.Helper()
	return sized(tb, "LINEPROOF_E2E_SCAN", otherwise)
}

// sized returns how large a run is, by a variable of the environment.
func sized(tb testing.TB, variable string, otherwise int) int {
	tb.Helper()
	s := os.Getenv(variable)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		tb.Fatal(variable + " must be a whole number above 0")
	}
	return n
}
