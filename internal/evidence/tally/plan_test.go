package tally_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
)

// Neither counting nor listing scans a whole day of the journal or all counts:
// not for an entity with constant traffic, and not for one with little.
func TestNothingLargeIsScanned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// One connection, so that it can be told to say what it has read.
	one, err := pg.Open(t.Context(), b.super.Config().ConnString(), pg.Options{Role: pg.Serve, Conns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(one.Close)
	b.Pool = one
	busy, rare := uuid.New(), uuid.New()
	day := b.now().Truncate(24 * time.Hour)
	// A record every 500 ms from 00:00 to 09:00, 64,800 in all. Their hashes are wrong: they are
	// to be counted, and not to be read when somebody looks for others.
	writer, err := b.super.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Release()
	_, err = writer.Exec(t.Context(), `INSERT INTO journal_entry (`+journaltest.Fields+`)
		SELECT gen_random_uuid(), $1::timestamptz + i * interval '500 milliseconds', 1, i, 0, 'number',
			CASE WHEN i % 1000 = 0 THEN $3::uuid WHEN i % 3 = 0 THEN $2::uuid ELSE md5((i % 500)::text)::uuid END,
			$2, 'live', 'payment', '', 'NORMAL', '', 'MTN', 1, 1, 1, 1, decode(repeat('00', 39), 'hex'), 2348031234567, '08031234567', '', '', '', '', '',
			decode(md5('x'), 'hex'), decode(md5('x') || md5('y'), 'hex')
		FROM generate_series(0, 9 * 3600 * 2 - 1) i`, day, busy, rare)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a session tells what it has written after a second, which the test may not take
		if _, err := writer.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`); err != nil {
			t.Fatal(err)
		}
	}
	const mine = 8
	for i := range mine { // from hour to hour
		b.mustWrite(t, entry(day.Add(time.Duration(i)*time.Hour), rare, "test", "PORTED"))
	}
	b.settle(t)
	for _, table := range []string{"journal_minute", "journal_day"} {
		if _, err := b.super.Exec(t.Context(), "VACUUM ANALYZE "+table); err != nil {
			t.Fatal(err)
		}
	}
	before := b.read(t)
	b.count(t)
	page, err := b.Records(t.Context(), tally.Filter{Entity: rare, Status: "PORTED", Limit: 50})
	if err != nil || len(page.Records) != mine {
		t.Errorf("Records = %+v, %v", page, err)
	}
	for _, who := range []uuid.UUID{busy, uuid.Nil} {
		if _, err := b.Days(t.Context(), who, "live", day.AddDate(0, 0, -30), day); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Minutes(t.Context(), busy, "live", "", day, day.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	after := b.read(t)
	if len(after) < 3 {
		t.Fatalf("the statistics know only of %v", after)
	}
	for table, rows := range after {
		if more := rows - before[table]; more > 30_000 {
			t.Errorf("%s: %d rows were read", table, more)
		}
	}
}

// read returns how many rows were read from each of the large tables so far, by
// any access method.
func (b *bench) read(tb testing.TB) map[string]int64 {
	tb.Helper()
	ctx := context.Background()
	for range 2 { // the second statement tells what was read before the first
		if _, err := b.Pool.Exec(ctx, `SELECT pg_stat_force_next_flush()`); err != nil {
			tb.Fatal(err)
		}
	}
	rows, err := b.super.Query(ctx, `SELECT relname::text, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
		WHERE relname ~ '^journal_(minute|day|entry_)' AND n_live_tup > 100`)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	got := make(map[string]int64)
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			tb.Fatal(err)
		}
		got[name] = n
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return got
}
