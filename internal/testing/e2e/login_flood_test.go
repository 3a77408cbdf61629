package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A flood of logins is worked on a few at a time, in a process of its own: the memory
// of both stays within what the server may take under any load, and requests are
// answered beside it. How much
// longer that takes is measured in one run. The figures are enforced only if the
// environment says so, because they need a quiet machine.
func TestLoginFlood(t *testing.T) {
	callers, rate := size(t, "LINEPROOF_E2E_LOGINS", 100), size(t, "LINEPROOF_E2E_RATE", 100)
	long := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 1)) * time.Second
	w := newFixture(t, startDurable(t)())
	p := start(t, w, "LINEPROOF_ARGON2_MEMORY_KIB=19456", "LINEPROOF_ARGON2_TIME=2", "LINEPROOF_ARGON2_QUEUE=32")
	l := &openLoop{world: w, address: p.public, rate: rate}
	calm := func(ctx context.Context) error { return pass(ctx, long) }
	l.run(t, &phase{name: "while it warms up"}, calm)
	without, with := &phase{name: "without logins"}, &phase{name: fmt.Sprintf("with %d logins at once", callers)}
	hasher := p.hasher(t)
	before, most := memory(p.PID())+memory(hasher), int64(0)
	f := &loginFlood{address: p.public}
	for range 3 {
		l.run(t, without, calm)
		l.run(t, with, func(ctx context.Context) error {
			most = max(most, f.run(ctx, t, []int{p.PID(), hasher}, callers, long))
			return nil
		})
	}
	without.report(t)
	with.report(t)
	ratio := float64(with.quantile(0.99)) / float64(without.quantile(0.99))
	t.Logf("p99 is %.2f times that without; %d logins were evaluated, %d put off; both processes had %d MiB before and %d MiB at most",
		ratio, f.evaluated.Load(), f.putOff.Load(), before/mebibyte, most/mebibyte)
	// The race detector multiplies what a program takes; the long run goes without.
	if os.Getenv("LINEPROOF_E2E_LOGINS") != "" && most > maxMemory {
		t.Errorf("the server took %d MiB, more than %d", most/mebibyte, maxMemory/mebibyte)
	}
	if now := p.hasher(t); now != hasher {
		t.Logf("the process that hashes passwords got so little processor time that it was replaced: %d is now %d", hasher, now)
	}
	if f.evaluated.Load() == 0 || f.putOff.Load() == 0 && callers > 40 {
		t.Errorf("%d logins were evaluated and %d put off; want some of each", f.evaluated.Load(), f.putOff.Load())
	}
	if enforce := os.Getenv("LINEPROOF_E2E_RATIO"); enforce != "" && ratio > must(strconv.ParseFloat(enforce, 64))(t) {
		t.Errorf("p99 is %.2f times that without, more than %s", ratio, enforce)
	}
}

// loginFlood has clients that log in, each to another account. A client that
// is refused with 503 retries after Retry-After.
type loginFlood struct {
	address           string
	evaluated, putOff atomic.Int64
}

// run runs the clients for a while and returns the maximum memory of the server's
// processes together.
func (f *loginFlood) run(ctx context.Context, t *testing.T, processes []int, callers int, long time.Duration) int64 {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			conn := &wire{address: f.address}
			defer conn.close()
			raw := post(loginPath, "application/json", encode(map[string]string{"email": fmt.Sprintf("crowd-%d@people.example", i), "password": "not-the-one-38"}))
			for ctx.Err() == nil {
				got, err := conn.send(raw)
				wait := time.Second
				switch {
				case err != nil:
					t.Errorf("a login had no answer: %v", err)
					return
				case got.status == http.StatusUnauthorized:
					f.evaluated.Add(1)
				case got.status == http.StatusServiceUnavailable || got.status == http.StatusTooManyRequests:
					f.putOff.Add(1)
					if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); err == nil {
						wait = time.Duration(seconds) * time.Second
					}
				default:
					t.Errorf("a login was answered with %d: %s", got.status, got.body)
				}
				if pass(ctx, wait) != nil {
					return
				}
			}
		})
	}
	most := int64(0)
	for pass(ctx, 50*time.Millisecond) == nil {
		now := int64(0)
		for _, pid := range processes {
			now += memory(pid)
		}
		most = max(most, now)
	}
	all.Wait()
	return most
}
