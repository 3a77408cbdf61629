package e2e_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

const (
	// maxFailures is how many failing requests are kept; then the run ends.
	maxFailures = 20
	corpus      = "testdata/fuzzed"
)

// fuzzRun is one run of the fuzzed requests.
type fuzzRun struct {
	world   *fixture
	address string
	total   int64
	sent    atomic.Int64
	failed  atomic.Int64

	mu     sync.Mutex
	counts map[string]int
}

// Whatever is sent to the server, it responds in the envelope, or as net/http does
// if it is not HTTP; it never panics and never responds with 5xx.
func TestFuzzedRequests(t *testing.T) {
	w := newFixture(t, pgtest.URL(t))
	p := start(t, w, "LINEPROOF_UPLOAD_MAX_BYTES=65536")
	seed := uint64(size(t, "LINEPROOF_E2E_SEED", int(rand.Int32())+1))
	f := &fuzzRun{world: w, address: p.public, total: int64(size(t, "LINEPROOF_E2E_REQUESTS", 3000)), counts: make(map[string]int)}
	t.Logf("seed %d (LINEPROOF_E2E_SEED)", seed)
	begin := time.Now()
	done := make(chan struct{})
	var all, ticking sync.WaitGroup
	ticking.Go(func() { f.progress(t, begin, done) })
	for i := range size(t, "LINEPROOF_E2E_WORKERS", 8) { // most of the time they wait for answers that do not come
		all.Go(func() { f.work(t, seed, uint64(i)) })
	}
	all.Wait()
	close(done)
	ticking.Wait()
	took := time.Since(begin)
	n := f.sent.Load()
	t.Logf("%d requests in %s, %.0f/s", n, took.Round(time.Millisecond), float64(n)/took.Seconds())
	for _, what := range slices.Sorted(maps.Keys(f.counts)) {
		t.Logf("%9d  %s", f.counts[what], what)
	}
	if !t.Failed() && n < f.total {
		t.Errorf("only %d of %d requests were sent before the time was over", n, f.total)
	}
	if n >= 3000 { // if the generator reaches no handler, the run proves nothing
		for _, status := range statuses[:len(statuses)-1] {
			if f.counts[strconv.Itoa(status)] == 0 {
				t.Errorf("no request was answered with %d", status)
			}
		}
	}
	f.checkServer(t, p)
}

// checkServer fails the test if the server has ended, or has logged a panic.
func (f *fuzzRun) checkServer(t *testing.T, p *instance) {
	t.Helper()
	select {
	case <-p.Ended():
		t.Fatalf("the server ended with %d:\n%s", p.ExitCode(), p.output(t))
	default:
	}
	p.terminate(t)
	p.wait(t)
	if p.ExitCode() != 0 {
		t.Errorf("exit code %d:\n%s", p.ExitCode(), p.output(t))
	}
	log := must(os.Open(p.log))(t)
	defer log.Close()
	requests, lines := 0, bufio.NewReader(log)
	for {
		l, err := lines.ReadString('\n')
		if err != nil {
			break // it is complete: the server has ended
		}
		if strings.Contains(l, `"msg":"request"`) {
			requests++
		}
		if !strings.HasPrefix(l, "{") || strings.Contains(l, `"stack"`) || strings.Contains(l, "panic") {
			t.Errorf("the server complains: %.2000s", l)
			return
		}
	}
	t.Logf("%d requests reached the API", requests)
}

func (f *fuzzRun) progress(t *testing.T, begin time.Time, done <-chan struct{}) {
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			n := f.sent.Load()
			t.Logf("%d of %d, %.0f/s, %d failed", n, f.total, float64(n)/time.Since(begin).Seconds(), f.failed.Load())
		}
	}
}

// work sends requests until the total is reached, too much has failed, or the
// time of the test is nearly over.
func (f *fuzzRun) work(t *testing.T, seed, worker uint64) {
	end, limited := t.Deadline()
	g := &generator{rng: rand.New(rand.NewPCG(seed, worker)), world: f.world, seed: seed + worker}
	c := &wire{address: f.address}
	defer c.close()
	for f.sent.Load() < f.total && f.failed.Load() < maxFailures && (!limited || time.Until(end) > time.Minute) {
		x := g.next()
		f.sent.Add(int64(x.requests))
		answers, err := exchangeAll(c, x)
		f.judge(t, x, answers, err)
	}
}

