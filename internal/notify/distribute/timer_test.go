package distribute_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// announce stores a line whose churn is announced for a date, with its timer.
func (e *env) announce(i int, version int32, due time.Time) {
	e.t.Helper()
	at := line.InstantOf(due)
	err := pg.InTx(e.t.Context(), e.pool, func(tx pg.Tx) error {
		_, err := tx.Exec(e.t.Context(), `INSERT INTO line_now (number, version, baseline, network, state, bits, until) VALUES ($1, $2, 1, 1, $3, 0, $4)
			ON CONFLICT (number) DO UPDATE SET version = excluded.version, until = excluded.until`, number(i).Int(), version, int16(line.StateNoticed), int32(at))
		if err != nil {
			return err
		}
		row := line.Row{State: line.StateNoticed, Until: at}
		if timer, ok := outbox.TimerOf(number(i), &row, due.Add(-time.Hour)); ok {
			return outbox.Schedule(e.t.Context(), tx, timer)
		}
		return errors.New("there is no timer")
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) stepAt(now time.Time) {
	e.t.Helper()
	e.Now = func() time.Time { return now }
	e.step()
	if _, _, err := e.Step(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// When the date of an announced churn is reached, those who then watch the number are told,
// once. A churn that was called off or moved is not told at its old date; an event that
// changed nothing about it does not keep it from being told.
func TestAnnouncedChurnIsToldWhenItFallsDue(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	early, late := e.bank(), e.bank()
	now := time.Now().Truncate(time.Second)
	due := now.Add(24 * time.Hour)
	e.watch(early, 1, 2, 3, 4)
	for i := 1; i <= 5; i++ {
		e.announce(i, 2, due)
	}
	list := e.watch(late, 1)                                                                                                        // after the announcement
	e.exec(`UPDATE line_now SET state = $1, until = NULL, version = 3 WHERE number = $2`, int16(line.StateActive), number(2).Int()) // called off
	e.announce(3, 3, due.Add(time.Hour))                                                                                            // moved
	e.exec(`UPDATE line_now SET version = 9 WHERE number = $1`, number(4).Int())
	e.stepAt(due.Add(-time.Second))
	if got := e.told(early); len(got) != 0 {
		t.Fatalf("told before the date: %+v", got)
	}
	e.stepAt(due)
	e.announce(1, 2, due) // stored again
	e.stepAt(due.Add(time.Minute))
	want := map[string]int32{number(1).E164(): 2, number(4).E164(): 9}
	got := e.told(early)
	for _, g := range got {
		if g.Type != "line.v1.quarantined" || g.Data.Status != string(line.Quarantined) || want[g.Data.PhoneNumber] != g.Data.Version {
			t.Errorf("told %+v", g)
		}
		delete(want, g.Data.PhoneNumber)
	}
	if len(got) != 2 || len(want) != 0 {
		t.Errorf("told %+v", got)
	}
	if got := e.told(late); len(got) != 1 || got[0].Data.Lists[0] != list {
		t.Errorf("the bank that watches it now was told %+v", got)
	}
	e.stepAt(due.Add(time.Hour))
	if got := e.told(early); len(got) != 3 || got[2].Data.PhoneNumber != number(3).E164() {
		t.Errorf("told %+v, want the moved one too", got)
	}
	if n, err := outbox.DeleteOld(t.Context(), e.pool, due.AddDate(0, 0, 8)); n != 5 || err != nil {
		t.Errorf("%d timers deleted, %v", n, err)
	}
}

// While more changes wait than one step reads, nothing falls due: what was reported about a
// number before its date is told before it.
func TestDueChurnIsToldAfterEarlierChanges(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	bank := e.bank()
	now := time.Now().Truncate(time.Second)
	e.watch(bank, 1)
	e.announce(1, 7, now)
	waiting := make([]outbox.Change, 0, 5_001)
	for i := range 5_000 {
		waiting = append(waiting, swap(100+i, 2))
	}
	e.change(append(waiting, swap(1, 7))...)
	e.stepAt(now.Add(time.Minute))
	if got := e.told(bank); len(got) != 2 || got[0].Type != "line.v1.swapped" || got[1].Type != "line.v1.quarantined" {
		t.Errorf("told %+v", got)
	}
}

// Several distributors are stopped at any moment while timers fall due: each is told once.
func TestTimersAreToldOnceWhateverIsStopped(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	bank := e.bank()
	const all = 45 // more numbers that nobody has would hold the list
	var numbers []int
	now := time.Now()
	for i := range all {
		numbers = append(numbers, i)
	}
	e.watch(bank, numbers...)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for range 2 {
		d := distribute.New(&distribute.Distributor{Pool: e.pool, Lines: &linestore.Resolver{}, Now: func() time.Time { return now.Add(time.Hour) }})
		running.Go(func() {
			for ctx.Err() == nil {
				short, cancel := context.WithTimeout(ctx, 15*time.Millisecond)
				d.Run(short, slog.New(slog.DiscardHandler))
				cancel()
			}
		})
	}
	for i := range all {
		e.announce(i, 2, now)
	}
	stop()
	running.Wait()
	for deadline := time.Now().Add(10 * time.Second); len(e.told(bank)) < all && time.Now().Before(deadline); {
		e.stepAt(now.Add(time.Hour))
	}
	seen := map[string]bool{}
	for _, g := range e.told(bank) {
		if seen[g.Data.PhoneNumber] {
			t.Fatalf("%s was told twice", g.Data.PhoneNumber)
		}
		seen[g.Data.PhoneNumber] = true
	}
	if len(seen) != all {
		t.Errorf("%d of %d were told", len(seen), all)
	}
}
