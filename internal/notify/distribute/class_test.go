package distribute_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// planned stores a plan in which MTN has 234803, but for a part that Airtel has.
func (e *env) planned(rows ...numbering.Row) *numbering.Plan {
	e.t.Helper()
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	rows = append([]numbering.Row{
		{Prefix: "234803", Network: "MTN", Name: "MTN", Allocated: old}, {Prefix: "2348030001", Network: "AIRTEL", Name: "Airtel", Allocated: old},
	}, rows...)
	plan, err := (&numbering.Service{Pool: e.pool, Now: time.Now}).Set(e.t.Context(), rows, "test", time.Time{})
	if err != nil {
		e.t.Fatal(err)
	}
	return plan
}

func (e *env) supplied(plan *numbering.Plan, code string, through time.Time) {
	e.t.Helper()
	n, _ := plan.Network(code)
	err := pg.InTx(e.t.Context(), e.pool, func(tx pg.Tx) error {
		return linestore.ExtendCoverage(e.t.Context(), tx, through, linestore.Extension{Network: n, Topic: line.TopicLifecycle, CompleteSince: through, Through: through},
			linestore.Extension{Network: n, Topic: line.TopicSIM, CompleteSince: through, Through: through})
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

// tellAt looks as several nodes would, at once and twice.
func (e *env) tellAt(now time.Time) {
	e.t.Helper()
	e.Now = func() time.Time { return now }
	for range 2 {
		var nodes sync.WaitGroup
		for range 3 {
			nodes.Go(func() {
				if err := e.TellClasses(e.t.Context()); err != nil {
					e.t.Error(err)
				}
			})
		}
		nodes.Wait()
	}
	if err := e.TellClasses(e.t.Context()); err != nil { // the others may have skipped it
		e.t.Error(err)
	}
}

// A supply that becomes stale and then fresh, a new policy and a new plan are told once to
// everybody who watches, with how many of its numbers are in the network's ranges. What was
// so before anybody looked is not told, and test keys are not told.
func TestClassEventsAreToldOnce(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	now := time.Now().UTC()
	plan := e.planned()
	e.supplied(plan, "MTN", now)
	first, second := e.bank(), e.bank()
	e.watch(first, 1, 2, 999, 1000, 1001, 2000) // 1000 and 1001 are Airtel's
	e.watch(second, 1000)
	e.exec(`INSERT INTO watch_list (id, entity_id, mode, name, members, created_at, changed_at) VALUES ($1, $2, 'test', 'test', 1, now(), now())`, uuid.New(), first)
	e.tellAt(now.Add(time.Minute))
	if got := e.told(first); len(got) != 0 {
		t.Fatalf("told at the first look: %+v", got)
	}

	e.tellAt(now.AddDate(0, 0, 30)) // stale
	e.exec(`INSERT INTO policy SELECT (p).* FROM (SELECT jsonb_populate_record(p, jsonb_build_object('version', 2, 'id', gen_random_uuid(), 'effective_at', now())) AS p FROM policy p) AS q`)
	e.supplied(plan, "MTN", now.AddDate(0, 0, 30))
	e.tellAt(now.AddDate(0, 0, 30).Add(time.Minute))
	e.planned(numbering.Row{Prefix: "234905", Network: "GLO", Name: "Glo", Allocated: now.AddDate(0, 0, -2).Truncate(24 * time.Hour)})
	e.tellAt(now.AddDate(0, 0, 30).Add(2 * time.Minute))
	mtn, _ := plan.Network("MTN")
	e.change(outbox.Change{Kind: outbox.SupplyStarted, Lines: 40, Network: mtn, ReportedAt: now})
	e.step()

	want := []string{"supply.v1.stale", "policy.v1.changed", "supply.v1.resumed", "plan.v1.changed", "supply.v1.started"}
	for bank, watched := range map[uuid.UUID]int64{first: 4, second: 0} {
		var types []string
		for _, g := range e.told(bank) {
			types = append(types, g.Type)
			if g.Data.MobileNetwork == "MTN" && g.Data.WatchedNumbers != watched {
				t.Errorf("%s counts %d numbers, want %d", g.Type, g.Data.WatchedNumbers, watched)
			}
		}
		if !slices.Equal(types, want) {
			t.Errorf("told %v, want %v", types, want)
		}
	}
	if entries, err := e.feed.After(t.Context(), feed.Owner{Entity: first, Mode: "test"}, 0, 10); len(entries) != 0 || err != nil {
		t.Errorf("test keys were told %d, %v", len(entries), err)
	}
}

// A list that is replaced tells that it is applied, one that is held tells that, and again
// when it is released; each in the feed of its mode, and a dry run tells nothing.
func TestListsTellWhatBecomesOfThem(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	bank := e.bank()
	o := watchlist.Owner{Entity: bank, Mode: "live"}
	l, err := e.lists.Create(t.Context(), o, "customers")
	if err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		if _, err := e.lists.Replace(t.Context(), o, l.ID, numbersTo(20), dry); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // of nobody: the second change finds it held
		if l, err = e.lists.Replace(t.Context(), o, l.ID, numbersTo(200), false); err != nil {
			t.Fatal(err)
		}
		if err := e.lists.JudgeDue(t.Context(), l.ChangedAt.AddDate(0, 0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error { return watchlist.Release(t.Context(), tx, l.ID, time.Now()) }); err != nil {
		t.Fatal(err)
	}
	test := watchlist.Owner{Entity: bank, Mode: "test"}
	own, err := e.lists.Create(t.Context(), test, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.lists.Replace(t.Context(), test, own.ID, numbersTo(3), false); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, g := range e.told(bank) {
		types = append(types, g.Type)
	}
	if want := []string{"list.v1.applied", "list.v1.applied", "list.v1.held", "list.v1.held", "list.v1.applied"}; !slices.Equal(types, want) {
		t.Errorf("told %v, want %v", types, want)
	}
	if entries, err := e.feed.After(t.Context(), feed.Owner{Entity: bank, Mode: "test"}, 0, 10); len(entries) != 1 || entries[0].Type != "list.v1.applied" || err != nil {
		t.Errorf("test keys were told %+v, %v", entries, err)
	}
}
