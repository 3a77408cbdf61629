package journal

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A day whose rows are in any order on disk is checked with the same result: all
// damage is found, and no more.
func TestScatteredDayIsCheckedLikeAnyOther(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	pool, super := pgtest.Open(t, url, pg.Serve), pgtest.Open(t, url, "")
	j, err := Open(t.Context(), pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 900 {
		at := time.Now().UTC().Truncate(time.Millisecond)
		batch := make([]record.Entry, 3)
		for i := range batch {
			batch[i] = record.Entry{RequestID: record.NewRequestID(at), At: at, Mode: "live", Nonce: record.NewNonce(), Personal: record.Personal{Number: 2348031234567}}
		}
		if err := j.Append(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
	}
	// In the end the order on disk is another one. A temporary table belongs to its
	// session, so all is one command.
	_, err = super.Exec(t.Context(), `BEGIN;
		UPDATE journal_entry SET status = 'x' WHERE n % 100 = 7 AND idx = 1;
		DELETE FROM journal_entry WHERE n % 100 = 8 AND idx = 2;
		DELETE FROM journal_batch WHERE n % 100 = 9;
		DELETE FROM journal_entry WHERE n % 100 = 10;
		UPDATE journal_batch SET count = 4 WHERE n % 100 = 11;
		CREATE TEMP TABLE shuffled AS SELECT * FROM journal_entry ORDER BY hash;
		TRUNCATE journal_entry;
		INSERT INTO journal_entry SELECT * FROM shuffled;
		COMMIT`)
	if err != nil {
		t.Fatal(err)
	}
	check := func(held int) Report {
		r, err := (&Checker{Pool: pool, Limit: 1000, maxEntries: held}).Check(t.Context(), time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(r.Findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What)) })
		return r
	}
	scattered, sorted := check(0), check(50)
	if diff := gocmp.Diff(scattered, sorted); diff != "" || scattered.Found < 5*9 {
		t.Errorf("%d findings (-as it lies +sorted):\n%s", scattered.Found, diff)
	}
}
