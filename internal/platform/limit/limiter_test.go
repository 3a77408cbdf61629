package limit_test

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/testing/redistest"
)

// slow is a rate at which nothing comes back while a test runs.
const slow = 0.01

// each runs a test on both limiters: both give the same guarantees.
func each(t *testing.T, test func(t *testing.T, l limit.Limiter)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, limit.NewMemory())
	})
	t.Run("shared", func(t *testing.T) {
		t.Parallel()
		test(t, node(t, redistest.New(t)))
	})
}

// node returns a node's limiter on a server.
func node(tb testing.TB, s *redistest.Server) *limit.Shared {
	tb.Helper()
	l, err := limit.Open(s.URL(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

func anyone() limit.Key { return limit.Of(limit.Credential, uuid.New()) }

// A burst is allowed, then nothing until there is a token again, and the
// verdict says how many are left and how long that takes.
func TestBurstThenRefusal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k, r := anyone(), limit.Rate{PerSecond: slow, Burst: 10}
		for i := range 10 {
			v := l.Take(t.Context(), k, r, 1)
			if !v.OK || v.Limit != 10 || v.Remaining != 9-i || v.RetryAfter != 0 {
				t.Fatalf("take %d: %+v", i+1, v)
			}
			if want := time.Duration(i+1) * 100 * time.Second; v.Reset > want || v.Reset < want-20*time.Second {
				t.Errorf("take %d: full again in %s, want about %s", i+1, v.Reset, want)
			}
		}
		v := l.Take(t.Context(), k, r, 1)
		if v.OK || v.Remaining != 0 || v.RetryAfter > 100*time.Second || v.RetryAfter < 80*time.Second {
			t.Errorf("the eleventh: %+v, want it refused for about 100s", v)
		}
		if other := l.Take(t.Context(), anyone(), r, 1); !other.OK || other.Remaining != 9 {
			t.Errorf("another key: %+v, want it untouched", other)
		}
	})
}

// All or nothing: a request for more tokens than there are takes none.
func TestTakeIsAllOrNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k, r := anyone(), limit.Rate{PerSecond: slow, Burst: 10}
		for _, tc := range []struct {
			n    int
			ok   bool
			left int
		}{{6, true, 4}, {5, false, 4}, {4, true, 0}, {1, false, 0}} {
			if v := l.Take(t.Context(), k, r, tc.n); v.OK != tc.ok || v.Remaining != tc.left {
				t.Errorf("take of %d: %+v, want %v and %d left", tc.n, v, tc.ok, tc.left)
			}
		}
	})
}

// In the long run no more is allowed than the rate, and not much less.
func TestRateHoldsUnderPressure(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k, r := anyone(), limit.Rate{PerSecond: 200, Burst: 20}
		begin := time.Now()
		passed, first := 0, time.Duration(0)
		for first == 0 || time.Since(begin) < first+1500*time.Millisecond {
			v := l.Take(t.Context(), k, r, 1)
			if v.OK {
				passed++
				continue
			}
			if first == 0 {
				first = time.Since(begin) // the burst is used up
			}
			<-time.After(time.Millisecond)
		}
		took := time.Since(begin).Seconds()
		most := r.PerSecond*took + float64(r.Burst)
		if float64(passed) > most+1 || float64(passed) < 0.85*most {
			t.Errorf("%d passed in %.2fs, want close to and at most %.0f", passed, took, most)
		}
	})
}

// Concurrent callers together get exactly the tokens that there are.
func TestManyAtOnceGetNoMoreThanThereIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k, r := anyone(), limit.Rate{PerSecond: slow, Burst: 100}
		var passed atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for range 100 {
					if l.Take(t.Context(), k, r, 1).OK {
						passed.Add(1)
					}
				}
			})
		}
		all.Wait()
		if n := passed.Load(); n > 100 || n < 85 { // tokens that were fetched and not used in time are lost
			t.Errorf("%d passed, want 100 or a few less", n)
		}
		if _, exact := l.(*limit.Memory); exact && passed.Load() != 100 {
			t.Errorf("%d passed, want exactly 100", passed.Load())
		}
	})
}

