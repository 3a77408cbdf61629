package guard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// scan verifies neighbouring numbers until it is refused, and returns how many
// were answered.
func scan(g *guard.Guard, entity uuid.UUID, from, to int64) (answered int64, err error) {
	for n := from; n < to; n++ {
		if err := ask(g, entity, guard.Budget{}, n); err != nil {
			return answered, err
		}
		answered++
	}
	return answered, nil
}

// An organisation that scans is slowed, then stopped: on the node that finds it
// at once, on the others with their next sync, and on a node that starts. No
// other organisation is affected. Staff release it, on every node, and it stays
// exempt for as long as they decided.
func TestScannerIsSlowedThenStoppedUntilReleased(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bad, good := b.entity(t), b.entity(t)
	two := b.node(t, "two")
	if _, err := scan(b.Guard, bad, first, first+3_000); err != nil {
		t.Fatalf("stopped before it was slowed: %v", err)
	}
	if b.Slowed(bad) != 0.1 || b.Slowed(good) != 1 {
		t.Errorf("factors %g and %g, want 0.1 and 1", b.Slowed(bad), b.Slowed(good))
	}
	settle(t, b.Guard)
	settle(t, two)
	if two.Slowed(bad) != 0.1 {
		t.Error("the other node does not know that it is slowed")
	}
	answered, err := scan(b.Guard, bad, first+3_000, first+1_000_000)
	if !errors.Is(err, guard.ErrStopped) || answered > 10_000 {
		t.Fatalf("%d more were answered, then %v", answered, err)
	}
	f := refusalOf(t, err)
	if f.RetryAfter <= 0 {
		t.Error("does not say when to look again")
	}
	mustAsk(t, b.Guard, good, guard.Budget{}, first, first+1)
	settle(t, b.Guard)
	settle(t, two)
	fresh := b.node(t, "one")
	for _, g := range []*guard.Guard{b.Guard, two, fresh} {
		if err := ask(g, bad, guard.Budget{}, first); !errors.Is(err, guard.ErrStopped) {
			t.Errorf("a node answers it: %v", err)
		}
		if _, err := g.AdmitAll(bad, guard.Budget{}, nil); !errors.Is(err, guard.ErrStopped) {
			t.Errorf("a node answers a batch of it: %v", err)
		}
	}

	list, err := guard.List(t.Context(), b.pool, b.clock.now(), false, 100)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d alerts, %v; want one for slowing and one for stopping", len(list), err)
	}
	if a := list[0]; a.Level != guard.Stopped || a.Kind != guard.Density || a.Entity != bad || a.Dense < 10_000 || a.Block == 0 || a.Name != "A Bank" {
		t.Errorf("the alert is %+v", a)
	}
	by := audit.Actor{Kind: audit.Operator} // alone: there is no staff yet
	release := guard.ReleaseForm{Entity: bad, Reason: "  a test of theirs, announced  ", Quiet: 24 * time.Hour, By: by}
	if n, err := guard.Release(t.Context(), b.pool, b.clock.now(), release); n != 2 || err != nil {
		t.Fatalf("%d alerts were ended, %v", n, err)
	}
	for _, g := range []*guard.Guard{b.Guard, two, fresh} {
		settle(t, g)
		if answered, err := scan(g, bad, first, first+15_000); err != nil {
			t.Errorf("after its release a node answered %d, then: %v", answered, err)
		}
	}
	if n := count(t, b.pool, `SELECT count(*) FROM audit WHERE action = 'guard.released' AND subject_id = $1 AND actor_kind = 'operator'`, bad); n != 1 {
		t.Errorf("%d entries in the audit trail, want 1", n)
	}
	b.clock.forward(25 * time.Hour)
	settle(t, b.Guard)
	if _, err := scan(b.Guard, bad, first, first+1_000_000); !errors.Is(err, guard.ErrStopped) {
		t.Errorf("after its time it scans again and is not stopped: %v", err)
	}
}

// A release needs a reason and an active alert.
func TestReleaseIsChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := b.entity(t)
	_, err := guard.Release(t.Context(), b.pool, morning, guard.ReleaseForm{Entity: bank, Reason: " ", Quiet: -1})
	if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Violations) != 2 {
		t.Errorf("got %v, want two violations", err)
	}
	if _, err := guard.Release(t.Context(), b.pool, morning, guard.ReleaseForm{Entity: bank, Reason: "why not"}); !errors.Is(err, guard.ErrNothingToRelease) {
		t.Errorf("got %v, want ErrNothingToRelease", err)
	}
}

