package guard_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// enter puts numbers into a list, from the one at a place on.
func enter(t *testing.T, g *guard.Guard, entity uuid.UUID, b guard.Budget, from, count int64) error {
	t.Helper()
	return pg.InTx(t.Context(), g.Pool, func(tx pg.Tx) error {
		return g.Enter(t.Context(), tx, entity, b, func(yield func(phone.Number) bool) {
			for i := range count {
				if !yield(number(spread(from + i))) {
					return
				}
			}
		})
	})
}

// Numbers in lists and verified numbers spend one budget of the year: neither the same
// number twice, nor on another node, nor in a list that replaces another, nor after a
// restart does anybody get more. What a transaction enters that is rolled back is not
// spent.
func TestListsAndVerificationsShareTheYear(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, budget := b.entity(t), guard.Budget{Numbers: 1_000_000, Year: 1_000}
	for i := range int64(300) {
		mustAsk(t, b.Guard, bank, budget, spread(i))
	}
	if err := enter(t, b.Guard, bank, budget, 200, 400); err != nil { // a hundred of them were verified
		t.Fatal(err)
	}
	if err := enter(t, b.Guard, bank, budget, 200, 400); err != nil {
		t.Fatalf("the same list again: %v", err)
	}
	changedMind := errors.New("rolled back")
	err := pg.InTx(t.Context(), b.pool, func(tx pg.Tx) error {
		all := func(yield func(phone.Number) bool) { _ = yield(number(spread(5_000))) }
		return errors.Join(changedMind, b.Enter(t.Context(), tx, bank, budget, all))
	})
	if !errors.Is(err, changedMind) {
		t.Fatal(err)
	}
	refused(t, enter(t, b.Guard, bank, budget, 1_000, 450)) // 600 are spent
	settle(t, b.Guard)
	other := b.node(t, "two")
	refused(t, enter(t, other, bank, budget, 1_000, 450))
	b.clock.forward(time.Minute)
	settle(t, other)
	verified := int64(0)
	for verified < 1_000 && ask(other, bank, budget, spread(2_000+verified)) == nil {
		verified++
	}
	if verified < 380 || verified > 420 {
		t.Errorf("%d further numbers were verified, want about 400", verified)
	}
	refused(t, enter(t, other, bank, budget, 3_000, 50))
	if err := enter(t, b.Guard, bank, guard.Budget{}, 3_000, 5_000); err != nil {
		t.Errorf("without a budget: %v", err)
	}
	b.clock.set(time.Date(2027, 1, 2, 9, 0, 0, 0, time.UTC))
	settle(t, b.Guard)
	if err := enter(t, b.Guard, bank, budget, 8_000, 900); err != nil {
		t.Errorf("in the new year: %v", err)
	}
}

// The organisations of one sponsor share its budget for lists, too.
func TestListsOfOneSponsorShareAYear(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client, banks := b.sponsor(t, 3)
	if _, err := b.pool.Exec(t.Context(), `UPDATE entity SET client_id = $1 WHERE id = ANY($2)`, client, banks); err != nil {
		t.Fatal(err)
	}
	budget := guard.Budget{Year: 10_000, OwnYear: true, Sponsor: client, SponsorYear: 1_000}
	for i, bank := range banks[:2] {
		if err := enter(t, b.Guard, bank, budget, int64(i)*400, 400); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, enter(t, b.Guard, banks[2], budget, 800, 300))
	if err := enter(t, b.Guard, banks[2], budget, 0, 300); err != nil {
		t.Errorf("numbers that others of the sponsor have: %v", err)
	}
}

// Whoever has used up a year, and goes on to offer numbers one by one, enters hardly any,
// although the sketch that counts them changes with few; nor by offering some at a time.
// What a list loses is never refused.
func TestRefusedNumbersDoNotStretchTheYear(t *testing.T) {
	t.Parallel()
	const budget = 200_000
	for _, atOnce := range []int64{1, 20} {
		b := newBench(t)
		bank, year, next, entered := b.entity(t), guard.Budget{Year: budget}, int64(0), int64(0)
		for part := int64(budget / 2); part >= atOnce; { // to the end of the budget
			if err := enter(t, b.Guard, bank, year, next, part); err == nil {
				next += part
				continue
			}
			part /= 2
		}
		const offers = 400
		for range offers {
			if enter(t, b.Guard, bank, year, next+1_000_000, atOnce) == nil {
				entered += atOnce
			}
			next += atOnce
		}
		if entered > budget/1000 {
			t.Errorf("of %d numbers, %d at a time, %d entered after the end of the budget", offers*atOnce, atOnce, entered)
		}
		if err := enter(t, b.Guard, bank, year, 0, 0); err != nil {
			t.Errorf("no number: %v", err)
		}
	}
}
