package guard_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// spread returns the i-th of many numbers that are not neighbours.
func spread(i int64) int64 { return first + i*1_000_003%200_000_000 }

// alertsOf counts the alerts of a kind about an organisation or a sponsor.
func (b *bench) alertsOf(tb testing.TB, subject uuid.UUID, kind guard.Kind) int64 {
	tb.Helper()
	return count(tb, b.pool, `SELECT count(*) FROM guard_alert WHERE coalesce(entity_id, sponsor_id) = $1 AND kind = $2`, subject, string(kind))
}

// A number counts once in a year, on whatever days and nodes it is verified, one by one
// or in a batch. When the budget is used up, new numbers are refused until the new year,
// also on a node that starts; staff are told before and then.
func TestYearBudgetCountsANumberOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, fifty := b.entity(t), guard.Budget{Numbers: 1_000, Year: 50}
	for range 5 { // the same fifty on five days
		for i := range int64(45) {
			mustAsk(t, b.Guard, bank, fifty, spread(i))
		}
		settle(t, b.Guard)
		b.clock.forward(24 * time.Hour)
		settle(t, b.Guard)
	}
	if n := b.alertsOf(t, bank, guard.YearNearlyUsed); n != 1 {
		t.Errorf("staff were told %d times that the budget is nearly used up, want once", n)
	}
	var numbers []phone.Number
	for i := range int64(20) {
		numbers = append(numbers, number(spread(40+i)))
	}
	errs, err := b.AdmitAll(bank, fifty, numbers)
	if err != nil || len(errs) != len(numbers) {
		t.Fatal(errs, err)
	}
	for i, err := range errs {
		if refused := err != nil; refused != (i >= 10) && (i < 9 || i > 10) { // the count is an estimate
			t.Errorf("number %d of the batch: %v", i, err)
		}
		if err == nil {
			b.Record(bank, numbers[i], false)
		}
	}
	f := refusalOf(t, ask(b.Guard, bank, fifty, spread(100)))
	if renews := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC); !strings.Contains(f.Message, "50 different numbers a year") || !strings.Contains(f.Message, renews.Format(time.RFC3339)) ||
		!strings.Contains(f.Message, "the regulator can allow more") || b.clock.now().Add(f.RetryAfter).Before(renews) {
		t.Errorf("says %q, and to come back after %s", f.Message, f.RetryAfter)
	}
	mustAsk(t, b.Guard, bank, fifty, spread(40)) // it was verified today
	settle(t, b.Guard)
	if n := b.alertsOf(t, bank, guard.YearUsed); n != 1 {
		t.Errorf("staff were told %d times that the budget is used up, want once", n)
	}
	b.clock.forward(30 * time.Hour) // no report is left that names a number
	settle(t, b.Guard)
	fresh := b.node(t, "fresh")
	if n := count(t, b.pool, `SELECT count(*) FROM guard_seen`); n != 0 {
		t.Fatalf("%d reports are left", n)
	}
	refused(t, ask(fresh, bank, fifty, spread(101)))
	if u, err := guard.UsageOf(t.Context(), b.pool, bank, b.clock.now()); err != nil || u.Year < 50 || u.Year > 51 {
		t.Errorf("the usage of the year is %d, %v", u.Year, err)
	}
	mustAsk(t, fresh, bank, guard.Budget{Year: 60}, spread(101))
	b.clock.set(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	mustAsk(t, fresh, bank, fifty, spread(102))
}

// Organisations of one sponsor share its budget of a year, in which a number that two of
// them verify counts once.
func TestOrganisationsOfOneSponsorShareAYear(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.crew(t, 3, 2)
	c.budget = guard.Budget{Sponsor: c.client, SponsorYear: 40}
	for _, id := range c.entities[:2] {
		for i := range int64(30) {
			mustAsk(t, b.Guard, id, c.budget, spread(i))
		}
	}
	settle(t, b.Guard)
	settle(t, c.nodes[1])
	var err error
	answered := int64(0)
	for ; err == nil; answered++ {
		err = ask(c.nodes[1], c.entities[2], c.budget, spread(100+answered))
	}
	if answered < 10 || answered > 13 { // the last was refused, and the count is an estimate
		t.Errorf("refused after %d more numbers", answered)
	}
	f := refusalOf(t, err)
	if !strings.Contains(f.Message, "40 different numbers a year, which all organisations share") {
		t.Errorf("says %q", f.Message)
	}
	settle(t, c.nodes[1])
	settle(t, b.Guard)
	refused(t, ask(b.Guard, c.entities[0], c.budget, spread(201)))
	if n := b.alertsOf(t, c.client, guard.YearUsed); n != 1 {
		t.Errorf("staff were told %d times, want once", n)
	}
}

// The budget of a year is as large on eight nodes as on one, and the numbers of the
// seconds until the nodes know of each other's.
func TestYearBudgetDoesNotGrowWithTheNodes(t *testing.T) {
	t.Parallel()
	const budget, rate = 20_000, 200
	for _, nodes := range []int{1, 2, 8} {
		b := newBench(t)
		c := &crew{nodes: []*guard.Guard{b.Guard}, entities: []uuid.UUID{b.entity(t)}, budget: guard.Budget{Year: budget}}
		for i := 1; i < nodes; i++ {
			c.nodes = append(c.nodes, b.node(t, string(rune('b'+i))))
		}
		answered := c.run(t, b, rate, 2*time.Minute, spread, func(int64) bool { return false })
		t.Logf("%d nodes: %d different numbers of a budget of %d", nodes, answered, budget)
		if answered < budget*97/100 || answered > budget*103/100+2*rate {
			t.Errorf("%d nodes: %d answered, and the budget is %d", nodes, answered, budget)
		}
	}
}

