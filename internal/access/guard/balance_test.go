package guard_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// What is left is what the next requests get: of a quota, of a budget of numbers, and of what the
// organisations of a sponsor share.
func TestBalanceIsWhatTheNextRequestsGet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client, entities := b.sponsor(t, 2)
	budget := guard.Budget{Day: 50, Month: 60, Numbers: 20, Year: 0, Sponsor: client, SponsorNumbers: 30, SponsorYear: 1000}
	ask := func(i int, n int64) error {
		number, _ := phone.FromInt(2348030000000 + n)
		err := b.Admit(entities[i], budget, number)
		if err == nil {
			b.Record(entities[i], number, false)
		}
		return err
	}
	for n := range int64(15) {
		if err := ask(0, n); err != nil {
			t.Fatal(err)
		}
		if err := ask(1, 100+n%12); err != nil {
			t.Fatal(err)
		}
	}
	day, month, year := morning.Truncate(24*time.Hour).AddDate(0, 0, 1), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	want := guard.Balances{
		Day: guard.Balance{Limit: 50, Used: 15, Left: 35, Renews: day}, Month: guard.Balance{Limit: 60, Used: 15, Left: 45, Renews: month},
		Numbers: guard.Balance{Limit: 20, Used: 15, Left: 3, Renews: day}, // of 30 that both have, 27 are used
		Year:    guard.Balance{Limit: 1000, Used: 15, Left: 973, Renews: year},
	}
	got := b.Balances(entities[0], budget)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("balances (-want +got):\n%s", diff)
	}
	var admitted int64
	for n := int64(200); ask(0, n) == nil; n++ {
		admitted++
	}
	if admitted != got.Numbers.Left {
		t.Errorf("%d more numbers are admitted, and %d were left", admitted, got.Numbers.Left)
	}
	if got := b.Balances(entities[0], guard.Budget{}); got.Day.Limit != 0 || got.Day.Left != 0 {
		t.Errorf("without a limit: %+v", got.Day)
	}
}

// The numbers of a file are spent of what files may have on a day.
func TestFileBalance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entity := b.entity(t)
	budget := guard.Budget{Numbers: 5, Year: 1000}
	for _, want := range []int64{50, 43, 36} {
		got, err := b.FileBalance(t.Context(), b.pool, entity, budget)
		if err != nil || got.Limit != 50 || got.Left != want || got.Used != 50-want {
			t.Errorf("%+v, %v; want %d left", got, err, want)
		}
		err = pg.InTx(t.Context(), b.pool, func(tx pg.Tx) error {
			f := &guard.FileNumbers{}
			for i := range 7 {
				n, _ := phone.FromInt(2348030000000 + want*10_007 + int64(i*i)*31_337)
				f.Numbers = append(f.Numbers, n)
			}
			f.Numbers = slices.Concat(f.Numbers, f.Numbers[:2]) // the same again
			_, err := b.EnterFile(t.Context(), tx, entity, budget, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if used, err := guard.UsageOf(t.Context(), b.pool, entity, b.clock.now()); err != nil || used.Files != 21 {
		t.Errorf("stored usage: %+v, %v; want 21 numbers of files", used, err)
	}
	b.clock.forward(24 * time.Hour)
	if got, err := b.FileBalance(t.Context(), b.pool, entity, budget); err != nil || got.Left != 50 {
		t.Errorf("on the next day: %+v, %v", got, err)
	}
}