// Two nodes that find the same create one alert, and people are notified once.
// If the notification fails, the alert is stored nevertheless.
func TestPeopleAreNotifiedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := b.entity(t)
	two := b.node(t, "two")
	var told []guard.Alert
	var counted int
	for _, g := range []*guard.Guard{b.Guard, two} {
		g.OnAlert = func(guard.Kind, guard.Level) { counted++ }
		g.Notify = func(ctx context.Context, tx pg.Tx, a guard.Alert) error {
			told = append(told, a)
			_, err := tx.Exec(ctx, "SELECT nonsense") // breaks its own part of the transaction
			return err
		}
		if _, err := scan(g, bank, first, first+2_500); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, b.Guard)
	settle(t, two)
	settle(t, b.Guard)
	if len(told) != 1 || counted != 1 || told[0].Level != guard.Slowed || told[0].Entity != bank {
		t.Errorf("%d were told and %d counted: %+v", len(told), counted, told)
	}
	if n := count(t, b.pool, `SELECT count(*) FROM guard_alert`); n != 1 {
		t.Errorf("%d alerts are stored, want 1", n)
	}
	if b.Slowed(bank) == 1 || two.Slowed(bank) == 1 {
		t.Error("it is not slowed everywhere")
	}
}

// In mode watch the guard only notifies; in mode off it does not look for
// scans. Quotas and budgets apply in every mode.
func TestModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []guard.Mode{guard.Watch, guard.Off} {
		alerts := int64(0)
		if mode == guard.Watch {
			alerts = 1
		}
		b := newBench(t)
		b.Mode = mode
		bank := b.entity(t)
		if n, err := scan(b.Guard, bank, first, first+30_000); err != nil {
			t.Errorf("%s: stopped after %d: %v", mode, n, err)
		}
		settle(t, b.Guard)
		if b.Slowed(bank) != 1 {
			t.Errorf("%s: slowed", mode)
		}
		if n := count(t, b.pool, `SELECT count(*) FROM guard_alert WHERE level = 'told'`); n != alerts {
			t.Errorf("%s: %d alerts, want %d", mode, n, alerts)
		}
		other := b.entity(t)
		mustAsk(t, b.Guard, other, guard.Budget{Numbers: 1}, first)
		refused(t, ask(b.Guard, other, guard.Budget{Numbers: 1}, first+1))
	}
}

// Too many numbers that are not allocated look like a scan, unless all
// organisations have that many: then the supply is broken.
func TestMissesAreComparedWithOthers(t *testing.T) {
	t.Parallel()
	miss := func(g *guard.Guard, entity uuid.UUID, numbers, every int64) error {
		for i := range numbers {
			n := number(first + i*1_000_003%100_000_000) // far apart
			if err := g.Admit(entity, guard.Budget{}, n); err != nil {
				return err
			}
			g.Record(entity, n, i%every == 0)
		}
		return nil
	}
	b := newBench(t)
	honest, scanner, careless := b.entity(t), b.entity(t), b.entity(t)
	if err := errors.Join(miss(b.Guard, honest, 20_000, 20), miss(b.Guard, careless, 5_000, 5)); err != nil {
		t.Fatal(err)
	}
	if err := miss(b.Guard, scanner, 20_000, 2); !errors.Is(err, guard.ErrStopped) {
		t.Errorf("half of its numbers miss, and it is not stopped: %v", err)
	}
	if b.Slowed(honest) != 1 || b.Slowed(careless) != 1 {
		t.Error("somebody else was slowed")
	}

	broken := newBench(t)
	for range 3 {
		if err := miss(broken.Guard, broken.entity(t), 20_000, 2); err != nil && !errors.Is(err, guard.ErrStopped) {
			t.Fatal(err)
		}
	}
	last := broken.entity(t)
	if err := miss(broken.Guard, last, 20_000, 2); err != nil || broken.Slowed(last) != 1 {
		t.Errorf("half of everybody's numbers miss, and one is made to pay for it: %v", err)
	}
}

// However unusual one file of numbers looks, it only slows: an organisation
// that ends there is not stopped, and one that continues is.
func TestOneOddFileOnlySlows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := b.entity(t)
	far := func(i int64) phone.Number { return number(first + i*1_000_003%100_000_000) }
	const rows = 5_000
	for i := range int64(rows) {
		if err := b.Admit(bank, guard.Budget{}, far(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(rows) {
		b.Record(bank, far(i), true) // all at once, after the last was asked
	}
	for range 3 {
		settle(t, b.Guard)
		if f := b.Slowed(bank); f != 0.1 {
			t.Fatalf("the factor is %g, want that of slowed", f)
		}
		mustAsk(t, b.Guard, bank, guard.Budget{}, far(0).Int()) // known
	}
	for i := int64(rows); i < 2*rows; i++ {
		if err := b.Admit(bank, guard.Budget{}, far(i)); err != nil {
			if !errors.Is(err, guard.ErrStopped) {
				t.Fatal(err)
			}
			return
		}
		b.Record(bank, far(i), true)
	}
	t.Error("it went on and was not stopped")
}
