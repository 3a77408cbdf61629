package distribute_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// seal seals a number until a time.
func (e *env) seal(i int, until time.Time) uuid.UUID {
	e.t.Helper()
	id, now := uuid.New(), e.Now()
	err := pg.InTx(e.t.Context(), e.pool, func(tx pg.Tx) error {
		if err := outbox.AddSeal(e.t.Context(), tx, outbox.Seal{ID: id, Number: number(i), Until: until, AskedAt: now, Expires: now.Add(time.Hour)}); err != nil {
			return err
		}
		_, err := outbox.StartSeal(e.t.Context(), tx, id, now)
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return id
}

// versionsOf returns the versions of a number that a bank was told of, in their order.
func (e *env) versionsOf(bank uuid.UUID, i int) (all []int32) {
	e.t.Helper()
	for _, g := range e.told(bank) {
		if g.Data.PhoneNumber == number(i).E164() {
			all = append(all, g.Data.Version)
		}
	}
	return all
}

// Nothing about a sealed number is told, also not that its announced churn falls due, and
// everything about others is. When the last seal of the number ends, by its date or because
// it is lifted, all of it is told once and in its order, before what happened since.
func TestSealedNumbersAreToldOfWhenTheSealEnds(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	pgtest.AnyTime(t, e.url)
	bank := e.bank()
	e.watch(bank, 1, 2, 3)
	start := time.Now().Truncate(time.Second)
	at := func(d time.Duration) { e.Now = func() time.Time { return start.Add(d) } }
	e.change(swap(1, 2))
	e.step() // told before it is sealed
	e.seal(1, start.Add(time.Hour))
	longer := e.seal(1, start.Add(48*time.Hour))
	e.seal(2, start.Add(time.Hour))
	e.change(swap(1, 3), swap(2, 2), swap(3, 2))
	e.announce(2, 3, start.Add(time.Minute))
	e.step()
	at(2 * time.Minute)
	e.change(swap(1, 4))
	e.step()
	if one, two, three := e.versionsOf(bank, 1), e.versionsOf(bank, 2), e.versionsOf(bank, 3); !slices.Equal(one, []int32{2}) || len(two) != 0 || !slices.Equal(three, []int32{2}) {
		t.Fatalf("while two numbers are sealed, told %v, %v and %v", one, two, three)
	}

	at(time.Hour) // the first seal of the one number ends, and the only one of the other
	e.change(swap(1, 5))
	e.step()
	if one, two := e.versionsOf(bank, 1), e.versionsOf(bank, 2); !slices.Equal(one, []int32{2}) || !slices.Equal(two, []int32{2, 3}) {
		t.Fatalf("after an hour, told %v and %v", one, two)
	}
	e.change(swap(1, 6)) // not read before the seal ends
	err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
		_, err := outbox.EndSeal(t.Context(), tx, longer, e.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	e.step()
	e.step()
	if one := e.versionsOf(bank, 1); !slices.Equal(one, []int32{2, 3, 4, 5, 6}) {
		t.Errorf("after the seal was lifted, told %v", one)
	}
	var left, ended int
	if err := e.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM line_seal) + (SELECT count(*) FROM sealed_change), (SELECT count(*) FROM audit WHERE action = 'seal.ended')`).Scan(&left, &ended); err != nil || left != 0 || ended != 3 {
		t.Errorf("%d rows are left, %d of 3 ends are in the audit trail, %v", left, ended, err)
	}
}

// Numbers are sealed and released at random while writers change them and distributors are
// stopped at any moment: each change is told once, and those of a number in their order.
func TestSealsLoseAndReorderNothing(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	bank := e.bank()
	const numbers, writers, each = 6, 3, 120
	e.watch(bank, 0, 1, 2, 3, 4, 5)
	owner := pgtest.Open(t, e.url, "")
	if _, err := owner.Exec(t.Context(), `CREATE TABLE hot AS SELECT i AS number, 0 AS version FROM generate_series(0, 5) AS i; GRANT ALL ON hot TO lineproof_serve`); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running, writing sync.WaitGroup
	for range 2 {
		d := distribute.New(&distribute.Distributor{Pool: e.pool, Lines: &linestore.Resolver{}, Now: time.Now})
		running.Go(func() {
			for limit := 100 * time.Millisecond; ctx.Err() == nil; limit = min(2*limit, time.Second) { // on a slow machine 100 ms end before anything is told
				short, cancel := context.WithTimeout(ctx, limit)
				d.Run(short, slog.New(slog.DiscardHandler))
				cancel()
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 11))
			for range each {
				n := random.IntN(numbers)
				if random.IntN(4) == 0 {
					e.seal(n, time.Now().Add(time.Duration(random.IntN(800))*time.Millisecond))
				}
				err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
					var version int32
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
	e.seal(0, time.Now().Add(20*time.Second)) // one that waits for certain, however slow the machine is
	var last int32
	if err := owner.QueryRow(t.Context(), `UPDATE hot SET version = version + 1 WHERE number = 0 RETURNING version`).Scan(&last); err != nil {
		t.Fatal(err)
	}
	e.change(swap(0, last))
	e.step()
	e.Now = func() time.Time { return time.Now().Add(40 * time.Second) } // all seals have ended
	e.step()
	if _, _, err := e.Step(t.Context()); err != nil { // also if nothing is left in the outbox
		t.Fatal(err)
	}
	got := e.told(bank)
	if len(got) != writers*each+1 {
		t.Errorf("%d changes were told, of %d", len(got), writers*each+1)
	}
	versions := make(map[string]int32)
	for _, g := range got {
		if g.Data.Version != versions[g.Data.PhoneNumber]+1 {
			t.Fatalf("version %d of a number follows %d", g.Data.Version, versions[g.Data.PhoneNumber])
		}
		versions[g.Data.PhoneNumber] = g.Data.Version
	}
	var waited int
	if err := owner.QueryRow(t.Context(), `SELECT count(*) FROM line_change WHERE kind = $1`, int16(outbox.Unsealed)).Scan(&waited); err != nil || waited == 0 {
		t.Errorf("%d changes waited for a seal: the test shows nothing; %v", waited, err)
	}
}
