package watchlist_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

var now = time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)

type env struct {
	*watchlist.Service

	t    *testing.T
	pool *pgxpool.Pool
}

func newEnv(t *testing.T) *env {
	t.Helper()
	pool := pgtest.NewAnyTime(t)
	clock := func() time.Time { return now }
	g := guard.New(&guard.Guard{Pool: pool, Node: "one", Mode: guard.Stop, Now: clock, Log: slog.New(slog.DiscardHandler)})
	if err := g.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &env{&watchlist.Service{Pool: pool, Guard: g, Lines: &linestore.Resolver{}, Now: clock}, t, pool}
}

// bank returns an organisation that may have so many numbers a year.
func (e *env) bank(mode string, year int64) watchlist.Owner {
	e.t.Helper()
	id := uuid.Must(uuid.NewV7())
	_, err := e.pool.Exec(e.t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		VALUES ($1, 'A Bank', 'RC 1', 'Approved', $2, $2, true, '2020-01-01')`, id, false)
	if err != nil {
		e.t.Fatal(err)
	}
	return watchlist.Owner{Entity: id, Mode: mode, Budget: guard.Budget{Year: year}}
}

// Change is that of the service, with the verdict at once.
func (e *env) Change(ctx context.Context, o watchlist.Owner, id uuid.UUID, add, remove []phone.Number) (watchlist.List, error) {
	l, err := e.Service.Change(ctx, o, id, add, remove)
	return e.judged(ctx, o, l, err)
}

// Replace is that of the service, with the verdict at once.
func (e *env) Replace(ctx context.Context, o watchlist.Owner, id uuid.UUID, numbers iter.Seq2[phone.Number, error], dryRun bool) (watchlist.List, error) {
	l, err := e.Service.Replace(ctx, o, id, numbers, dryRun)
	if dryRun {
		return l, err
	}
	return e.judged(ctx, o, l, err)
}

func (e *env) judged(ctx context.Context, o watchlist.Owner, l watchlist.List, err error) (watchlist.List, error) {
	if err != nil {
		return l, err
	}
	if err := e.JudgeDue(ctx, e.Now().AddDate(1, 0, 0)); err != nil {
		return l, err
	}
	after, err := e.List(ctx, o, l.ID)
	if after.State != l.State {
		return after, err
	}
	return l, err
}

func (e *env) create(o watchlist.Owner) uuid.UUID {
	e.t.Helper()
	l, err := e.Create(e.t.Context(), o, "customers")
	if err != nil {
		e.t.Fatal(err)
	}
	return l.ID
}

// assign makes the first numbers lines of one network, whose supply is fresh.
func (e *env) assign(count int) {
	e.t.Helper()
	_, err := e.pool.Exec(e.t.Context(), `INSERT INTO line_now (number, version, baseline, network, state, bits)
		SELECT 2348030000000 + i, 1, 1, 1, 1, 0 FROM generate_series(0, $1::bigint - 1) AS i`, count)
	if err != nil {
		e.t.Fatal(err)
	}
	_, err = e.pool.Exec(e.t.Context(), `INSERT INTO supply_coverage (network, topic, known_since, complete_since, supplied_through, updated_at)
		VALUES (1, 1, $1, $1, $1, $1), (1, 2, $1, $1, $1, $1), (0, 3, $1, $1, $1, $1) ON CONFLICT DO NOTHING`, now)
	if err != nil {
		e.t.Fatal(err)
	}
}

func number(i int) phone.Number {
	n, _ := phone.FromInt(2348030000000 + int64(i))
	return n
}

func numbers(from, count, step int) (all []phone.Number) {
	for i := range count {
		all = append(all, number(from+i*step))
	}
	return all
}

func each(all []phone.Number) iter.Seq2[phone.Number, error] {
	return func(yield func(phone.Number, error) bool) {
		for _, n := range all {
			if !yield(n, nil) {
				return
			}
		}
	}
}

// watched returns which of the first numbers are matched.
func (e *env) watched(limit int) (found map[int]int) {
	e.t.Helper()
	found = map[int]int{}
	err := pg.InTx(e.t.Context(), e.pool, func(tx pg.Tx) error {
		matches, err := watchlist.MatchLive(e.t.Context(), tx, numbers(0, limit, 1))
		for _, m := range matches {
			found[int(m.Number.Int()-2348030000000)]++
		}
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

// A list has what was added and not removed, in sparse and in dense blocks, whether it
// came by changes or as a whole; its digest and its count say the same.
func TestListsHaveTheirMembers(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.assign(5_000)
	o := e.bank("live", 0)
	one, two := e.create(o), e.create(o)
	steps := []struct{ add, remove []phone.Number }{
		{add: numbers(0, 500, 7)}, {add: numbers(1_000, 1_000, 1)}, {remove: numbers(1_000, 950, 1)}, {remove: numbers(0, 100, 7)}, {add: numbers(0, 10, 7), remove: numbers(0, 20, 7)},
	}
	want := map[phone.Number]bool{}
	var changed watchlist.List
	for _, step := range steps {
		var err error
		if changed, err = e.Change(t.Context(), o, one, step.add, step.remove); err != nil {
			t.Fatal(err)
		}
		for _, n := range step.remove {
			delete(want, n)
		}
		for _, n := range step.add {
			want[n] = true
		}
	}
	var all []phone.Number
	for n := range want {
		all = append(all, n)
	}
	if dry, err := e.Replace(t.Context(), o, two, each(all), true); err != nil || dry.Members != int64(len(want)) {
		t.Fatalf("a dry run: %+v, %v", dry, err)
	}
	if l, err := e.List(t.Context(), o, two); err != nil || l.Members != 0 {
		t.Fatalf("after a dry run: %+v, %v", l, err)
	}
	replaced, err := e.Replace(t.Context(), o, two, each(all), false)
	if err != nil || replaced.Digest != changed.Digest || replaced.Members != changed.Members || changed.Members != int64(len(want)) || changed.Digest == (watchlist.Digest{}) {
		t.Fatalf("by changes %+v, as a whole %+v, want %d members: %v", changed, replaced, len(want), err)
	}
	found := e.watched(5_000)
	for i := range 5_000 {
		if lists := found[i]; lists != 0 && !want[number(i)] || lists != 2 && want[number(i)] {
			t.Fatalf("number %d is in %d lists, member: %v", i, lists, want[number(i)])
		}
	}
	if err := e.Delete(t.Context(), o, one); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Replace(t.Context(), o, two, each(nil), false); err != nil {
		t.Fatal(err)
	}
	if left := e.watched(5_000); len(left) != 0 {
		t.Errorf("%d members are left", len(left))
	}
}

// Lists of other organisations, and of the other mode, do not exist for a caller.
func TestListsBelongToOneOrganisation(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o, other := e.bank("live", 0), e.bank("live", 0)
	id := e.create(o)
	test := o
	test.Mode = "test"
	for name, who := range map[string]watchlist.Owner{"another": other, "the other mode": test} {
		_, shown := e.List(t.Context(), who, id)
		_, changed := e.Change(t.Context(), who, id, numbers(0, 1, 1), nil)
		_, replaced := e.Replace(t.Context(), who, id, each(numbers(0, 1, 1)), false)
		for what, err := range map[string]error{"show": shown, "change": changed, "replace": replaced, "delete": e.Delete(t.Context(), who, id)} {
			if !errors.Is(err, watchlist.ErrNoList) {
				t.Errorf("%s by %s: %v", what, name, err)
			}
		}
		if lists, err := e.Lists(t.Context(), who); len(lists) != 0 || err != nil {
			t.Errorf("%s sees %d lists, %v", name, len(lists), err)
		}
	}
	for range 15 {
		e.create(o)
	}
	if _, err := e.Create(t.Context(), o, "one more"); !errors.Is(err, watchlist.ErrTooManyLists) {
		t.Errorf("the 17th list: %v", err)
	}
}

// Every number that enters spends the budget of the year, and none comes back: a list
// that is replaced again and again never shows more numbers than the budget.
func TestListsSpendTheYear(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.assign(10_000)
	o := e.bank("live", 3_000)
	id := e.create(o)
	shown, refused := 0, 0
	for week := range 10 {
		_, err := e.Replace(t.Context(), o, id, each(numbers(week*1_000, 1_000, 1)), false)
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.QuotaExceeded {
			refused++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		shown += 1_000
	}
	if shown < 2_000 || shown > 3_000 || refused == 0 {
		t.Errorf("%d numbers were in the list, %d lists refused", shown, refused)
	}
	o = e.bank("test", 1)
	if _, err := e.Change(t.Context(), o, e.create(o), numbers(0, 100, 1), nil); err != nil {
		t.Errorf("a test list: %v", err)
	}
}

// A list of random numbers is held and matches nothing until staff release it; one of
// customers is not, and neither is one of so few numbers that nobody has that even the
// strictest threshold and the most noise leave it free, because that would tell.
func TestRandomListsAreHeld(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.assign(20_000)
	for name, tc := range map[string]struct {
		numbers []phone.Number
		want    string
	}{
		"customers":             {append(numbers(0, 5_000, 3), numbers(30_000, 100, 1)...), watchlist.Active},
		"at random":             {append(numbers(0, 2_000, 3), numbers(30_000, 3_000, 1)...), watchlist.Held},
		"few that nobody has":   {numbers(30_000, 13, 1), watchlist.Active},
		"where nobody supplies": {numbers(900_000_000, 3_000, 1), watchlist.Held},
		"one that nobody has":   {numbers(40_000, 1, 1), watchlist.Active},
	} {
		o := e.bank("live", 0)
		id := e.create(o)
		l, err := e.Replace(t.Context(), o, id, each(tc.numbers), false)
		if err != nil || l.State != tc.want {
			t.Errorf("%s: %s, %v", name, l.State, err)
		}
	}
	o := e.bank("live", 0)
	id := e.create(o)
	if _, err := e.Replace(t.Context(), o, id, each(numbers(50_000, 3_000, 1)), false); err != nil {
		t.Fatal(err)
	}
	if found := e.watched(60_000); found[50_001] != 0 {
		t.Error("a held list is matched")
	}
	if held, err := e.HeldLists(t.Context()); err != nil || len(held) != 3 || held[2].Sampled == 0 {
		t.Errorf("held lists: %+v, %v", held, err)
	}
	release := func(tx pg.Tx) error { return watchlist.Release(t.Context(), tx, id, time.Now()) }
	if err := pg.InTx(context.WithoutCancel(t.Context()), e.pool, release); err != nil {
		t.Fatal(err)
	}
	if found := e.watched(60_000); found[50_001] != 1 {
		t.Error("a released list is not matched")
	}
	if err := pg.InTx(t.Context(), e.pool, release); !errors.Is(err, watchlist.ErrNotHeld) {
		t.Errorf("released twice: %v", err)
	}
}
