package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// While LINEPROOF_E2E_CHANGES changes are written, the two nodes, sessions of the
// database and the database itself are killed, and standbys promoted; webhook receivers hang,
// cut, fail and lose their answers. Afterwards the feed of every bank, read with the client,
// which checks the chain, has each version of each number once and in order; so has what was
// read meanwhile, and what the webhooks brought. LINEPROOF_E2E_PROMOTE is how many faults of
// other kinds there are between two promotions (6).
func TestFeedFaults(t *testing.T) {
	const banks, writers, batch = 20, 8, 10
	changes := size(t, "LINEPROOF_E2E_CHANGES", 0)
	if changes == 0 {
		t.Skip("takes a minute at least; set LINEPROOF_E2E_CHANGES, or run make feed-faults")
	}
	p, w := newPair(t)
	f := &feedFaults{watchers: newWatchers(t, w, banks), t: t, pair: p}
	for i, h := range f.all {
		if i%2 == 0 {
			h.respond(hostileNow)
		}
	}
	for i := range f.nodes {
		f.start(i)
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers, written sync.WaitGroup
	reads := make([]*feedReader, banks)
	for i := range reads {
		reads[i] = &feedReader{last: map[string]int64{}}
		readers.Go(func() { f.follow(ctx, i, reads[i]) })
	}
	f.version = make([]int32, banks*perWatcher)
	for own := range writers {
		written.Go(func() { f.write(own, writers, changes/writers, batch) })
	}
	done := make(chan struct{})
	go func() { written.Wait(); close(done) }()
	f.strike(done, size(t, "LINEPROOF_E2E_PROMOTE", 6))
	for _, h := range f.all {
		h.respond(nil)
	}
	must(w.pool.Exec(t.Context(), `WITH c AS (UPDATE hook_cursor SET next_at = NULL WHERE next_at IS NOT NULL RETURNING endpoint_id) UPDATE hook_endpoint SET version = version + 1 FROM c WHERE id = endpoint_id`))(t)

	repeated := 0
	for i, h := range f.all {
		whole := f.readAll(i)
		for _, whose := range []int{i, (i + 1) % banks} {
			for n := range perWatcher {
				place := whose*perWatcher + n
				if got, want := whole.last[watchedNumber(place).E164()], int64(f.version[place]); got != want {
					t.Fatalf("bank %d has %d versions of a number of which %d were written", i, got, want)
				}
			}
		}
		process.Until(t, "what was read meanwhile is complete", func() bool { return reads[i].count.Load() == whole.count.Load() })
		var told int
		if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM feed_entry WHERE entity_id = $1 AND mode = 'test'`, h.owner.Entity).Scan(&told); err != nil {
			t.Fatal(err)
		}
		settle(t, []*hooked{h}, 5*time.Minute, func(h *hooked) bool { return h.next == told+1 })
		h.mu.Lock()
		repeated += h.repeated
		for _, text := range h.wrong {
			t.Error(text)
		}
		h.mu.Unlock()
	}
	stop()
	readers.Wait()
	var all int64
	for _, r := range reads {
		all += r.count.Load()
		if r.err != nil {
			t.Error(r.err)
		}
	}
	t.Logf("%d changes made %d events; nodes killed %d times, sessions %d times, the database %d times; %d commits of unknown outcome; %d events came again by webhook",
		changes, all, f.killed, f.ended, f.promoted, f.unknown.Load(), repeated)
}

// feedFaults is a run of that test.
type feedFaults struct {
	*watchers

	t       *testing.T
	pair    *pair
	nodes   [2]*instance
	mu      sync.Mutex // of nodes
	version []int32    // of each number; each has one writer
	unknown atomic.Int64

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
	numbers := len(f.version) / writers
	for n := 0; n < changes; n += batch {
		some := make([]change, batch)
		for i, j := range rand.Perm(numbers)[:batch] {
			place := j*writers + own
			some[i] = change{watchedNumber(place).Int(), f.version[place] + 1}
		}
		for err := f.commit(f.t.Context(), some...); err != nil; err = f.commit(f.t.Context(), some...) {
			f.unknown.Add(1)
			if f.isWritten(some[0]) {
				break
			}
		}
		for _, c := range some {
			f.version[c.number-firstWatched] = c.version
		}
	}
}

// isWritten waits until the database says whether a change is written.
func (f *feedFaults) isWritten(c change) (written bool) {
	for {
		err := f.w.pool.QueryRow(f.t.Context(), `SELECT EXISTS (SELECT FROM line_change WHERE number = $1 AND version = $2)`, c.number, c.version).Scan(&written)
		if err == nil || f.t.Context().Err() != nil {
			return written
		}
		<-time.After(20 * time.Millisecond)
	}
}

// strike kills this and that until the changes are written.
func (f *feedFaults) strike(done <-chan struct{}, between int) {
	f.t.Helper()
	for n := 1; ; n++ {
		select {
		case <-done:
			return
		case <-time.After(500*time.Millisecond + rand.N(time.Second)):
		}
		switch i := rand.IntN(len(f.nodes)); {
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
	}
}

// feedReader is what a reader of a feed has got: the last version of each number.
type feedReader struct {
	last     map[string]int64
	position string
	count    atomic.Int64
	err      error
}

// take counts one event, and whether it is the next one of its number.
func (r *feedReader) take(e *client.Event) error {
	r.count.Add(1)
	if !strings.HasPrefix(e.Type, "org.lineproof.line.v1.") {
		return nil // about many lines
	}
	var data client.LineChange
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.Version != r.last[data.PhoneNumber]+1 {
		return fmt.Errorf("version %d of a number came after %d", data.Version, r.last[data.PhoneNumber])
	}
	r.last[data.PhoneNumber] = data.Version
	return nil
}

// follow reads a feed as a bank does, and goes on where it was after each error.
func (f *feedFaults) follow(ctx context.Context, i int, r *feedReader) {
	for turn := i; ctx.Err() == nil; turn++ {
		var pending []client.Event // since the last saved position
		save := func(_ context.Context, position string) error {
			for j := range pending {
				if err := r.take(&pending[j]); err != nil {
					r.err = err
					return err
				}
			}
			pending, r.position = nil, position
			return nil
		}
		for e, err := range f.client(turn).Feed(ctx, f.keys[i], client.FeedOptions{Position: r.position, Save: save, Follow: true}) {
			if errors.Is(err, client.ErrFeedTampered) {
				r.err = err
			}
			if err != nil {
				break
			}
			pending = append(pending, e)
		}
		if r.err != nil {
			return
		}
		_ = pass(ctx, 50*time.Millisecond)
	}
}

// readAll reads a feed from its beginning once all changes are distributed.
func (f *feedFaults) readAll(i int) *feedReader {
	f.t.Helper()
	process.Until(f.t, "all changes are distributed", func() bool {
		var left bool
		err := f.w.pool.QueryRow(f.t.Context(), `SELECT EXISTS (SELECT FROM line_change WHERE n > (SELECT n FROM outbox_mark WHERE reader = 'feed'))`).Scan(&left)
		return err == nil && !left
	})
	r := &feedReader{last: map[string]int64{}}
	for e, err := range f.client(i).Feed(f.t.Context(), f.keys[i], client.FeedOptions{}) {
		if err != nil {
			f.t.Fatal(err)
		}
		if err := r.take(&e); err != nil {
			f.t.Fatalf("bank %d: %v", i, err)
		}
	}
	return r
}
