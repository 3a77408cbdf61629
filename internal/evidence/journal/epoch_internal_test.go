package journal

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func take(t *testing.T, w *EpochWriter) *BatchNumber {
	t.Helper()
	n, err := w.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func open(t *testing.T, pool *pgxpool.Pool) *EpochWriter {
	t.Helper()
	w, err := OpenEpoch(t.Context(), pool, "a", 3)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// wantEnd fails the test unless the process recorded this end of an epoch.
func wantEnd(t *testing.T, pool *pgxpool.Pool, epoch, last int64, unused ...int64) {
	t.Helper()
	var gotLast int64
	var got []int64
	err := pool.QueryRow(t.Context(), `SELECT last, unused || unknown FROM journal_epoch_end WHERE epoch = $1 AND by_writer`, epoch).Scan(&gotLast, &got)
	slices.Sort(got)
	if err != nil || gotLast != last || !slices.Equal(got, unused) {
		t.Errorf("epoch %d ended with %d, unused %v, %v; want %d, %v", epoch, gotLast, got, err, last, unused)
	}
}

// Numbers have no gap: one whose batch was certainly not written is used again.
func TestNumberOfABatchThatWasNotWrittenIsUsedAgain(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	w := open(t, pool)
	first, second := take(t, w), take(t, w)
	first.NotWritten()
	second.Written()
	if again := take(t, w); again.N != 1 || again.Epoch != first.Epoch {
		t.Errorf("the next number is %d, want 1 again", again.N)
	} else {
		again.Written()
	}
	if next := take(t, w); next.N != 3 {
		t.Errorf("the next number is %d, want 3", next.N)
	} else {
		next.NotWritten()
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, pool, first.Epoch, 3, 3)
}

// After an unknown outcome the process writes under another epoch. The end of the first
// waits for its batches in flight, and lists the number.
func TestUnknownOutcomeEndsTheEpoch(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	w := open(t, pool)
	unknown, slow := take(t, w), take(t, w)
	unknown.Unknown()
	next := take(t, w)
	if next.Epoch == unknown.Epoch || next.N != 1 {
		t.Errorf("the next batch is %d of epoch %d, want the first of another than %d", next.N, next.Epoch, unknown.Epoch)
	}
	var ends int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_epoch_end`).Scan(&ends); err != nil || ends != 0 {
		t.Errorf("%d ends while a batch is in flight, %v", ends, err)
	}
	slow.Written()
	next.Unknown()
	take(t, w).Written()
	wantEnd(t, pool, unknown.Epoch, 2, 1)
	wantEnd(t, pool, next.Epoch, 1, 1)
}

// A process uses an epoch for an hour and then records its end.
func TestEpochIsUsedForAnHour(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	w := open(t, pool)
	first := take(t, w)
	first.Written()
	w.current.begun = w.current.begun.Add(-59 * time.Minute)
	if n := take(t, w); n.Epoch != first.Epoch {
		t.Error("an epoch ended before its time")
	} else {
		n.Written()
	}
	w.current.begun = w.current.begun.Add(-2 * time.Minute)
	if n := take(t, w); n.Epoch == first.Epoch || n.N != 1 {
		t.Errorf("after an hour the next batch is %d of the same epoch", n.N)
	}
	wantEnd(t, pool, first.Epoch, 2)
}
