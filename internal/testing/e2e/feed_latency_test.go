package e2e_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// From the commit of a change to the banks that watch its number, who read server-sent events,
// and to their webhooks: 278 changes a second, each of a number that two of
// LINEPROOF_E2E_BANKS (20) banks watch, for LINEPROOF_E2E_SECONDS (3). The goals are 50 ms for
// half of the events and 500 ms for 99 of 100.
func TestChangesReachBanksSoon(t *testing.T) {
	const rate, batch = 278, 10
	count, seconds := size(t, "LINEPROOF_E2E_BANKS", 20), size(t, "LINEPROOF_E2E_SECONDS", 3)
	url, _ := durable(t)
	w := newFixture(t, url)
	x := newWatchers(t, w, count)
	node := start(t, w, "LINEPROOF_WEBHOOK_LOOPBACK=true")
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	t.Cleanup(func() { stop(); readers.Wait() })
	for i := range count {
		readers.Go(func() { x.stream(ctx, t, node, i) })
	}
	version := make([]int32, count*perWatcher)
	next := func(i int) change {
		version[i]++
		return change{watchedNumber(i).Int(), version[i]}
	}
	for i := range count { // every bank has its reader or sender
		if err := x.commit(t.Context(), next(i*perWatcher)); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, x.all, time.Minute, func(h *hooked) bool { return h.next == 2 })
	settle(t, x.live, time.Minute, func(h *hooked) bool { return h.next >= 3 }) // also what concerns many lines
	for _, h := range slices.Concat(x.all, x.live) {
		h.mu.Lock()
		h.took = nil
		h.mu.Unlock()
	}
	begin, changes := time.Now(), seconds*rate/batch*batch
	var commits sync.WaitGroup
	for n := range changes / batch {
		<-time.After(time.Until(begin.Add(time.Duration(n) * time.Second * batch / rate)))
		some := make([]change, batch)
		for i, j := range rand.Perm(len(version))[:batch] {
			some[i] = next(j)
		}
		commits.Go(func() {
			if err := x.commit(t.Context(), some...); err != nil {
				t.Error(err)
			}
		})
	}
	commits.Wait()
	process.Until(t, "every change has arrived twice", func() bool { return len(tookOf(x.live)) >= 2*changes })
	<-time.After(time.Second)
	for how, readers := range map[string][]*hooked{"webhooks": x.all, "server-sent events": x.live} {
		took := tookOf(readers)
		t.Logf("%s: %d events to %d banks: p50 %s, p99 %s, longest %s", how, len(took), count, percentile(took, 0.5), percentile(took, 0.99), percentile(took, 1))
		for _, h := range readers {
			for _, text := range h.wrong {
				t.Error(text)
			}
		}
	}
}

func tookOf(readers []*hooked) (all []time.Duration) {
	for _, h := range readers {
		h.mu.Lock()
		all = append(all, h.took...)
		h.mu.Unlock()
	}
	return all
}