// exchangeAll sends x and reads what there is to read.
func exchangeAll(c *wire, x exchange) ([]answer, error) {
	if !x.certain {
		c.close() // damage to the frame must not reach the next request
	}
	err := c.write(x.raw)
	if errors.Is(err, errUnsent) && x.certain { // a kept connection may have been closed between two requests
		err = c.write(x.raw)
	}
	if err != nil {
		return nil, err
	}
	if !x.certain {
		c.hangUp(x.cut)
	}
	var answers []answer
	for len(answers) < x.requests || !x.certain {
		a, err := c.read(x.method)
		if err != nil {
			return answers, err
		}
		answers = append(answers, a)
		if c.conn == nil {
			return answers, nil // the server has said that this was the last
		}
	}
	return answers, nil
}

func (f *fuzzRun) judge(t *testing.T, x exchange, answers []answer, err error) {
	f.mu.Lock()
	for _, a := range answers {
		f.counts[strconv.Itoa(a.status)]++
		if a.status == http.StatusServiceUnavailable && !x.certain {
			f.counts["503, to a caller who hung up"]++
		}
	}
	if !x.certain {
		f.counts["badly framed"]++
		if len(answers) == 0 {
			f.counts["badly framed, no answer"]++
		}
	}
	f.mu.Unlock()
	for _, a := range answers {
		wrong := complaint(x.method, a)
		if wrong == "" && x.certain && a.status == http.StatusServiceUnavailable {
			wrong = "503, and no cap was reached" // the limits of this server are high
		}
		if wrong != "" {
			f.keep(t, x, wrong+": "+describe(a))
			return
		}
	}
	if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
		f.keep(t, x, "no answer in time")
	}
	if x.certain && len(answers) == 0 {
		f.keep(t, x, fmt.Sprintf("no answer: %v", err))
	}
}

// keep writes a failing request where TestFuzzedRegressions finds it.
func (f *fuzzRun) keep(t *testing.T, x exchange, wrong string) {
	if f.failed.Add(1) > maxFailures {
		return
	}
	raw := f.world.hide(x.raw)
	sum := sha256.Sum256(raw)
	name := filepath.Join(corpus, fmt.Sprintf("%x.http", sum[:6]))
	if err := errors.Join(os.MkdirAll(corpus, 0o755), os.WriteFile(name, raw, 0o644)); err != nil {
		t.Error(err)
	}
	t.Errorf("%s\n  kept as %s\n%.1500q", wrong, name, raw)
}

// Requests that once had a wrong response now have the right one.
func TestFuzzedRegressions(t *testing.T) {
	files := must(filepath.Glob(filepath.Join(corpus, "*.http")))(t)
	if len(files) == 0 {
		t.Fatal("there is no corpus")
	}
	w := newFixture(t, pgtest.URL(t))
	p := start(t, w, "LINEPROOF_UPLOAD_MAX_BYTES=65536")
	f := &fuzzRun{world: w, counts: make(map[string]int)}
	for _, name := range files {
		raw := w.show(must(os.ReadFile(name))(t))
		method, _, _ := strings.Cut(string(raw), " ")
		c := &wire{address: p.public}
		if err := c.write(raw); err != nil {
			t.Fatal(err)
		}
		c.hangUp(false)
		answers := 0
		for c.conn != nil {
			a, err := c.read(method)
			if err != nil {
				break
			}
			answers++
			if a.status == http.StatusServiceUnavailable {
				t.Errorf("%s: 503, and no cap was reached", name)
			}
			if wrong := complaint(method, a); wrong != "" {
				t.Errorf("%s: %s: %s", name, wrong, describe(a))
			}
		}
		c.close()
		if answers == 0 {
			t.Errorf("%s: no answer", name)
		}
	}
	f.checkServer(t, p)
}
