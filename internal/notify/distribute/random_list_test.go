package distribute_test

import (
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A list of numbers at random is held, and nothing is told of its numbers; one of as many
// customers, of whom one in a hundred has no line any more, is told everything.
// LINEPROOF_E2E_LIST is how many numbers each has (5,000). Two of five numbers are lines.
func TestListOfRandomNumbersTellsNothing(t *testing.T) {
	t.Parallel()

	size := setting("LINEPROOF_E2E_LIST", 5_000)
	e := newEnv(t)
	e.supplied(e.planned(), "MTN", time.Now())
	lines := size * 2
	e.exec(`INSERT INTO line_now (number, version, baseline, network, state, bits) SELECT 2348030000000 + i * 5 / 2, 1, 1, 1, 1, 0 FROM generate_series(0, $1::bigint - 1) AS i`, lines)
	random := rand.New(rand.NewPCG(8, 9))
	replace := func(numbers iter.Seq2[phone.Number, error]) (uuid.UUID, watchlist.List) {
		o := watchlist.Owner{Entity: e.bank(), Mode: "live"}
		l, err := e.lists.Create(t.Context(), o, "customers")
		if err != nil {
			t.Fatal(err)
		}
		if l, err = e.lists.Replace(t.Context(), o, l.ID, numbers, false); err != nil {
			t.Fatal(err)
		}
		if err := e.lists.JudgeDue(t.Context(), l.ChangedAt.AddDate(0, 0, 1)); err != nil {
			t.Fatal(err)
		}
		if l, err = e.lists.List(t.Context(), o, l.ID); err != nil {
			t.Fatal(err)
		}
		return o.Entity, l
	}
	scanner, scanned := replace(some(size, func(int) int { return random.IntN(lines * 5 / 2) }))
	honest, customers := replace(some(size, func(i int) int {
		if i%100 == 0 {
			return lineAt(2*i) + 1 // its neighbour has a line
		}
		return lineAt(2 * i)
	}))
	if scanned.State != watchlist.Held || customers.State != watchlist.Active {
		t.Fatalf("the random list is %s, the honest one %s", scanned.State, customers.State)
	}
	const changes = 1_000
	for range changes {
		e.change(swap(lineAt(random.IntN(lines)), 2))
	}
	e.step()
	told := func(bank uuid.UUID) (n int) {
		for _, event := range e.told(bank) {
			if event.Type == "line.v1.swapped" {
				n++
			}
		}
		return n
	}
	if n := told(scanner); n != 0 {
		t.Errorf("%d changes were told of a held list", n)
	}
	if n := told(honest); n < changes*4/10 || n > changes*6/10 {
		t.Errorf("%d of %d changes were told to a bank with half of the lines", n, changes)
	}
	t.Logf("of %d and %d numbers, %s and %s", scanned.Members, customers.Members, scanned.State, customers.State)
}

func some(count int, at func(i int) int) iter.Seq2[phone.Number, error] {
	return func(yield func(phone.Number, error) bool) {
		for i := range count {
			if !yield(number(at(i)), nil) {
				return
			}
		}
	}
}
