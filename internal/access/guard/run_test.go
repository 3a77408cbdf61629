package guard_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// within waits until a condition is true: at most five seconds on a quiet machine.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); !holds(); <-tick.C {
		if late := time.Since(began); late > process.Goal(5*time.Second) {
			t.Fatalf("%s later: %s", late, what)
		}
	}
}

// In real time: what one node finds takes effect on another within five
// seconds, and so does its release on both.
func TestNodesAgreeWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bad := b.entity(t)
	var nodes []*guard.Guard
	for _, name := range []string{"one", "two"} {
		g := guard.New(&guard.Guard{Pool: b.pool, Node: name, Mode: guard.Stop, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		settle(t, g)
		nodes = append(nodes, g)
		done := make(chan struct{})
		go func() {
			g.Run(t.Context())
			close(done)
		}()
		t.Cleanup(func() { <-done }) // the context has ended by then, and the pool is still open
	}
	if _, err := scan(nodes[0], bad, first, first+1_000_000); !errors.Is(err, guard.ErrStopped) {
		t.Fatalf("a scan ended with %v", err)
	}
	stopped := func(g *guard.Guard) bool { return errors.Is(ask(g, bad, guard.Budget{}, first), guard.ErrStopped) }
	within(t, "the other node still answers", func() bool { return stopped(nodes[1]) })
	release := guard.ReleaseForm{Entity: bad, Reason: "a test", Quiet: time.Hour, By: audit.Actor{Kind: audit.Operator}}
	if _, err := guard.Release(t.Context(), b.pool, time.Now(), release); err != nil {
		t.Fatal(err)
	}
	within(t, "a node does not answer after the release", func() bool { return !stopped(nodes[0]) && !stopped(nodes[1]) })
}
