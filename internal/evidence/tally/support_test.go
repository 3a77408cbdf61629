package tally_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// bench is a tally on a database of its own, with a clock that the test moves.
type bench struct {
	*tally.Tally

	super *pgxpool.Pool // may look at what the service may not
	clock atomic.Int64
	n     atomic.Int64
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	url := pgtest.AnyTime(tb, pgtest.URL(tb))
	b := &bench{super: pgtest.Open(tb, url, "")}
	b.Tally = &tally.Tally{Pool: pgtest.Open(tb, url, pg.Serve), Now: b.now}
	b.set(time.Now().UTC().Truncate(24 * time.Hour).Add(9 * time.Hour))
	return b
}

func (b *bench) now() time.Time          { return time.Unix(0, b.clock.Load()).UTC() }
func (b *bench) set(t time.Time)         { b.clock.Store(t.UnixNano()) }
func (b *bench) forward(d time.Duration) { b.clock.Add(int64(d)) }

// entry returns a record.
func entry(at time.Time, entity uuid.UUID, mode, status string) record.Entry {
	at = at.UTC().Truncate(time.Millisecond)
	return record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: entity, Key: uuid.New(), Type: "number", Mode: mode, Purpose: "payment", PurposeText: "fraud",
		Status: status, MobileNetwork: "MTN", LineVersion: 3, PolicyVersion: 1, PlanVersion: 2, Rules: 1, Nonce: record.NewNonce(),
		Personal: record.Personal{Number: 2348031234567, PhoneNumber: "08031234567", Correlator: "c-1"},
	}
}

// write puts records into the journal, in a transaction of the caller's.
func (b *bench) write(ctx context.Context, to pg.DB, entries ...record.Entry) error {
	for i := range entries {
		e := &entries[i]
		_, err := to.Exec(ctx, journaltest.Insert(), journaltest.Row(e, 1, b.n.Add(1), 0)...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) mustWrite(tb testing.TB, entries ...record.Entry) {
	tb.Helper()
	if err := b.write(context.Background(), b.Pool, entries...); err != nil {
		tb.Fatal(err)
	}
}

func (b *bench) count(tb testing.TB) time.Time {
	tb.Helper()
	settled, err := b.Count(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return settled
}

// settle counts until everything up to now is final. Transactions of other
// tests on the same server may delay that.
func (b *bench) settle(tb testing.TB) {
	tb.Helper()
	want := b.now()
	b.forward(2 * time.Minute)
	for deadline := time.Now().Add(2 * time.Minute); b.count(tb).Before(want); b.forward(10 * time.Second) {
		if time.Now().After(deadline) {
			tb.Fatal("two minutes later the counts are not final")
		}
	}
}

// number returns the one number that a query gives.
func (b *bench) number(tb testing.TB, sql string) (n int64) {
	tb.Helper()
	if err := b.super.QueryRow(context.Background(), sql).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// differ returns how many counts are not what the journal has.
func (b *bench) differ(tb testing.TB) int64 {
	tb.Helper()
	return b.number(tb, `WITH minutes AS (
			SELECT entity_id, date_trunc('minute', at) AS minute, mode, status, count(*)::integer AS n,
				bit_or(1::bigint << date_part('second', date_trunc('second', at))::integer) AS seconds FROM journal_entry GROUP BY 1, 2, 3, 4),
		counted AS (SELECT entity_id, (at AT TIME ZONE 'UTC')::date AS day, mode, status, count(*) AS n FROM journal_entry GROUP BY GROUPING SETS ((1, 2, 3, 4), (2, 3, 4))),
		days AS (SELECT coalesce(entity_id, '00000000-0000-0000-0000-000000000000'), day, mode, status, n FROM counted)
		SELECT (SELECT count(*) FROM (TABLE minutes EXCEPT TABLE journal_minute) x) + (SELECT count(*) FROM (TABLE journal_minute EXCEPT TABLE minutes) x)
			+ (SELECT count(*) FROM (TABLE days EXCEPT TABLE journal_day) x) + (SELECT count(*) FROM (TABLE journal_day EXCEPT TABLE days) x)`)
}
