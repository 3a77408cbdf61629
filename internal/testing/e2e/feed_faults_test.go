package e2e_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// While LINEPROOF_E2E_CHANGES changes are written, the two nodes, sessions of the
// database and the database itself are killed, standbys promoted, and the database lost and
// restored to earlier moments; webhook receivers hang, cut, fail and lose their answers.
// Afterwards the feed of every bank, read with the client, which checks the chain, has each
// version of each number that is there once and in order; so has what was read meanwhile,
// and what the webhooks brought, after what the documents say about a restore was done. No id
// ever came with other bytes. LINEPROOF_E2E_PROMOTE is how many faults of other kinds there
// are between two promotions (6), LINEPROOF_E2E_RESTORES how many restores (3).
func TestFeedFaults(t *testing.T) {
	const banks, writers, batch = 20, 8, 10
	changes := size(t, "LINEPROOF_E2E_CHANGES", 0)
	if changes == 0 {
		t.Skip("takes a minute at least; set LINEPROOF_E2E_CHANGES, or run make feed-faults")
	}
	p, w := newPair(t)
	f := &feedFaults{watchers: newWatchers(t, w, banks), t: t, pair: p}
	for i, h := range f.all {
		h.restores = &restoredHistory{sums: map[eventID][sha256.Size]byte{}}
		if i%2 == 0 {
			h.respond(hostileNow)
		}
	}
	for i := range f.nodes {
		f.start(i)
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers, written sync.WaitGroup
	f.version = make([]int32, banks*perWatcher)
	reads := make([]*feedReader, banks)
	for i := range reads {
		reads[i] = newFeedReader(len(f.version))
		readers.Go(func() { f.follow(ctx, i, reads[i]) })
	}
	steps := f.plan(changes, size(t, "LINEPROOF_E2E_RESTORES", 3))
	f.limit.Store(steps[0].wait)
	for own := range writers {
		written.Go(func() { f.write(own, writers, changes/writers, batch) })
	}
	done := make(chan struct{})
	go func() { written.Wait(); close(done) }()
	f.strike(done, size(t, "LINEPROOF_E2E_PROMOTE", 6), steps)
	if t.Failed() {
		t.FailNow()
	}
	for _, h := range f.all {
		h.respond(nil)
	}
	must(w.pool.Exec(t.Context(), `WITH c AS (UPDATE hook_cursor SET next_at = NULL WHERE next_at IS NOT NULL RETURNING endpoint_id) UPDATE hook_endpoint SET version = version + 1 FROM c WHERE id = endpoint_id`))(t)

	whole := make([]*feedReader, banks)
	for i := range whole {
		whole[i] = f.readAll(i)
		for _, whose := range []int{i, (i + 1) % banks} {
			for n := range perWatcher {
				place := whose*perWatcher + n
				if got, want := whole[i].last[place], f.version[place]; got != want {
					t.Fatalf("bank %d has %d versions of a number of which %d are there", i, got, want)
				}
			}
		}
		process.Until(t, "what was read meanwhile is complete", func() bool { return t.Failed() || reads[i].count.Load() == whole[i].count.Load() })
	}
	stop()
	readers.Wait()
	all, void, restarts := 0, 0, 0
	for i, r := range reads {
		if !slices.Equal(r.told, whole[i].told) {
			t.Errorf("bank %d: what was read meanwhile is not what the feed is", i)
		}
		for id, sum := range whole[i].sums {
			if r.sums[id] != sum {
				t.Errorf("bank %d: the event %v came with other bytes", i, id)
			}
		}
		all, void, restarts = all+len(r.told), void+r.void, restarts+r.restarts
	}
	if void == 0 {
		t.Error("no reader had an event that a restore made void, so this proves nothing")
	}
	f.command("feed", "check")
	sent := f.compareSent()
	t.Logf("%d changes; %d events count, %d were void; nodes killed %d times, sessions %d times, the database %d times, and restored %d times; %d commits of unknown outcome; %d followers began again",
		f.made.Load(), all, void, f.killed, f.ended, f.promoted, f.restored.Load(), f.unknown.Load(), restarts)
	t.Logf("by webhook %d events count, %d were void, %d came again; %d receivers had events sent again", sent.count, sent.void, sent.repeated, sent.replayed)
}

// feedFaults is a run of that test.
type feedFaults struct {
	*watchers

	t     *testing.T
	pair  *pair
	nodes [2]*instance
	mu    sync.Mutex // of nodes

	gate    sync.RWMutex // held by writers while they write, and while nobody may
	version []int32      // of each number; each has one writer
	made    atomic.Int64 // changes, whatever became of them
	limit   atomic.Int64 // of made, up to which writers may go
	unknown atomic.Int64

	restored                atomic.Int64
	killed, ended, promoted int
}

func (f *feedFaults) start(i int) {
	f.t.Helper()
	node := start(f.t, f.w, "LINEPROOF_NODE="+[]string{"one", "two"}[i], "LINEPROOF_WEBHOOK_LOOPBACK=true")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[i] = node
}

func (f *feedFaults) client(i int) *client.Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &client.Client{BaseURL: "http://" + f.nodes[i%len(f.nodes)].public, Retries: -1}
}

