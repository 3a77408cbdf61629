package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

const (
	scanBatchPath = "/api/v1/phone/api/phone-numbers/verify-batch"
	scanBudget    = 100_000
)

// scanSettings are the usual ones of the guard. The rates of the fixture are such
// that they stop nobody.
var scanSettings = []string{
	"LINEPROOF_DAY_NUMBERS=" + strconv.Itoa(scanBudget), "LINEPROOF_SCAN_GUARD=stop",
}

// Three styles of scan by three organisations, over HTTP and as fast as the server
// answers: one number after the other, at random within a block of ten million,
// and a shuffled list of neighbours over 50 keys of one organisation. Each is
// flagged within a minute and stopped within the budget. Another organisation is
// answered throughout. A server that is started anew stops them
// still, and one that is released is answered within five seconds.
func TestScan(t *testing.T) {
	total := size(t, "LINEPROOF_E2E_SCAN", 40_000)
	seed := rand.Uint64()
	t.Logf("%d numbers for each scan, seed %d", total, seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newFixture(t, pgtest.URL(t))
	p := start(t, w, scanSettings...)
	shuffled := rng.Perm(total)
	const block = 234_803_500_0000 // has no lines; nobody asks about lines to find out whether they exist
	scans := []scan{
		{name: "sequential", keys: 1, batch: 1000, next: func(i int) int64 { return block + int64(i) }},
		{name: "random in a block", keys: 1, batch: 1000, next: func(int) int64 { return 234_802_000_0000 + rng.Int64N(10_000_000) }},
		{name: "shuffled over 50 keys", keys: 50, batch: 10, next: func(i int) int64 { return block + int64(shuffled[i]) }},
	}
	for i := range scans {
		s := &scans[i]
		s.run(t, w, p.public, total)
		s.judge(t, w)
		if a := askOnce(t, p.public, w.key, firstLine+1); a.status != http.StatusOK {
			t.Errorf("%s: another organisation is answered %d", s.name, a.status)
		}
	}
	if text := metricsOf(t, p); !strings.Contains(text, `lineproof_guard_alerts_total{kind="density",level="stopped"} 3`) {
		t.Errorf("the metrics do not count three that were stopped")
	}

	p.terminate(t)
	p.wait(t)
	p = start(t, w, scanSettings...)
	for i := range scans {
		s := &scans[i]
		if a := askOnce(t, p.public, s.with[0], firstLine); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: after a restart it is answered %d", s.name, a.status)
		}
	}
	release := guard.ReleaseForm{Entity: scans[0].entity, Reason: "a test", Quiet: time.Hour, By: access.Operator}
	must(guard.Release(t.Context(), w.pool, time.Now(), release))(t)
	for began := time.Now(); askOnce(t, p.public, scans[0].with[0], firstLine).status != http.StatusOK; {
		if late := time.Since(began); late > process.Goal(5*time.Second) {
			t.Fatalf("%s after its release an organisation is not answered", late)
		}
	}
}

// scan is an attempt to read numbers out.
type scan struct {
	name  string
	keys  int // it has
	batch int // numbers in a request
	next  func(i int) int64

	entity            uuid.UUID
	with              []access.NewKey
	began             time.Time
	took              time.Duration
	answered, refused atomic.Int64 // numbers
	other             atomic.Int64 // requests that failed in another way
}

