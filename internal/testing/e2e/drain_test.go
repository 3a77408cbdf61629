package e2e_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// A server that is told to stop answers every request whose handler has started; a
// request without a response has left no trace; and the server ends in time with
// exit code 0.
func TestDrain(t *testing.T) {
	w := newFixture(t, pgtest.URL(t))
	drains := size(t, "LINEPROOF_E2E_DRAINS", 3)
	book := newLedger(t)
	for i := range drains {
		p := start(t, w, "LINEPROOF_LOG_LEVEL=debug")
		stop := make(chan struct{})
		wait := rush(t, w, p.public, book, 32, stop)
		<-time.After(50*time.Millisecond + rand.N(700*time.Millisecond))
		begin := time.Now()
		p.terminate(t)
		p.wait(t)
		took := time.Since(begin)
		close(stop)
		wait()
		if code := p.ExitCode(); code != 0 || took > 20*time.Second {
			t.Errorf("drain %d: exit code %d after %s", i+1, code, took)
		}
		began := answeredAll(t, p, book)
		t.Logf("drain %d of %d took %s; %d handlers had begun", i+1, drains, took.Round(time.Millisecond), began)
		if t.Failed() {
			t.Logf("the log ends with:\n%s", p.output(t))
			break
		}
	}
	whole := book.read(t)
	n := tally(whole)
	t.Logf("%d drains: %v", drains, n)
	if n["verify ok"] == 0 || n["onboard ok"] == 0 || n["verify unknown"]+n["verify unsent"] == 0 {
		t.Errorf("the stops met no load, so they prove nothing: %v", n)
	}
	report(t, &checker{world: w, book: whole, noAnswerNoTrace: true})
}

// A node that still answers because its load balancer has not removed it yet hears of what ends
// elsewhere, as any other: keys, organisations and sessions; and it stops whoever scans.
func TestNodeThatAnswersWhileItDrainsHearsAndGuards(t *testing.T) {
	w := newFixture(t, pgtest.URL(t))
	p := start(t, w, append([]string{"LINEPROOF_DRAIN_DELAY=3m"}, scanSettings...)...)
	p.terminate(t)
	process.Until(t, "it drains", func() bool { return strings.Contains(p.output(t), "draining") })
	var all sync.WaitGroup
	var asked, longest atomic.Int64
	for i := range 3 {
		r := w.revocation(t, i)
		all.Go(func() { r.watch(t, []*instance{p}, &asked, &longest) })
	}
	all.Wait()
	s := scan{name: "while it drains", keys: 1, batch: 1000, next: func(i int) int64 { return 234_803_500_0000 + int64(i) }}
	s.run(t, w, p.public, 40_000)
	s.judge(t, w)
	if p.ends(t, 0) {
		t.Error("the node had ended, so this proves nothing")
	}
}

// answeredAll fails the test for every log line of a request whose caller got no
// response. It returns how many lines there were.
func answeredAll(t *testing.T, p *instance, book *ledger) int {
	t.Helper()
	heard := make(map[string]bool)
	for _, e := range book.read(t) {
		for _, m := range e.ends {
			if m.RequestID != "" { // a caller without a response has no request id
				heard[m.RequestID] = true
			}
		}
	}
	began := 0
	for _, l := range p.lines(t) {
		if l.Message != "request" {
			continue
		}
		began++
		// An answer that has a record carries the record's id.
		if !heard[l.Request] && (l.Record == "" || !heard[l.Record]) {
			t.Errorf("the handler of a request began and its caller got no answer: %+v", l)
		}
	}
	return began
}
