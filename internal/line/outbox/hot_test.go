package outbox_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

const (
	hotNumbers = 200
	hotWriters = 24
	hotAtOnce  = 4 // numbers that one transaction changes at most
)

var errAborted = errors.New("the writer changed its mind")

// hot are numbers that many writers change.
type hot struct {
	pool *pgxpool.Pool

	// versions are the versions that were committed last. Whoever has the row of a number
	// locked may read and change its version.
	versions [hotNumbers]atomic.Int32

	mu          sync.Mutex
	committedAt [hotNumbers][]time.Time // by version
}

// write lets the writers make so many changes, as supply does: lock the rows, append,
// commit. One transaction in ten rolls back, one in twenty takes up to 20 ms. Done is called
// with how many changes are made.
func (h *hot) write(t *testing.T, changes int64, done func(made int64)) {
	t.Helper()
	// Rows are locked and not updated: while a foreign transaction is open, PostgreSQL would
	// keep a million old versions of them.
	if _, err := h.pool.Exec(t.Context(), `CREATE TABLE hot AS SELECT i AS number FROM generate_series(0, $1::int - 1) AS i`, hotNumbers); err != nil {
		t.Fatal(err)
	}
	var made atomic.Int64
	var writers sync.WaitGroup
	for w := range hotWriters {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 7))
			for made.Load() < changes {
				some := random.Perm(hotNumbers)[:1+random.IntN(hotAtOnce)]
				err := h.change(t.Context(), random, some)
				if err != nil && !errors.Is(err, errAborted) {
					t.Error(err)
					return
				}
				if err == nil {
					done(made.Add(int64(len(some))))
				}
			}
		})
	}
	writers.Wait()
}

// change changes some numbers in one transaction.
func (h *hot) change(ctx context.Context, random *rand.Rand, some []int) error {
	changes := make([]outbox.Change, len(some))
	err := pg.InTx(ctx, h.pool, func(tx pg.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM hot WHERE number = ANY($1) ORDER BY number FOR UPDATE`, some); err != nil {
			return err
		}
		for k, i := range some {
			last := h.versions[i].Load()
			changes[k] = outbox.Change{Number: number(i), FromVersion: last, Version: last + 1, Kind: outbox.Swapped}
		}
		if err := outbox.Append(ctx, tx, changes...); err != nil {
			return err
		}
		if random.IntN(20) == 0 {
			pause(ctx, time.Duration(random.IntN(20))*time.Millisecond)
		}
		if random.IntN(10) == 0 {
			return errAborted
		}
		for k, i := range some { // nothing is left that could fail, and the rows are still locked
			h.versions[i].Store(changes[k].Version)
		}
		return nil
	})
	if err != nil {
		return err
	}
	at := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, i := range some {
		setTime(&h.committedAt[i], changes[k].Version, at)
	}
	return nil
}

func setTime(of *[]time.Time, version int32, at time.Time) {
	for len(*of) <= int(version) {
		*of = append(*of, time.Time{})
	}
	(*of)[version] = at
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// follower reads changes until it is told to stop, and checks them.
type follower struct {
	seen             [hotNumbers]int32       // the version of each number that was read last
	readAt           [hotNumbers][]time.Time // by version
	read, disordered int64
}

func (f *follower) take(changes []outbox.Change) {
	now := time.Now()
	for _, c := range changes {
		i := c.Number.Int() - 2348030000000
		if c.Version != f.seen[i]+1 {
			f.disordered++
		}
		f.seen[i] = max(f.seen[i], c.Version)
		setTime(&f.readAt[i], c.Version, now)
		f.read++
	}
}

// follow reads every two milliseconds, and at once after a full batch.
func follow(t *testing.T, stop <-chan struct{}, read func(mark int64) ([]outbox.Change, int64, error)) *follower {
	t.Helper()
	f := &follower{}
	var mark int64
	for stopping := false; ; {
		changes, next, err := read(mark)
		if err != nil {
			t.Error(err)
			return f
		}
		f.take(changes)
		mark = next
		if len(changes) == readAtOnce {
			continue
		}
		if stopping && len(changes) == 0 {
			return f
		}
		select {
		case <-stop:
			stopping = true // and read what came meanwhile
		case <-time.After(2 * time.Millisecond):
		}
	}
}

const readAtOnce = 500

// delay returns after what time 99 of 100 changes were read that were committed before, or
// after, a moment.
func (h *hot) delay(f *follower, moment time.Time) (before, after time.Duration) {
	var waits [2][]time.Duration
	for i := range h.committedAt {
		for version, at := range h.committedAt[i] {
			if at.IsZero() || version >= len(f.readAt[i]) {
				continue
			}
			k := 0
			if at.After(moment) {
				k = 1
			}
			waits[k] = append(waits[k], max(0, f.readAt[i][version].Sub(at)))
		}
	}
	var p99 [2]time.Duration
	for k := range waits {
		slices.Sort(waits[k])
		if n := len(waits[k]); n > 0 {
			p99[k] = waits[k][n*99/100]
		}
	}
	return p99[0], p99[1]
}

// committed returns the last version of each number, and how many changes were committed.
func (h *hot) committed() (last [hotNumbers]int32, all int64) {
	for i := range h.versions {
		last[i] = h.versions[i].Load()
		all += int64(last[i])
	}
	return last, all
}
