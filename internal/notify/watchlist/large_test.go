package watchlist_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A list of a nation's size is stored in a few bytes for each number, and a change is
// matched with it at little cost. LINEPROOF_E2E_LIST is how many numbers it has (50,000);
// they are every fifth number, in the order of a file.
func TestLargeListIsSmall(t *testing.T) {
	t.Parallel()

	size := 50_000
	if n, err := strconv.Atoi(os.Getenv("LINEPROOF_E2E_LIST")); err == nil {
		size = n
	}
	e := newEnv(t)
	o := e.bank("live", 0)
	numbers := func(yield func(phone.Number, error) bool) {
		for i := range size {
			if !yield(number(i*5), nil) {
				return
			}
		}
	}
	id := e.create(o)
	before := pgtest.UsedCPU(t, e.pool)
	l, err := e.Replace(t.Context(), o, id, numbers, false)
	if err != nil {
		t.Fatal(err)
	}
	loaded := pgtest.UsedCPU(t, e.pool).Since(before)
	var bytes int64
	if err := e.pool.QueryRow(t.Context(), `SELECT pg_total_relation_size('watch_block')`).Scan(&bytes); err != nil {
		t.Fatal(err)
	}
	if l.Members != int64(size) {
		t.Fatalf("the list has %d members", l.Members)
	}
	if _, err := e.pool.Exec(t.Context(), `UPDATE watch_list SET state = 'active'`); err != nil { // nobody supplies these lines
		t.Fatal(err)
	}
	const changes, batch = 50_000, 1_000
	random := rand.New(rand.NewPCG(3, 4))
	matched := 0
	before = pgtest.UsedCPU(t, e.pool)
	for range changes / batch {
		some := make([]phone.Number, batch)
		for i := range some {
			some[i] = number(random.IntN(5 * size))
		}
		if err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
			found, err := watchlist.MatchLive(t.Context(), tx, some)
			matched += len(found)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	cost := pgtest.UsedCPU(t, e.pool).Since(before)
	t.Logf("%d numbers: %.2f bytes each with the indexes, loaded with %v of CPU, %v of it the service's, numbers counted and judged included; %d of %d random changes matched, %.1f µs of CPU each",
		size, float64(bytes)/float64(size), loaded.Total(), loaded.Own, matched, changes, float64(cost.Total().Microseconds())/changes)
	if matched < changes/6 {
		t.Errorf("%d of %d changes were matched, about a fifth of them are in the list", matched, changes)
	}
}
