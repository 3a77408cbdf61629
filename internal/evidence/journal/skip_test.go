package journal_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// After the counter was moved, no start of a node gets an epoch that an earlier
// start could have had, however often it is moved; and each move is recorded.
func TestSkippedEpochsAreNeverUsedAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	serve, owner := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, pg.Owner)
	draw := func() int64 {
		w, err := journal.OpenEpoch(t.Context(), serve, "a", 2)
		if err != nil {
			t.Fatal(err)
		}
		n, err := w.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n.Epoch
	}
	before := draw()
	now := time.Now()
	last, next, err := journal.SkipEpochs(t.Context(), owner, "restored", now)
	if err != nil || last != before || next != now.Unix() {
		t.Fatalf("from %d to %d, %v; the last was %d", last, next, err, before)
	}
	if first := draw(); first != next {
		t.Errorf("the first epoch after is %d, want %d", first, next)
	}
	draw()
	again, beyond, err := journal.SkipEpochs(t.Context(), owner, "restored once more", now)
	if err != nil || again != next+1 || beyond != next+1+1_000_000 {
		t.Errorf("a second time: from %d to %d, %v", again, beyond, err)
	}
	if first := draw(); first != beyond {
		t.Errorf("the first epoch after that is %d, want %d", first, beyond)
	}
	var n int
	err = owner.QueryRow(t.Context(), `SELECT count(*) FROM journal_epoch_skip s JOIN audit a ON a.subject_id = s.id WHERE a.action = 'journal.epochs_skipped' AND s.reason LIKE 'restored%'`).Scan(&n)
	if err != nil || n != 2 {
		t.Errorf("%d of 2 are noted, %v", n, err)
	}
	if _, _, err := journal.SkipEpochs(t.Context(), serve, "x", now); err == nil {
		t.Error("the serving role moved the counter")
	}
}