// A debt is taken once, delays what comes next until it is paid, and does not
// grow.
func TestDebtIsTakenOnceAndDelaysTheNext(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k, r := anyone(), limit.Rate{PerSecond: slow, Burst: 10}
		if v := l.Take(t.Context(), k, r, 1); !v.OK {
			t.Fatal("the first token is refused")
		}
		if v := l.Owe(t.Context(), k, r, 49); !v.OK || v.Remaining != 0 {
			t.Fatalf("a debt of somebody who owes nothing: %+v", v)
		}
		v := l.Owe(t.Context(), k, r, 10)
		if v.OK {
			t.Error("a key in debt may owe more")
		}
		v = l.Take(t.Context(), k, r, 1)
		if want := 41 * 100 * time.Second; v.OK || v.RetryAfter > want || v.RetryAfter < want-100*time.Second {
			t.Errorf("after a debt of 40: %+v, want %s", v, want)
		}
	})
}

// Tokens that were not used can be put back.
func TestReturnedTokensCanBeTakenAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k, r := anyone(), limit.Rate{PerSecond: slow, Burst: 10}
		if !l.Take(t.Context(), k, r, 1).OK || !l.Owe(t.Context(), k, r, 999).OK {
			t.Fatal("the tokens are refused")
		}
		l.Return(t.Context(), k, r, 999)
		passed := 0
		for l.Take(t.Context(), k, r, 1).OK {
			passed++
		}
		if passed != 9 {
			t.Errorf("%d can be taken after the return, want 9", passed)
		}
	})
}

// Wait takes no token, and returns 0 if there is one.
func TestWaitTakesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k, r := anyone(), limit.Rate{PerSecond: slow, Burst: 2}
		for range 10 {
			if d := l.Wait(k, r); d != 0 {
				t.Fatalf("a key that nobody knows must wait %s", d)
			}
		}
		taken(t, l, k, r)
		if d := l.Wait(k, r); d > 100*time.Second || d < 80*time.Second {
			t.Errorf("wait %s, want about 100s", d)
		}
	})
}

// No rate is no limit.
func TestNoRateIsNoLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l limit.Limiter) {
		k := anyone()
		for range 1000 {
			if v := l.Take(t.Context(), k, limit.Rate{}, 1); !v.OK || v.Limit != 0 {
				t.Fatalf("%+v", v)
			}
		}
		if !l.Owe(t.Context(), k, limit.Rate{}, 1).OK || l.Wait(k, limit.Rate{}) != 0 {
			t.Error("there is a limit where none was set")
		}
		l.Return(t.Context(), k, limit.Rate{}, 1)
	})
}

// A request with a busy key allocates no memory.
func TestBusyKeyAllocatesNothing(t *testing.T) { //nolint:paralleltest // it counts what the whole process allocates
	for name, l := range map[string]limit.Limiter{"memory": limit.NewMemory(), "shared": node(t, redistest.New(t))} {
		k, r := anyone(), limit.Rate{PerSecond: 1_000_000, Burst: 1_000_000}
		ctx := t.Context()
		for range 1000 { // until tokens are fetched in large blocks
			l.Take(ctx, k, r, 1)
		}
		if n := testing.AllocsPerRun(20_000, func() { l.Take(ctx, k, r, 1) }); n >= 1 {
			t.Errorf("%s: %v allocations for each take, want none", name, n)
		}
	}
}

// Addresses of one network are one caller, of two networks two; an IPv4-mapped
// IPv6 address is IPv4.
func TestAddressesOfOneNetworkShareAKey(t *testing.T) {
	t.Parallel()
	from := func(s string) limit.Key { return limit.From(netip.MustParseAddr(s)) }
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.254", true},
		{"192.0.2.1", "192.0.3.1", false},
		{"192.0.2.1", "::ffff:192.0.2.9", true},
		{"2001:db8:1:2::1", "2001:db8:1:ffff::1", true},
		{"2001:db8:1::1", "2001:db8:2::1", false},
		{"fe80::1%eth0", "fe80::1%eth1", true},
	} {
		if got := from(tc.a) == from(tc.b); got != tc.same {
			t.Errorf("%s and %s are the same: %v, want %v", tc.a, tc.b, got, tc.same)
		}
	}
	if limit.From(netip.Addr{}) == from("0.0.0.0") {
		t.Error("addresses that cannot be told are not a network of their own")
	}
}
