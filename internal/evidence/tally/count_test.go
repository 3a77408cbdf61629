package tally_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/record"
)

// Whatever the order in which transactions begin, commit late or are rolled
// back, and however often a count is interrupted or two run at once: in the end
// the counts equal the journal.
func TestCountsEqualTheJournalWhateverTheOrder(t *testing.T) {
	t.Parallel()
	seeds := uint64(4)
	if s := os.Getenv("LINEPROOF_TALLY_SEEDS"); s != "" {
		seeds, _ = strconv.ParseUint(s, 10, 32)
	}
	for seed := range seeds {
		t.Run("seed "+strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			scramble(t, rand.New(rand.NewPCG(seed, 7)))
		})
	}
}

func scramble(t *testing.T, r *rand.Rand) {
	t.Helper()
	b := newBench(t)
	ctx := t.Context()
	b.set(b.now().Add(15*time.Hour - 10*time.Minute)) // it goes over midnight
	start := b.now()
	entities := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	modes, statuses := []string{"live", "live", "test"}, []string{"NORMAL", "NORMAL", "SWAPPED"}
	some := func() []record.Entry {
		at := b.now().Add(-time.Duration(r.Int64N(int64(59 * time.Second)))) // decided a while ago
		batch := make([]record.Entry, 1+r.IntN(4))
		for i := range batch {
			batch[i] = entry(at, entities[r.IntN(3)], modes[r.IntN(3)], statuses[r.IntN(3)])
		}
		return batch
	}
	var open []pgx.Tx // that have written and not ended
	end := func(i int) {
		if r.IntN(5) == 0 {
			_ = open[i].Rollback(ctx)
		} else if err := open[i].Commit(ctx); err != nil {
			t.Fatal(err)
		}
		open = append(open[:i], open[i+1:]...)
	}
	for range 250 {
		b.forward(time.Duration(r.Int64N(int64(20 * time.Second))))
		switch k := r.IntN(10); {
		case k < 3:
			b.mustWrite(t, some()...)
		case k < 5 && len(open) < 6:
			tx, err := b.super.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.write(ctx, tx, some()...); err != nil {
				t.Fatal(err)
			}
			open = append(open, tx)
		case k < 7 && len(open) > 0:
			end(r.IntN(len(open)))
		case k == 7: // broken off somewhere
			short, cancel := context.WithTimeout(ctx, time.Duration(r.Int64N(int64(8*time.Millisecond))))
			_, _ = b.Count(short)
			cancel()
		case k == 8: // two at once
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					if _, err := b.Count(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
		default:
			b.count(t)
		}
	}
	early := b.number(t, `SELECT extract(epoch FROM settled)::bigint FROM tally_mark`)
	for len(open) > 0 {
		end(0)
	}
	b.settle(t)
	if early <= start.Unix() { // transactions of other tests on the same server may hold it up
		t.Logf("nothing was settled on the way: %s", time.Unix(early, 0).UTC())
	}
	if n := b.number(t, `SELECT count(*) FROM journal_entry WHERE at >= (SELECT settled FROM tally_mark)`); n != 0 {
		t.Errorf("%d records are not settled", n)
	}
	if n := b.differ(t); n != 0 {
		t.Errorf("%d counts differ from the journal", n)
	}
}

// A transaction whose commit takes an hour, as while a standby is unavailable,
// is counted when it is committed, and nothing that was committed before waits
// for it.
func TestALateCommitIsCountedWhenItComes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := uuid.New()
	b.count(t)
	late, err := b.super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.write(t.Context(), late, entry(b.now(), bank, "live", "NORMAL")); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		b.forward(5 * time.Minute)
		b.mustWrite(t, entry(b.now(), bank, "live", "NORMAL"))
		b.count(t)
	}
	if n := b.number(t, `SELECT sum(n) FROM journal_day WHERE entity_id = '00000000-0000-0000-0000-000000000000'`); n != 12 {
		t.Errorf("%d answers are counted, want those 12 that are there", n)
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.settle(t)
	if n := b.number(t, `SELECT sum(n) FROM journal_day WHERE entity_id = '00000000-0000-0000-0000-000000000000'`); n != 13 {
		t.Errorf("%d answers are counted, want 13", n)
	}
	if n := b.differ(t); n != 0 {
		t.Errorf("%d counts differ from the journal", n)
	}
}

// What was in the journal before the first count is counted too, and minutes
// that are too old are deleted while their days stay.
func TestOldDaysAreCountedAndTheirMinutesDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := uuid.New()
	yesterday := b.now().Add(-20 * time.Hour)
	b.mustWrite(t, entry(yesterday, bank, "live", "NORMAL"), entry(b.now(), bank, "live", "SWAPPED"))
	b.settle(t)
	if n := b.differ(t); n != 0 {
		t.Fatalf("%d counts differ from the journal", n)
	}
	b.set(yesterday.Add(35*24*time.Hour + 2*time.Hour))
	b.settle(t)
	if n := b.number(t, `SELECT count(*) FROM journal_minute`); n != 1 {
		t.Errorf("%d minutes are kept, want 1", n)
	}
	if n := b.number(t, `SELECT sum(n) FROM journal_day WHERE entity_id = '00000000-0000-0000-0000-000000000000'`); n != 2 {
		t.Errorf("%d answers are counted, want 2", n)
	}
	days, err := b.Days(t.Context(), bank, "live", yesterday, yesterday.AddDate(0, 0, 2))
	if err != nil || len(days) != 3 || days[0].ByStatus["NORMAL"] != 1 || days[1].ByStatus["SWAPPED"] != 1 || days[2].Total != 0 {
		t.Errorf("Days = %+v, %v", days, err)
	}
}

// A mark that was restored from a dump of another cluster does not block the
// count: its transaction numbers mean nothing here.
func TestAMarkFromAnotherClusterHoldsNothingUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.count(t)
	if _, err := b.super.Exec(t.Context(), `UPDATE tally_mark SET fence_xact = '9000000000000'`); err != nil {
		t.Fatal(err)
	}
	b.mustWrite(t, entry(b.now(), uuid.New(), "live", "NORMAL"))
	b.settle(t)
	if n := b.differ(t); n != 0 {
		t.Errorf("%d counts differ from the journal", n)
	}
}
