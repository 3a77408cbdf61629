package distribute_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The lists of a nation's 200 banks are stored in a few bytes for each number of a list, and a
// random change is distributed at little cost. LINEPROOF_E2E_PAIRS is how many numbers all
// lists have together (30,000), a third of them in the largest; LINEPROOF_E2E_CHANGES is how
// many changes are distributed. The nation has two lines for each three of those numbers, on
// two of five numbers, as 200 million lines have with 300 million.
func TestListsOfANationAreSmall(t *testing.T) {
	t.Parallel()

	pairs, changes := setting("LINEPROOF_E2E_PAIRS", 30_000), setting("LINEPROOF_E2E_CHANGES", 2_000)
	e := newEnvAt(t, largeDatabase(t, pairs))
	random := rand.New(rand.NewPCG(5, 6))
	lines := pairs * 2 / 3
	before := pgtest.UsedCPU(t, e.pool)
	var members int64
	for _, share := range shares() {
		o := watchlist.Owner{Entity: e.bank(), Mode: "live"}
		l, err := e.lists.Create(t.Context(), o, "customers")
		if err != nil {
			t.Fatal(err)
		}
		if l, err = e.lists.Replace(t.Context(), o, l.ID, customers(random, lines, int(share*float64(pairs))), false); err != nil {
			t.Fatal(err)
		}
		members += l.Members
	}
	loaded := pgtest.UsedCPU(t, e.pool).Since(before)
	e.exec(`UPDATE watch_list SET state = 'active'`) // nobody supplies these lines
	var stored int64
	if err := e.pool.QueryRow(t.Context(), `SELECT pg_total_relation_size('watch_block')`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if members < int64(pairs)*9/10 || members > int64(pairs)*11/10 {
		t.Fatalf("the lists have %d numbers of %d", members, pairs)
	}

	for at := 0; at < changes; at += 10 { // as calls of suppliers do
		some := make([]outbox.Change, 10)
		for i := range some {
			some[i] = swap(lineAt(random.IntN(lines)), 2)
		}
		e.change(some...)
	}
	entries := 0
	e.Distributed = func(_ int, events map[string]int) {
		for _, made := range events {
			entries += made
		}
	}
	before, begin := pgtest.UsedCPU(t, e.pool), time.Now()
	e.step()
	cost, took := pgtest.UsedCPU(t, e.pool).Since(before), time.Since(begin)
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(changes) }
	t.Logf("%d numbers in %d lists: %.2f bytes each with the indexes, loaded with %v of CPU, %v of it the service's", members, len(shares()), float64(stored)/float64(members), loaded.Total(), loaded.Own)
	t.Logf("%d random changes made %d entries: %.0f a second, %.1f µs of CPU each, %.1f of it the service's", changes, entries, float64(changes)/took.Seconds(), each(cost.Total()), each(cost.Own))
	if pairs >= 1_000_000 && float64(stored) > 4.5*float64(members) {
		t.Errorf("%.2f bytes a number", float64(stored)/float64(members))
	}
	if entries < changes {
		t.Errorf("%d changes made %d entries; each number is in one and a half lists", changes, entries)
	}

	var matched pgtest.CPU
	for at := 0; at < changes; at += 1_000 {
		some := make([]phone.Number, 1_000)
		for i := range some {
			some[i] = number(lineAt(random.IntN(lines)))
		}
		before := pgtest.UsedCPU(t, e.pool)
		if err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
			_, err := watchlist.MatchLive(t.Context(), tx, some)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		used := pgtest.UsedCPU(t, e.pool).Since(before)
		matched.Own, matched.Server = matched.Own+used.Own, matched.Server+used.Server
	}
	t.Logf("matching alone: %.1f µs of CPU for a change, %.1f of it the service's", each(matched.Total()), each(matched.Own))
}

// largeDatabase returns a database for so many numbers. Those of a nation get a server with
// the memory that docs/how-to/tune-postgresql.md gives it on a machine like this one:
// each change reads the blocks of all banks, which are as far apart as the lists are long.
func largeDatabase(t *testing.T, pairs int) string {
	t.Helper()
	if pairs < 1_000_000 {
		return pgtest.URL(t)
	}
	node, err := pgtest.StartNode(t.Context(), "", "shared_buffers = 6144MB", "max_wal_size = 4GB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	return node.Database()
}

// shares returns which part of all numbers each bank has: ten large ones have almost all.
func shares() (all []float64) {
	all = []float64{100, 62, 41, 28, 19, 13, 9.5, 7, 5, 4}
	const all300, small = 300, 190
	rest := float64(all300)
	for _, s := range all {
		rest -= s
	}
	for range small {
		all = append(all, rest/small)
	}
	for i := range all {
		all[i] /= all300
	}
	return all
}

// lineAt returns the number of a line.
func lineAt(i int) int { return i * 5 / 2 }

// customers are random lines, in their order.
func customers(random *rand.Rand, lines, count int) iter.Seq2[phone.Number, error] {
	return func(yield func(phone.Number, error) bool) {
		skipped := math.Log1p(-float64(count) / float64(lines)) // the gaps of independent choices
		for i := int(math.Log(1-random.Float64()) / skipped); i < lines; i += 1 + int(math.Log(1-random.Float64())/skipped) {
			if !yield(number(lineAt(i)), nil) {
				return
			}
		}
	}
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
