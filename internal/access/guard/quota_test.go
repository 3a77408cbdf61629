package guard_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A quota of a day or a month is used up by answers, the error says when it
// renews, and it renews then.
func TestQuotasEndAndRenew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget guard.Budget
		words  string
		renews time.Time
	}{
		"day":   {guard.Budget{Day: 3, Month: 1000}, "3 verifications a day", time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC)},
		"month": {guard.Budget{Day: 1000, Month: 3}, "3 verifications a month", time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			bank, other := b.entity(t), b.entity(t)
			mustAsk(t, b.Guard, bank, c.budget, first, first, first+1)
			f := refusalOf(t, ask(b.Guard, bank, c.budget, first))
			if !strings.Contains(f.Message, c.words) || !strings.Contains(f.Message, c.renews.Format(time.RFC3339)) {
				t.Errorf("says %q; want which quota, and that it renews at %s", f.Message, c.renews)
			}
			if at := b.clock.now().Add(f.RetryAfter); at.Before(c.renews) || at.After(c.renews.Add(2*time.Second)) {
				t.Errorf("says to come back at %s, and it renews at %s", at, c.renews)
			}
			mustAsk(t, b.Guard, other, c.budget, first)
			b.clock.set(c.renews.Add(-time.Second))
			refused(t, ask(b.Guard, bank, c.budget, first))
			b.clock.set(c.renews)
			mustAsk(t, b.Guard, bank, c.budget, first)
		})
	}
}

// A request without an answer costs nothing, and one in flight is counted, so
// that concurrent requests cannot exceed a quota.
func TestOnlyAnswersUseUpAQuota(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, two := b.entity(t), guard.Budget{Day: 2}
	for range 10 {
		if err := b.Admit(bank, two, number(first)); err != nil {
			t.Fatal(err)
		}
		b.Refund(bank, 1)
	}
	for range 2 {
		if err := b.Admit(bank, two, number(first)); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, b.Admit(bank, two, number(first)))
	b.Record(bank, number(first), false)
	b.Refund(bank, 1)
	mustAsk(t, b.Guard, bank, two, first)
	refused(t, b.Admit(bank, two, number(first)))
}

// The budget counts different numbers: one that was already verified on the day
// is free, however often, and is answered when the budget is used up. On the
// next day it counts again. Staff are notified once a day.
func TestBudgetIsOfDifferentNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, ten := b.entity(t), guard.Budget{Numbers: 10}
	b.clock.set(time.Date(2026, 11, 16, 23, 30, 0, 0, time.UTC))
	for i := range int64(30) {
		mustAsk(t, b.Guard, bank, ten, first+i%10)
	}
	for range 3 {
		f := refusalOf(t, ask(b.Guard, bank, ten, first+10))
		if !strings.Contains(f.Message, "10 different numbers a day") || !strings.Contains(f.Message, "2026-11-17T00:00:00Z") {
			t.Errorf("says %q", f.Message)
		}
	}
	mustAsk(t, b.Guard, bank, ten, first, first+9)
	settle(t, b.Guard)
	const alerts = `SELECT count(*) FROM guard_alert WHERE entity_id = $1 AND kind = 'budget' AND level = 'told'`
	if n := count(t, b.pool, alerts, bank); n != 1 {
		t.Errorf("%d alerts on the first day, want 1", n)
	}
	b.clock.forward(time.Hour)
	for i := range int64(10) {
		mustAsk(t, b.Guard, bank, ten, first+5+i) // half of them were asked about an hour ago, on the day before
	}
	refused(t, ask(b.Guard, bank, ten, first))
	settle(t, b.Guard)
	if n := count(t, b.pool, alerts, bank); n != 2 {
		t.Errorf("%d alerts on two days, want 2", n)
	}
	if n := count(t, b.pool, `SELECT count(*) FROM usage_day WHERE entity_id = $1 AND numbers = 10`, bank); n != 2 {
		t.Errorf("%d days with 10 numbers are stored, want 2", n)
	}
}

