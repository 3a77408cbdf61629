package e2e_test

import (
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Endpoints that hang do not delay the others: 200 endpoints, 278 events a second; in
// every second run a tenth of them hang. The runs take turns, so that what else happens
// on the machine meets both kinds. LINEPROOF_E2E_SECONDS is the length of a run (5), and
// LINEPROOF_E2E_ROUNDS the number of pairs (1). LINEPROOF_E2E_RATIO is how many times
// the 99th percentile of the runs without it may be.
func TestWebhookHang(t *testing.T) {
	const count, hanging, rate, batch = 200, 20, 278, 10
	url, _ := durable(t)
	w := newFixture(t, url)
	x := newHooks(t, w, count)
	start(t, w, "LINEPROOF_WEBHOOK_LOOPBACK=true")
	x.settle(t, time.Minute, func(*hooked) bool { return true })
	if err := x.tell(t.Context(), x.all); err != nil { // every endpoint has its sender
		t.Fatal(err)
	}
	x.settle(t, time.Minute, func(h *hooked) bool { return h.next == 2 })
	seconds, rounds := size(t, "LINEPROOF_E2E_SECONDS", 5), size(t, "LINEPROOF_E2E_ROUNDS", 1)
	var took [2][]time.Duration
	for round := range 2 * rounds {
		some := round%2 == 1
		for _, h := range x.all[:hanging] {
			if some {
				h.respond(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return false })
			} else {
				h.respond(nil)
			}
		}
		if !some && round > 0 { // those that hung are to begin anew
			must(w.pool.Exec(t.Context(), `WITH c AS (UPDATE hook_cursor SET next_at = NULL, failures = 0, failing_since = NULL RETURNING endpoint_id) UPDATE hook_endpoint SET version = version + 1 FROM c WHERE id = endpoint_id`))(t)
			<-time.After(3 * time.Second)
		}
		for _, h := range x.all {
			h.mu.Lock()
			h.took = nil
			h.mu.Unlock()
		}
		var group sync.WaitGroup
		begin := time.Now()
		for n := range seconds * rate / batch {
			due := begin.Add(time.Duration(n) * time.Second * batch / rate)
			<-time.After(time.Until(due))
			group.Go(func() {
				some := make([]*hooked, batch)
				for i, j := range rand.Perm(count)[:batch] {
					some[i] = x.all[j]
				}
				if err := x.tell(t.Context(), some); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		<-time.After(time.Second)
		var all []time.Duration
		for _, h := range x.all[hanging:] {
			h.mu.Lock()
			all = append(all, h.took...)
			for _, text := range h.wrong {
				t.Error(text)
			}
			h.mu.Unlock()
		}
		t.Logf("run %d, %d hang: %d events to the others, p50 %s, p99 %s", round+1, map[bool]int{true: hanging}[some], len(all), percentile(all, 0.5), percentile(all, 0.99))
		took[round%2] = append(took[round%2], all...)
	}
	calm, beside := percentile(took[0], 0.99), percentile(took[1], 0.99)
	t.Logf("p50 %s and %s, p99 %s without and %s beside endpoints that hang: %.2f times", percentile(took[0], 0.5), percentile(took[1], 0.5), calm, beside, float64(beside)/float64(calm))
	ratio := float64(beside) / float64(calm)
	if most := os.Getenv("LINEPROOF_E2E_RATIO"); most != "" && ratio > must(strconv.ParseFloat(most, 64))(t) {
		t.Errorf("endpoints that hang delay the others: %.2f times", ratio)
	}
}
