package distribute_test

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

type env struct {
	*distribute.Distributor

	t     *testing.T
	url   string
	pool  *pgxpool.Pool
	lists *watchlist.Service
	feed  *feed.Service
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvAt(t, pgtest.URL(t))
}

func newEnvAt(t *testing.T, url string) *env {
	t.Helper()
	pool, lines := pgtest.Open(t, url, pg.Serve), &linestore.Resolver{}
	g := guard.New(&guard.Guard{Pool: pool, Node: "one", Mode: guard.Stop, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	return &env{
		distribute.New(&distribute.Distributor{Pool: pool, Lines: lines, Now: time.Now}), t, url, pool,
		&watchlist.Service{Pool: pool, Guard: g, Lines: lines, Now: time.Now}, &feed.Service{Pool: pool, Now: time.Now},
	}
}

func (e *env) bank() uuid.UUID {
	e.t.Helper()
	id := uuid.Must(uuid.NewV7())
	e.exec(`INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at) VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, id)
	return id
}

func (e *env) exec(sql string, args ...any) {
	e.t.Helper()
	if _, err := e.pool.Exec(e.t.Context(), sql, args...); err != nil {
		e.t.Fatal(err)
	}
}

// watch gives a bank a list with these numbers.
func (e *env) watch(bank uuid.UUID, numbers ...int) string {
	e.t.Helper()
	o := watchlist.Owner{Entity: bank, Mode: "live"}
	l, err := e.lists.Create(e.t.Context(), o, "customers")
	if err != nil {
		e.t.Fatal(err)
	}
	var add []phone.Number
	for _, i := range numbers {
		add = append(add, number(i))
	}
	if _, err := e.lists.Change(e.t.Context(), o, l.ID, add, nil); err != nil {
		e.t.Fatal(err)
	}
	return l.ID.String()
}

func numbersTo(count int) iter.Seq2[phone.Number, error] {
	return func(yield func(phone.Number, error) bool) {
		for i := range count {
			if !yield(number(i), nil) {
				return
			}
		}
	}
}

func number(i int) phone.Number {
	n, _ := phone.FromInt(2348030000000 + int64(i))
	return n
}

func (e *env) change(changes ...outbox.Change) {
	e.t.Helper()
	if err := pg.InTx(e.t.Context(), e.pool, func(tx pg.Tx) error { return outbox.Append(e.t.Context(), tx, changes...) }); err != nil {
		e.t.Fatal(err)
	}
}

func swap(i int, version int32) outbox.Change {
	return outbox.Change{
		Number: number(i), FromVersion: version - 1, Version: version, Kind: outbox.Swapped, ReportedAt: time.Now(), Before: line.Normal, After: line.Swapped,
		Effective: line.InstantOf(time.Now()), Until: line.InstantOf(time.Now().Add(time.Hour)), Network: 1,
	}
}

// step distributes until nothing is left. The session of a distributor that was stopped may
// have the mark for a moment.
func (e *env) step() {
	e.t.Helper()
	for left := true; left; {
		if _, _, err := e.Step(e.t.Context()); err != nil {
			e.t.Fatal(err)
		}
		if err := e.pool.QueryRow(e.t.Context(), `SELECT coalesce(n < (SELECT last_value FROM line_change_n WHERE is_called), false) FROM outbox_mark WHERE reader = 'feed'`).Scan(&left); err != nil {
			e.t.Fatal(err)
		}
	}
}

type told struct {
	Type string
	Data struct {
		PhoneNumber, Status string
		Lists               []string
		Version             int32
		Lines               int64
		MobileNetwork       string
		WatchedNumbers      int64
		Until               *string
	}
}

func (e *env) told(bank uuid.UUID) (all []told) {
	e.t.Helper()
	entries, err := e.feed.After(e.t.Context(), feed.Owner{Entity: bank, Mode: "live"}, 0, 100_000)
	if err != nil {
		e.t.Fatal(err)
	}
	for i := range entries {
		var one told
		if err := json.Unmarshal(entries[i].JSON(), &one); err != nil {
			e.t.Fatal(err)
		}
		one.Type = strings.TrimPrefix(one.Type, "org.lineproof.")
		all = append(all, one)
	}
	return all
}

// Whoever watches a number is told of its changes, in their order, with the lists that have
// it; nobody else is. Changes from before a list, of a held list, and those that only
// concern the past are not told. What concerns many lines is told to all who watch.
func TestWatchersAreTold(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	first, second, third := e.bank(), e.bank(), e.bank()
	e.change(swap(1, 2)) // before anybody watches
	e.step()
	a, b := e.watch(first, 1, 2), e.watch(first, 2, 3)
	e.watch(second, 3)
	held := e.watch(third, 1, 2, 3)
	e.exec(`UPDATE watch_list SET state = 'held' WHERE id = $1`, held)
	e.change(swap(2, 2), swap(9, 2), swap(3, 5))
	past := swap(2, 3)
	past.Kind = outbox.Past // shows in no answer of now
	e.change(past)
	e.change(swap(2, 4), outbox.Change{Kind: outbox.SupplyStarted, Lines: 40, Network: 1, ReportedAt: time.Now()})
	e.step()

	got := e.told(first)
	if len(got) != 4 {
		t.Fatalf("the first bank was told %+v", got)
	}
	for i, want := range []struct {
		kind    string
		number  string
		version int32
		lists   []string
	}{
		{"line.v1.swapped", number(2).E164(), 2, []string{a, b}},
		{"line.v1.swapped", number(3).E164(), 5, []string{b}},
		{"line.v1.swapped", number(2).E164(), 4, []string{a, b}},
		{kind: "supply.v1.started"},
	} {
		slices.Sort(want.lists)
		if g := got[i]; g.Type != want.kind || g.Data.PhoneNumber != want.number || g.Data.Version != want.version || !slices.Equal(g.Data.Lists, want.lists) {
			t.Errorf("event %d is %+v, want %+v", i, g, want)
		}
	}
	if got := e.told(second); len(got) != 2 || got[0].Data.Version != 5 || got[1].Data.Lines != 40 {
		t.Errorf("the second bank was told %+v", got)
	}
	if got := e.told(third); len(got) != 0 {
		t.Errorf("the bank whose list is held was told %+v", got)
	}
}

// What is UNKNOWN by the supply is told as UNKNOWN, and not as what it would be.
func TestStaleSupplyIsToldAsUnknown(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	bank := e.bank()
	e.watch(bank, 1, 2)
	e.exec(`INSERT INTO line_now (number, version, baseline, network, state, bits) VALUES (2348030000001, 2, 1, 1, 1, 0)`) // nobody supplies the network
	settled := swap(1, 2)
	settled.Kind, settled.Before, settled.After = outbox.Unbarred, line.Barred, line.Normal
	e.change(settled)
	e.step()
	if got := e.told(bank); len(got) != 1 || got[0].Data.Status != string(line.Unknown) || got[0].Data.Until != nil {
		t.Errorf("told %+v", got)
	}
}

// Several distributors work at once and are stopped at any moment, while writers change
// few numbers: each change is told once, and those of a number in their order.
func TestEveryChangeIsToldOnce(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	bank := e.bank()
	const numbers, writers, each = 20, 4, 60
	var all []int
	for i := range numbers {
		all = append(all, i)
	}
	e.watch(bank, all...)
	owner := pgtest.Open(t, e.url, "")
	if _, err := owner.Exec(t.Context(), `CREATE TABLE hot AS SELECT i AS number, 0 AS version FROM generate_series(0, 19) AS i; GRANT ALL ON hot TO lineproof_serve`); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running, writing sync.WaitGroup
	for range 2 {
		d := distribute.New(&distribute.Distributor{Pool: e.pool, Lines: &linestore.Resolver{}, Now: time.Now})
		running.Go(func() {
			for ctx.Err() == nil { // stopped again and again, also within a transaction
				short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
				d.Run(short, slog.New(slog.DiscardHandler))
				cancel()
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
					var version int32
					n := (w*7 + i) % numbers
					if err := tx.QueryRow(t.Context(), `UPDATE hot SET version = version + 1 WHERE number = $1 RETURNING version`, n).Scan(&version); err != nil {
						return err
					}
					return outbox.Append(t.Context(), tx, swap(n, version))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	stop()
	running.Wait()
	e.step()
	got := e.told(bank)
	if len(got) != writers*each {
		t.Errorf("%d changes were told, of %d", len(got), writers*each)
	}
	versions := make(map[string]int32)
	for _, g := range got {
		if g.Data.Version != versions[g.Data.PhoneNumber]+1 {
			t.Fatalf("version %d of a number follows %d", g.Data.Version, versions[g.Data.PhoneNumber])
		}
		versions[g.Data.PhoneNumber] = g.Data.Version
	}
}