// In a batch, each number beyond the budget is refused by itself, and the
// others are admitted. A batch is refused whole if no request is left in a
// quota.
func TestBatchIsAdmittedByItsNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := b.entity(t)
	batch := []phone.Number{number(first), number(first + 1), number(first), number(first + 2), number(first + 1)}
	got, err := b.AdmitAll(bank, guard.Budget{Numbers: 2}, batch)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range got {
		if (e != nil) != (i == 3) {
			t.Errorf("number %d: %v", i, e)
		}
	}
	if got, err = b.AdmitAll(bank, guard.Budget{Numbers: 2}, batch[:3]); err != nil || got != nil {
		t.Errorf("known numbers: %v, %v", got, err)
	}
	other := b.entity(t)
	if got, err = b.AdmitAll(other, guard.Budget{Day: 4}, batch); err != nil || got[3] != nil || got[4] == nil {
		t.Errorf("five questions of four: %v, %v", got, err)
	}
	_, err = b.AdmitAll(other, guard.Budget{Day: 4}, batch)
	refused(t, err)
}

// The counts of one node apply on the others, and after a restart. What could
// not be stored because the database was unavailable is stored later.
func TestCountsAreSharedAndKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, limit := b.entity(t), guard.Budget{Day: 10, Month: 16, Numbers: 6}
	two := b.node(t, "two")
	mustAsk(t, b.Guard, bank, limit, first, first+1, first+1)
	mustAsk(t, two, bank, limit, first+2, first+3, first+3)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Sync(gone); err == nil {
		t.Fatal("a database that is away was written to")
	}
	settle(t, b.Guard)
	settle(t, b.Guard)
	settle(t, two)
	again := b.node(t, "one") // begins anew, and knows neither number
	mustAsk(t, again, bank, limit, first+4, first+5)
	refused(t, ask(again, bank, limit, first+6))
	settle(t, again)
	settle(t, two)
	refused(t, ask(two, bank, limit, first+6))
	mustAsk(t, two, bank, limit, first+2, first+3)
	if n := count(t, b.pool, `SELECT sum(answered) FROM usage_day WHERE entity_id = $1`, bank); n != 8 {
		t.Errorf("%d answers are stored, want 8", n)
	}
	refused(t, ask(two, bank, limit, first+2)) // ten of the day
	settle(t, two)
	b.clock.forward(24 * time.Hour)
	fresh := b.node(t, "three")
	mustAsk(t, fresh, bank, limit, first, first, first, first, first, first)
	refused(t, ask(fresh, bank, limit, first)) // sixteen of the month
	used, err := guard.UsageOf(t.Context(), b.pool, bank, b.clock.now())
	if err != nil || used.Month != 10 || used.Answered != 0 {
		t.Errorf("usage %+v, %v; want 10 of the month, none of today stored yet", used, err)
	}
}

// With many concurrent requests and syncs, nothing is counted twice and nothing
// is lost.
func TestNothingIsLostUnderLoad(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	banks := []uuid.UUID{b.entity(t), b.entity(t)}
	const callers, questions = 8, 2_000
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := range int64(questions) {
				_ = ask(b.Guard, banks[c%2], guard.Budget{Numbers: 1_500}, first+i*1_000_003%10_000_000)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
			settle(t, b.Guard)
		}
	}
	settle(t, b.Guard)
	for _, bank := range banks {
		if n := count(t, b.pool, `SELECT sum(numbers) FROM usage_day WHERE entity_id = $1`, bank); n != 1_500 {
			t.Errorf("%d different numbers are stored, want the budget of 1,500", n)
		}
		if n := count(t, b.pool, `SELECT sum(answered) FROM usage_day WHERE entity_id = $1`, bank); n != callers/2*1_500 {
			t.Errorf("%d answers are stored, want %d", n, callers/2*1_500)
		}
	}
}
