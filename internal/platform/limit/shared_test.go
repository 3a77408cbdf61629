package limit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/testing/redistest"
)

// Two nodes draw on one bucket: together they get what it holds.
func TestNodesShareOneBucket(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	k, r := anyone(), limit.Rate{PerSecond: slow, Burst: 200}
	var passed atomic.Int64
	var all sync.WaitGroup
	for _, l := range []limit.Limiter{node(t, server), node(t, server)} {
		for range 4 {
			all.Go(func() {
				for range 100 {
					if l.Take(t.Context(), k, r, 1).OK {
						passed.Add(1)
					}
				}
			})
		}
	}
	all.Wait()
	if n := passed.Load(); n > 200 || n < 170 { // tokens that were fetched and not used in time are lost
		t.Errorf("%d passed, want 200 or a few less", n)
	}
}

// A busy key costs far less than one round trip per request, whether it is
// allowed or not.
func TestBusyKeyCostsFewRoundTrips(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	for name, tc := range map[string]struct {
		rate limit.Rate
		most uint64
	}{
		"let through": {limit.Rate{PerSecond: 1_000_000, Burst: 1_000_000}, 1000},
		"refused":     {limit.Rate{PerSecond: 500, Burst: 100}, 1000},
	} {
		l := node(t, server)
		k, begin := anyone(), time.Now()
		takes := uint64(0)
		for time.Since(begin) < time.Second || takes < 20_000 {
			l.Take(t.Context(), k, tc.rate, 1)
			takes++
		}
		if seconds := uint64(time.Since(begin)/time.Second) + 1; l.Trips() > tc.most*seconds || l.Trips()*10 > takes {
			t.Errorf("%s: %d round trips for %d takes in %ds", name, l.Trips(), takes, seconds)
		}
	}
}

// eventually fails the test unless a condition becomes true in time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("never: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// taken takes tokens until it is refused, and returns how many it got.
func taken(t *testing.T, l limit.Limiter, k limit.Key, r limit.Rate) (n int) {
	t.Helper()
	for l.Take(t.Context(), k, r, 1).OK {
		n++
	}
	return n
}

// While Redis is unavailable a node allows half of the rate, at once and
// counted; a caller that had used up its bucket does not find it full, and what
// was taken during the outage is not given again when Redis comes back empty.
func TestNodeContinuesWithHalfTheRateDuringAnOutage(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	var changes atomic.Int64
	l, err := limit.Open(server.URL(), func(bool, error) { changes.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	busy, idle, r := anyone(), anyone(), limit.Rate{PerSecond: slow, Burst: 100}
	if n := taken(t, l, busy, r); n < 85 || n > 100 {
		t.Fatalf("the bucket had %d tokens", n)
	}
	server.Stop()
	eventually(t, "Redis is found to be away", func() bool {
		l.Take(t.Context(), anyone(), r, 1)
		return l.Degraded()
	})
	if n := taken(t, l, busy, r); n > 0 {
		t.Errorf("a bucket that was used up gives %d more", n)
	}
	if n := taken(t, l, idle, r); n != 50 {
		t.Errorf("an idle key gets %d, want half of its bucket", n)
	}
	if v := l.Owe(t.Context(), anyone(), r, 1000); !v.OK {
		t.Error("a debt of somebody who owes nothing is refused")
	}
	if l.Local() < 50 {
		t.Errorf("%d requests are counted as decided here, want at least 50", l.Local())
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Redis is found to be back", func() bool { return !l.Degraded() })
	// It still keeps to half of the rate, of which this key has nothing left: others may
	// not know yet.
	if n := taken(t, l, idle, r); n > 0 {
		t.Errorf("the key gets %d at once, want none before all nodes know", n)
	}
	eventually(t, "the key gets something again", func() bool { return l.Take(t.Context(), idle, r, 1).OK })
	if n := 1 + taken(t, l, idle, r); n < 35 || n > 50 {
		t.Errorf("the key gets %d after it took 50 of 100 meanwhile, want the rest", n)
	}
	if n := taken(t, l, busy, r); n > 51 {
		t.Errorf("a bucket that was used up gives %d when Redis is back", n)
	}
	if n := changes.Load(); n != 2 {
		t.Errorf("%d changes were told, want that it went and that it came back", n)
	}
}

// A Redis that accepts connections and does not reply delays only the first
// requests, and those not for long.
func TestHangingRedisDelaysOnlyTheFirstRequests(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	l := node(t, server)
	r := limit.Rate{PerSecond: 1000, Burst: 1000}
	l.Take(t.Context(), anyone(), r, 1)
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	var longest, slowOnes atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for begin := time.Now(); time.Since(begin) < 2*time.Second; {
				start := time.Now()
				if !l.Take(t.Context(), anyone(), r, 1).OK {
					t.Error("a new key is refused")
				}
				took := int64(time.Since(start))
				if took > int64(100*time.Millisecond) {
					slowOnes.Add(1)
				}
				for old := longest.Load(); took > old && !longest.CompareAndSwap(old, took); old = longest.Load() {
				}
				<-time.After(time.Millisecond)
			}
		})
	}
	all.Wait()
	if d := time.Duration(longest.Load()); d > process.Goal(900*time.Millisecond) {
		t.Errorf("somebody waited %s", d)
	}
	if n := slowOnes.Load(); n > 16 {
		t.Errorf("%d waited for a Redis that answers nothing, want only the first of each", n)
	}
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Redis is found to be back", func() bool { return !l.Degraded() })
}

// An invalid address is rejected without repeating it: it may contain a
// password.
func TestBadAddressIsNotRepeated(t *testing.T) {
	t.Parallel()
	_, err := limit.Open("redis://user:hunter2@host:port:port/x", nil)
	if err == nil || len(err.Error()) > 60 {
		t.Errorf("Open = %v, want a short complaint", err)
	}
}
