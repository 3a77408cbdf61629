package tally_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/tally"
)

// list reads all pages and returns the ids.
func (b *bench) list(tb testing.TB, f tally.Filter) (ids []uuid.UUID) {
	tb.Helper()
	for {
		page, err := b.Records(context.Background(), f)
		if err != nil {
			tb.Fatal(err)
		}
		for i := range page.Records {
			ids = append(ids, page.Records[i].RequestID)
		}
		if page.Next == (journal.Position{}) {
			return ids
		}
		if len(page.Records) != f.Limit && page.Until.IsZero() {
			tb.Fatalf("a page that is not the last has %d records, want %d", len(page.Records), f.Limit)
		}
		f.After = page.Next
	}
}

// Page by page, every filter gives exactly the records that a scan of the whole
// journal gives, newest first, whether they are counted already or not.
func TestRecordsAreWhatAScanWouldFind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := rand.New(rand.NewPCG(1, 2))
	bank, other, key := uuid.New(), uuid.New(), uuid.New()
	start := b.now()
	for range 150 {
		b.forward(time.Duration(r.Int64N(int64(10 * time.Minute))))
		at := b.now() // some share a millisecond
		for range 1 + r.IntN(5) {
			who := []uuid.UUID{bank, other}[r.IntN(2)]
			e := entry(at, who, []string{"live", "test"}[r.IntN(2)], []string{"NORMAL", "SWAPPED", "PORTED"}[min(r.IntN(8), 2)])
			if r.IntN(20) == 0 {
				e.Key, e.Number, e.Correlator = key, 2348030000001, "rare"
			}
			b.mustWrite(t, e)
		}
	}
	middle := start.Add(b.now().Sub(start) / 2)
	compare := func(when string) {
		for name, f := range map[string]tally.Filter{
			"of one entity":      {Entity: bank},
			"of everybody":       {},
			"for tests":          {Entity: bank, Mode: "test"},
			"of a status":        {Entity: bank, Status: "SWAPPED"},
			"a status of all":    {Status: "SWAPPED", Mode: "live"},
			"from a moment on":   {Entity: bank, From: middle},
			"to a moment":        {Entity: bank, To: middle},
			"between two":        {Entity: bank, From: middle, To: middle.Add(time.Hour)},
			"of nobody":          {Entity: uuid.New()},
			"of no status":       {Entity: bank, Status: "BARRED"},
			"of a key":           {Entity: bank, Key: key},
			"of a number":        {Entity: bank, Number: 2348030000001},
			"of a correlator":    {Entity: bank, Correlator: "rare"},
			"of all three":       {Entity: bank, Correlator: "rare", Key: key, Number: 2348030000001, Mode: "live"},
			"of no correlator":   {Entity: bank, Correlator: "none"},
			"little by little":   {Entity: bank, Correlator: "rare", Within: 1},
			"the wrong way":      {Entity: bank, From: middle, To: middle.Add(-time.Hour)},
			"before the journal": {Entity: bank, To: start.AddDate(0, 0, -10)},
		} {
			want := b.scan(t, f)
			for _, limit := range []int{7, 1000} {
				f.Limit = limit
				if diff := cmp.Diff(want, b.list(t, f)); diff != "" {
					t.Errorf("%s, %s, %d at a time (-scan +listed):\n%s", name, when, limit, diff)
				}
			}
		}
	}
	b.settle(t)
	compare("counted")
	b.mustWrite(t, entry(b.now(), bank, "live", "NORMAL"), entry(b.now().Add(-5*time.Second), bank, "test", "SWAPPED"))
	compare("with some that are not")
}

// scan finds records the slow way.
func (b *bench) scan(tb testing.TB, f tally.Filter) (ids []uuid.UUID) {
	tb.Helper()
	null := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	rows, err := b.super.Query(context.Background(), `SELECT request_id FROM journal_entry WHERE ($1 = '00000000-0000-0000-0000-000000000000'::uuid OR entity_id = $1)
		AND ($2 = '' OR mode = $2) AND ($3 = '' OR status = $3) AND at >= coalesce($4, '-infinity'::timestamptz) AND at < coalesce($5, 'infinity'::timestamptz)
		AND ($6 = '00000000-0000-0000-0000-000000000000'::uuid OR key_id = $6) AND ($7::bigint = 0 OR number = $7) AND ($8 = '' OR correlator = $8)
		ORDER BY at DESC, request_id DESC`, f.Entity, f.Mode, f.Status, null(f.From), null(f.To), f.Key, f.Number, f.Correlator)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return ids
}

// A record that was changed outside the service is an error, not a row of a
// list.
func TestAForgedRecordIsNotListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := uuid.New()
	b.mustWrite(t, entry(b.now(), bank, "live", "SWAPPED"))
	if _, err := b.super.Exec(t.Context(), `UPDATE journal_entry SET status = 'NORMAL'`); err != nil {
		t.Fatal(err)
	}
	if page, err := b.Records(t.Context(), tally.Filter{Entity: bank, Limit: 10}); err == nil {
		t.Errorf("a forged record was listed: %+v", page.Records)
	}
}