// write commits changes of every so-manieth number, each one version after the other.
func (f *feedFaults) write(own, writers, changes, batch int) {
	for n := 0; n < changes && !f.t.Failed(); {
		if f.made.Load() >= f.limit.Load() {
			<-time.After(5 * time.Millisecond)
			continue
		}
		if f.writeBatch(own, writers, batch) {
			n += batch
			f.made.Add(int64(batch))
		}
	}
}

// writeBatch writes the next versions of some numbers. It returns false if the database was
// restored before the outcome was known: then there is nothing to wait for.
func (f *feedFaults) writeBatch(own, writers, batch int) bool {
	some := make([]change, batch)
	restored, written := int64(-1), false
	for {
		err := func() error {
			f.gate.RLock()
			defer f.gate.RUnlock()
			switch {
			case restored < 0:
				restored = f.restored.Load()
				for i, j := range rand.Perm(len(f.version) / writers)[:batch] {
					place := j*writers + own
					some[i] = change{watchedNumber(place).Int(), f.version[place] + 1}
				}
			case restored != f.restored.Load():
				return errRestored
			default:
				var err error
				if written, err = f.isWritten(some[0]); err != nil {
					return err
				}
			}
			if !written {
				if err := f.commit(f.t.Context(), some...); err != nil {
					f.unknown.Add(1)
					return err
				}
			}
			for _, c := range some {
				f.version[c.number-firstWatched] = c.version
			}
			return nil
		}()
		if err == nil || errors.Is(err, errRestored) || f.t.Failed() {
			return err == nil
		}
		<-time.After(20 * time.Millisecond)
	}
}

var errRestored = errors.New("the database was restored meanwhile")

func (f *feedFaults) isWritten(c change) (written bool, err error) {
	err = f.w.pool.QueryRow(f.t.Context(), `SELECT EXISTS (SELECT FROM line_change WHERE number = $1 AND version = $2)`, c.number, c.version).Scan(&written)
	return written, err
}

// strike kills this and that until the changes are written, and makes backups and restores
// when they are due.
func (f *feedFaults) strike(done <-chan struct{}, between int, steps []step) {
	f.t.Helper()
	for n := 1; ; n++ {
		select {
		case <-done:
			return
		case <-time.After(500*time.Millisecond + rand.N(time.Second)):
		}
		switch i := rand.IntN(len(f.nodes)); {
		case len(steps) > 0 && f.made.Load() >= steps[0].due:
			steps[0].do()
			steps = steps[1:]
			f.limit.Store(math.MaxInt64)
			if len(steps) > 0 {
				f.limit.Store(steps[0].wait)
			}
		case n%between == 0:
			port := f.pair.primary.Port()
			f.pair.lose()
			f.pair.copy(port)
			f.promoted++
		case n%2 == 0:
			_, _ = f.w.pool.Exec(f.t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 5`) // whether it could is not important
			f.ended++
		default:
			f.nodes[i].Kill()
			f.start(i)
			f.killed++
		}
		f.sendAgain()
	}
}