// The budgets of a new organisation grow with its age, and to the whole only with an
// accepted document if a client onboarded it. Those of a sponsor grow with the age of the
// client. What staff set is whole at once, and so is what a small budget has.
func TestBudgetsGrowWithAgeAndDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client, members := b.sponsor(t, 2)
	bank, day := b.entity(t), 24*time.Hour
	since := func(table string, id uuid.UUID, at time.Time) {
		if _, err := b.pool.Exec(context.Background(), `UPDATE `+table+` SET created_at = $2 WHERE id = $1`, id, at); err != nil {
			t.Fatal(err)
		}
	}
	since("entity", bank, morning)
	since("entity", members[0], morning)
	since("entity", members[1], morning)
	accept := func(id uuid.UUID) {
		_, err := b.pool.Exec(context.Background(), `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, uploader, uploader_id, created_at, state)
			VALUES (gen_random_uuid(), $1, 'OTHER', 'x', 'x.pdf', 'application/pdf', 1, $2, 'account', gen_random_uuid(), now(), 'accepted')`, id, make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
	}
	next := int64(0)
	// used asks until an organisation is refused and returns how many numbers that took.
	used := func(id uuid.UUID, budget guard.Budget) (n int64) {
		settle(t, b.Guard)
		for ; n < 200_000; n++ {
			next++
			if f, ok := errors.AsType[*fault.Error](ask(b.Guard, id, budget, first+next*7_919)); ok {
				if grows := strings.Contains(f.Message, "grows with its age"); grows != (n < budget.Numbers && !budget.OwnNumbers) {
					t.Errorf("after %d of %d it says %q", n, budget.Numbers, f.Message)
				}
				return n
			}
		}
		return n
	}
	want := func(what string, got, want int64) {
		t.Helper()
		if got < want-want/500 || got > want+want/500 {
			t.Errorf("%s: %d numbers, want %d", what, got, want)
		}
	}
	b.Mode = guard.Off // it asks about many neighbours
	usual, sponsored := guard.Budget{Numbers: 40_000}, guard.Budget{Numbers: 40_000, Sponsor: client}
	want("on its first day", used(bank, usual), 4_000)
	want("a small budget", used(members[0], guard.Budget{Numbers: 900, Sponsor: client}), 900)
	want("what staff set", used(members[0], guard.Budget{Numbers: 9_000, OwnNumbers: true, Sponsor: client}), 8_100)
	b.clock.forward(15 * day)
	want("after half of the time", used(bank, usual), 22_000)
	want("without a document", used(members[0], sponsored), 20_000)
	b.clock.forward(16 * day)
	want("after the whole time", used(bank, usual), 40_000)
	want("without a document, after the whole time", used(members[0], sponsored), 20_000)
	accept(members[1])
	b.clock.forward(2 * time.Minute)
	want("with a document", used(members[1], sponsored), 40_000)
	b.clock.forward(day)
	since("client", client, b.clock.now().Add(-15*day))
	settle(t, b.Guard)
	b.clock.forward(2 * time.Minute)
	sponsored.SponsorNumbers = 20_000
	want("of a new client", used(members[1], sponsored), 11_000)
}

// What staff have looked at and released is not held against an organisation again; what
// it covers afterwards is.
func TestReleaseForgetsWhatWasCovered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bad, release := b.entity(t), guard.ReleaseForm{Reason: "their own customers", Quiet: time.Minute, By: audit.Actor{Kind: audit.Operator}}
	release.Entity = bad
	b.clock.set(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	days := func(from, days int64) { // 1,900 neighbours a day, which is too few for the detector of a day
		for i := range days * 1_900 {
			if i%1_900 == 0 {
				settle(t, b.Guard)
				b.clock.forward(25 * time.Hour)
				settle(t, b.Guard)
			}
			_ = ask(b.Guard, bad, usual, from+i)
		}
		settle(t, b.Guard)
		settle(t, b.Guard)
	}
	days(first, 30)
	if n := b.alertsOf(t, bad, guard.Harvest); n != 1 || b.Slowed(bad) == 1 {
		t.Fatalf("%d alerts after 57,000 neighbours in a month", n)
	}
	if _, err := guard.Release(t.Context(), b.pool, b.clock.now(), release); err != nil {
		t.Fatal(err)
	}
	settle(t, b.Guard)
	days(first+1_000_000, 5)
	restarted := b.node(t, "two")
	if b.Slowed(bad) != 1 || restarted.Slowed(bad) != 1 {
		t.Error("it was flagged again for what staff had looked at")
	}
	days(first+2_000_000, 30)
	if n := b.alertsOf(t, bad, guard.Harvest); n != 2 {
		t.Errorf("%d alerts after as much again, want 2", n)
	}
}
