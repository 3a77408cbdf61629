package e2e_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Two nodes send webhooks and are killed in turn, to receivers that hang, cut and answer
// with errors: no event is lost, the order of each feed is kept, and the same id never
// comes with other bytes. LINEPROOF_E2E_KILLS says how often a node is killed (1).
func TestWebhookKill(t *testing.T) {
	url, _ := durable(t)
	w := newFixture(t, url)
	x := newHooks(t, w, 20)
	kills := size(t, "LINEPROOF_E2E_KILLS", 1)
	startNode := func(name string) *instance {
		return start(t, w, "LINEPROOF_NODE="+name, "LINEPROOF_WEBHOOK_LOOPBACK=true")
	}
	for i, h := range x.all {
		if i%2 == 0 {
			h.respond(hostileNow)
		}
	}
	nodes := []*instance{startNode("one"), startNode("two")}
	ctx, stop := context.WithCancel(t.Context())
	told := make([]int, len(x.all))
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			var some []*hooked
			var which []int
			for _, i := range rand.Perm(len(x.all))[:5] {
				some, which = append(some, x.all[i]), append(which, i)
			}
			if err := x.tell(t.Context(), some); err != nil {
				t.Error(err)
				return
			}
			for _, i := range which {
				told[i]++
			}
			<-time.After(10 * time.Millisecond)
		}
	})
	for i := range kills {
		<-time.After(3*time.Second + rand.N(2*time.Second))
		nodes[i%2].Kill()
		<-time.After(time.Second)
		nodes[i%2] = startNode([]string{"one", "two"}[i%2])
		// The endpoints of the killed node go on when their leases have expired.
		x.settle(t, 60*time.Second, func(h *hooked) bool { return h.next > 1 })
	}
	stop()
	group.Wait()
	for _, h := range x.all {
		h.respond(nil)
	}
	hurry := `WITH c AS (UPDATE hook_cursor SET next_at = NULL WHERE next_at IS NOT NULL RETURNING endpoint_id) UPDATE hook_endpoint SET version = version + 1 FROM c WHERE id = endpoint_id`
	must(w.pool.Exec(t.Context(), hurry))(t)
	want := map[*hooked]int{}
	events, repeated := 0, 0
	for i, h := range x.all {
		want[h] = told[i]
		events += told[i]
	}
	x.settle(t, 90*time.Second, func(h *hooked) bool { return h.next == want[h]+1 })
	for _, h := range x.all {
		h.mu.Lock()
		repeated += h.repeated
		for _, text := range h.wrong {
			t.Error(text)
		}
		h.mu.Unlock()
	}
	t.Logf("%d kills, %d events to %d endpoints, %d came again", kills, events, len(x.all), repeated)
}

// hostileNow sometimes hangs, cuts, answers with an error, or loses the answer.
func hostileNow(w http.ResponseWriter, r *http.Request) bool {
	switch rand.IntN(40) {
	case 0:
		<-r.Context().Done()
		return false
	case 1:
		panic(http.ErrAbortHandler)
	case 2:
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	case 3:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return false
	}
	return true
}

// settle waits until every organisation has what it should.
func (x *hooks) settle(t *testing.T, within time.Duration, done func(*hooked) bool) {
	t.Helper()
	settle(t, x.all, within, done)
}

func settle(t *testing.T, all []*hooked, within time.Duration, done func(*hooked) bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for _, h := range all {
		for {
			h.mu.Lock()
			ok, next := done(h), h.next
			h.mu.Unlock()
			if ok {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("an endpoint is still at event %d after %s", next, within)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
}
