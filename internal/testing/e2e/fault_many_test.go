package e2e_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The checker can handle as many records as a full run creates, and still finds the
// one that is missing.
func TestCheckerManagesMany(t *testing.T) {
	ctx := t.Context()
	records := size(t, "LINEPROOF_E2E_RECORDS", 20_000)
	w, tp := newFixture(t, pgtest.URL(t)), newTape(t)
	tr := tp.track(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const together = 100
	begin := time.Now()
	last := correlator(0)
	for n := range int64(max(1, records/together)) {
		entries := make([]record.Entry, together)
		for i := range entries {
			last = correlator(serial.Add(1))
			number := int64(firstLine) + rng.Int64N(2*knownLines)
			entries[i] = w.record(last.String(), number, spell(rng, number))
			tr.sent(last, number, entries[i].PhoneNumber)
			tr.ended(markAnswered, last, tell(entries[i]))
		}
		if err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error { return writeBatch(ctx, tx, 1, n+1, entries...) }); err != nil {
			t.Fatal(err)
		}
	}
	tr.close()
	t.Logf("made %d records in %s", records, time.Since(begin).Round(time.Millisecond))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, findings := examine(t, w, tp, false)
	runtime.ReadMemStats(&after)
	t.Logf("%s; the process took %d MiB from the system, %d more than before", r, after.Sys>>20, (after.Sys-before.Sys)>>20)
	if len(findings) > 0 {
		t.Fatalf("in a journal as it should be the checker finds %v", findings[:min(len(findings), 5)])
	}
	if _, err := w.pool.Exec(context.WithoutCancel(ctx), `DELETE FROM journal_entry WHERE correlator = $1`, last.String()); err != nil {
		t.Fatal(err)
	}
	if r, _ := examine(t, w, tp, false); r.Lost != 1 {
		t.Errorf("one record is gone, and the checker finds: %s", r)
	}
}