// run makes an organisation and its keys, and asks about all numbers.
func (s *scan) run(t *testing.T, w *fixture, address string, total int) {
	t.Helper()
	s.entity = must(w.registry.CreateRelyingParty(t.Context(), s.name, "RC 9", access.Operator, uuid.Nil))(t).ID
	if err := w.keeper.SetLimits(t.Context(), s.entity, access.Limits{DayNumbers: scanBudget}, "A scan", access.Operator, uuid.Nil); err != nil { // a new organisation has less
		t.Fatal(err)
	}
	for i := range s.keys {
		s.with = append(s.with, must(w.keeper.CreateKey(t.Context(), access.KeyForm{Entity: s.entity, Name: fmt.Sprintf("key %d", i), Mode: "live"}, access.Operator, uuid.Nil))(t))
	}
	bodies := make(chan []byte, 8)
	var all sync.WaitGroup
	s.began = time.Now()
	for i := range max(4, s.keys) {
		key := s.with[i%s.keys].Text.Reveal()
		all.Go(func() {
			conn := wire{address: address}
			defer conn.close()
			for body := range bodies {
				a, err := conn.send(post(scanBatchPath, "application/json", body, "Authorization", "Bearer "+key))
				s.count(a, err)
			}
		})
	}
	for i := 0; i < total; i += s.batch {
		numbers := make([]string, 0, s.batch)
		for j := i; j < min(i+s.batch, total); j++ {
			numbers = append(numbers, `"+`+strconv.FormatInt(s.next(j), 10)+`"`)
		}
		bodies <- []byte(`{"phoneNumbers":[` + strings.Join(numbers, ",") + `]}`)
	}
	close(bodies)
	all.Wait()
	s.took = time.Since(s.began)
}

// count notes what became of a batch.
func (s *scan) count(a answer, err error) {
	var said struct {
		Data struct {
			Code    string
			Results []struct {
				Status string
				Error  struct{ Code string }
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(a.body, &said)
	}
	switch {
	case err == nil && a.status == http.StatusTooManyRequests && (said.Data.Code == "QUOTA_EXCEEDED" || said.Data.Code == "SCAN_SUSPECTED") && a.header.Get("Retry-After") != "":
		s.refused.Add(int64(s.batch))
	case err == nil && a.status == http.StatusOK:
		for _, r := range said.Data.Results {
			if r.Status != "" {
				s.answered.Add(1)
			} else {
				s.refused.Add(1)
			}
		}
	default:
		s.other.Add(1)
	}
}

// judge looks at what the scan got and when it was found.
func (s *scan) judge(t *testing.T, w *fixture) {
	t.Helper()
	var flagged, stopped *time.Time
	for ended := time.Now(); stopped == nil; { // it is stored a moment after it holds
		err := w.pool.QueryRow(t.Context(), `SELECT min(since), min(since) FILTER (WHERE level = 'stopped') FROM guard_alert WHERE entity_id = $1`, s.entity).
			Scan(&flagged, &stopped)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if time.Since(ended) > process.Goal(5*time.Second) {
			t.Fatalf("%s: never stopped; %d answered, %d refused, %d failed", s.name, s.answered.Load(), s.refused.Load(), s.other.Load())
		}
	}
	t.Logf("%s: %d answered, %d refused, %d failed in %s; flagged after %.2f s, stopped after %.2f s", s.name, s.answered.Load(), s.refused.Load(), s.other.Load(),
		s.took.Round(time.Millisecond), flagged.Sub(s.began).Seconds(), stopped.Sub(s.began).Seconds())
	if n := s.answered.Load(); n == 0 || n > scanBudget {
		t.Errorf("%s: %d numbers were answered; the budget is %d", s.name, n, scanBudget)
	}
	if d := flagged.Sub(s.began); d > time.Minute {
		t.Errorf("%s: flagged after %s", s.name, d)
	}
}

// askOnce asks about one number.
func askOnce(t *testing.T, address string, key access.NewKey, number int64) answer {
	t.Helper()
	conn := wire{address: address}
	defer conn.close()
	body := []byte(`{"phoneNumber":"+` + strconv.FormatInt(number, 10) + `"}`)
	return must(conn.send(post(verifyPath, "application/json", body, "Authorization", "Bearer "+key.Text.Reveal())))(t)
}

func metricsOf(t *testing.T, p *instance) string {
	t.Helper()
	return string(fetch(t, "http://"+p.private+"/metrics"))
}
