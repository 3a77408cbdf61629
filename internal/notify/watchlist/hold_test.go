package watchlist_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// change adds and removes numbers, and returns the state of the list.
func (e *env) change(o watchlist.Owner, id uuid.UUID, add, remove []phone.Number) string {
	e.t.Helper()
	l, err := e.Change(e.t.Context(), o, id, add, remove)
	if err != nil {
		e.t.Fatal(err)
	}
	return l.State
}

// sampled returns how many numbers of a list were sampled, and how many of them nobody has.
func (e *env) sampled(id uuid.UUID) (sampled, missing int64) {
	e.t.Helper()
	if err := e.pool.QueryRow(e.t.Context(), `SELECT sampled, missing + uncovered FROM watch_list WHERE id = $1`, id).Scan(&sampled, &missing); err != nil {
		e.t.Fatal(err)
	}
	return sampled, missing
}

// Numbers at random that are added at once hold a list, however many good numbers entered
// it before.
func TestGoodNumbersDoNotHideRandomOnesInALaterChange(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.assign(10_000)
	o := e.bank("live", 0)
	id := e.create(o)
	for i := range 10 {
		if state := e.change(o, id, numbers(i*1_000, 1_000, 1), nil); state != watchlist.Active {
			t.Fatalf("good numbers: %s", state)
		}
	}
	if state := e.change(o, id, numbers(50_000, 200, 1), nil); state != watchlist.Held {
		t.Errorf("with 200 numbers that nobody has in one call: %s", state)
	}
}

// Numbers that are removed and added again do not make room for numbers that nobody has.
func TestNumbersAddedAgainDoNotDiluteTheHold(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.assign(1_000)
	o := e.bank("live", 0)
	id := e.create(o)
	good := numbers(0, 500, 1)
	state := watchlist.Active
	for i := 0; i < 8 && state == watchlist.Active; i++ {
		e.change(o, id, good, nil)
		e.change(o, id, nil, good)
		e.change(o, id, good, nil)
		state = e.change(o, id, numbers(50_000+i*40, 40, 1), nil)
	}
	if state != watchlist.Held {
		sampled, missing := e.sampled(id)
		t.Errorf("320 of 820 numbers are nobody's, and the list is %s: %d of %d sampled", state, missing, sampled)
	}
}

// A list that replaces another is judged by its own numbers, also by those that were in the
// list before.
func TestReplacedListIsJudgedByItsOwnNumbers(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.assign(10_000)
	o := e.bank("live", 0)
	replace := func(id uuid.UUID, all []phone.Number) string {
		l, err := e.Replace(t.Context(), o, id, each(all), false)
		if err != nil {
			t.Fatal(err)
		}
		return l.State
	}
	id := e.create(o)
	for range 3 {
		replace(id, numbers(0, 5_000, 1))
		replace(id, nil)
	}
	if state := replace(id, numbers(50_000, 100, 1)); state != watchlist.Held {
		t.Errorf("100 numbers that nobody has after many good ones: %s", state)
	}
	id = e.create(o)
	bad := numbers(60_000, 100, 1)
	if state := replace(id, append(numbers(0, 5_000, 1), bad...)); state != watchlist.Active {
		t.Fatalf("a list of customers: %s", state)
	}
	if state := replace(id, append(numbers(9_000, 1, 1), bad...)); state != watchlist.Held {
		t.Errorf("100 numbers that nobody has stay and one enters: %s", state)
	}
	if sampled, missing := e.sampled(id); sampled != 101 || missing != 100 {
		t.Errorf("%d of %d sampled", missing, sampled)
	}
	if err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error { return watchlist.Release(t.Context(), tx, id, now) }); err != nil {
		t.Fatal(err)
	}
	if state := replace(id, bad); state != watchlist.Active {
		t.Errorf("a released list into which nothing enters: %s", state)
	}
}
