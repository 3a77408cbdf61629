package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// mixedLoad sends requests to every operation at a steady rate, each once, and keeps what was
// acknowledged. Every request has to succeed.
type mixedLoad struct {
	w       *fixture
	address string
	rate    int
	pages   []pageVisit
	weights []int // of the operations, added up

	supplier, onboarder                string // tokens
	bankKey, watchKey, feedKey, jobKey string
	list                               string // the watch-list

	stop chan struct{}
	all  sync.WaitGroup

	mu     sync.Mutex
	phases []*upgradePhase
	acks   acknowledged
	jobs   []string // open file jobs
}

// pageVisit is a page of the portal, and the session of somebody who may open it.
type pageVisit struct{ path, session string }

// upgradePhase is what happened in a part of the run.
type upgradePhase struct {
	name   string
	began  int                        // operations; each is used once before they are picked by weight
	took   map[string][]time.Duration // by operation, from when it was due
	failed []string
}

// acknowledged is what callers were told has happened.
type acknowledged struct {
	answers   []string // request ids
	entities  []string
	events    []string
	documents []string
	rows      []string // external ids of rows of files that were verified
}

// loadCaller is one connection.
type loadCaller struct {
	*mixedLoad

	wire wire
	rng  *rand.Rand
}

// operation is a kind of request, and its share of all.
type operation struct {
	name   string
	weight int
	do     func(*loadCaller) error
}

const loadCallers = 96

// begin starts the load.
func (l *mixedLoad) begin(first string) {
	l.stop = make(chan struct{})
	total := 0
	for _, o := range operations {
		total += o.weight
		l.weights = append(l.weights, total)
	}
	l.phase(first)
	due := make(chan time.Time, 60*l.rate)
	for range loadCallers {
		c := &loadCaller{mixedLoad: l, wire: wire{address: l.address}, rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
		l.all.Go(func() {
			defer c.wire.close()
			for at := range due {
				c.one(at)
			}
		})
	}
	l.all.Go(func() {
		defer close(due)
		began := time.Now()
		for n := 0; ; n++ {
			next := began.Add(time.Duration(n) * time.Second / time.Duration(l.rate))
			select {
			case <-l.stop:
				return
			case <-time.After(time.Until(next)):
				due <- next
			}
		}
	})
}

// pick returns the next operation of the phase.
func (c *loadCaller) pick() operation {
	c.mu.Lock()
	p := c.phases[len(c.phases)-1]
	next := p.began
	p.began++
	c.mu.Unlock()
	if next < len(operations) {
		return operations[next]
	}
	pick := c.rng.IntN(c.weights[len(c.weights)-1])
	i, _ := slices.BinarySearchFunc(c.weights, pick, func(upTo, pick int) int {
		if pick < upTo {
			return 1
		}
		return -1
	})
	return operations[i]
}

// one sends a request.
func (c *loadCaller) one(due time.Time) {
	o := c.pick()
	err := o.do(c)
	took := time.Since(due)
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.phases[len(c.phases)-1]
	p.took[o.name] = append(p.took[o.name], took)
	if err != nil {
		p.failed = append(p.failed, fmt.Sprintf("%s: %v", o.name, err))
	}
}

// phase begins the next part of the run.
func (l *mixedLoad) phase(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phases = append(l.phases, &upgradePhase{name: name, took: map[string][]time.Duration{}})
}

// end stops the load, and returns when every request has its answer.
func (l *mixedLoad) end() {
	close(l.stop)
	l.all.Wait()
}

// report fails the test for every request that failed.
func (l *mixedLoad) report(t *testing.T) (requests int) {
	t.Helper()
	for _, p := range l.phases {
		var all []time.Duration
		for _, times := range p.took {
			all = append(all, times...)
		}
		requests += len(all)
		longest, slowest := p.longest()
		t.Logf("%-34s %6d requests, %d failed: p50 %s, p99 %s, longest %s (%s)", p.name, len(all), len(p.failed),
			percentile(all, 0.5).Round(time.Microsecond), percentile(all, 0.99).Round(time.Microsecond), longest.Round(time.Millisecond), slowest)
		for _, text := range p.failed[:min(len(p.failed), 5)] {
			t.Errorf("%s: %s", p.name, text)
		}
	}
	for _, o := range operations {
		n := 0
		for _, p := range l.phases {
			n += len(p.took[o.name])
		}
		if n == 0 {
			t.Errorf("the operation %q was never used", o.name)
		}
	}
	return requests
}

// longest returns how long a request of the phase took at most, and its operation.
func (p *upgradePhase) longest() (took time.Duration, operation string) {
	for name, times := range p.took {
		if most := slices.Max(times); most > took {
			took, operation = most, name
		}
	}
	return took, operation
}

// call sends one request and returns the body of its answer.
func (c *loadCaller) call(method string, raw []byte) ([]byte, error) {
	if err := c.wire.write(raw); err != nil {
		return nil, err
	}
	a, err := c.wire.read(method)
	switch {
	case err != nil:
		return nil, err
	case a.status != http.StatusOK:
		return nil, fmt.Errorf("%d: %.300s", a.status, a.body)
	}
	return a.body, nil
}

func (c *loadCaller) post(path, credential string, body any, headers ...string) ([]byte, error) {
	return c.call(http.MethodPost, post(path, "application/json", encode(body), append(headers, "Authorization", "Bearer "+credential)...))
}

func (c *loadCaller) get(path, credential string) ([]byte, error) {
	return c.call(http.MethodGet, get(path, "Authorization", "Bearer "+credential))
}

// keep adds to what was acknowledged.
func (l *mixedLoad) keep(to *[]string, what ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*to = append(*to, what...)
}

// check compares what was acknowledged with the database: everything is there, and once.
func (l *mixedLoad) check(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		what, sql string
		ids       []string
	}{
		{"answers", `SELECT id, count(request_id) FROM unnest($1::text[]) id LEFT JOIN journal_entry ON request_id = id::uuid GROUP BY id`, l.acks.answers},
		{"rows of files", `SELECT id, count(request_id) FROM unnest($1::text[]) id LEFT JOIN journal_entry ON external_id = id GROUP BY id`, l.acks.rows},
		{"organisations", `SELECT n.cac, count(e.id) FROM unnest($1::text[]) n (cac) LEFT JOIN entity e ON e.cac = n.cac GROUP BY n.cac`, l.acks.entities},
		{"events", `SELECT id, count(event_id) FROM unnest($1::text[]) id LEFT JOIN line_event ON event_id = id GROUP BY id`, l.acks.events},
		{"documents", `SELECT n.name, count(d.id) FROM unnest($1::text[]) n (name) LEFT JOIN document d ON d.file_name = n.name GROUP BY n.name`, l.acks.documents},
	} {
		rows := must(l.w.pool.Query(t.Context(), c.sql, c.ids))(t)
		lost, doubled := 0, 0
		for rows.Next() {
			var id string
			var n int
			if err := rows.Scan(&id, &n); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				lost++
			} else if n > 1 {
				doubled++
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d %s acknowledged: %d lost, %d doubled", len(c.ids), c.what, lost, doubled)
		if lost+doubled > 0 || len(c.ids) == 0 {
			t.Errorf("%s: %d acknowledged, %d lost, %d doubled", c.what, len(c.ids), lost, doubled)
		}
	}
	// Answers of which nobody heard: one in the journal that no caller has.
	var extra int64
	err := l.w.pool.QueryRow(t.Context(), `SELECT count(*) - $1 FROM journal_entry WHERE external_id NOT LIKE 'row-%'`, len(l.acks.answers)).Scan(&extra)
	if err != nil || extra != 0 {
		t.Errorf("the journal has %d answers that nobody got (%v)", extra, err)
	}
}

// textOf returns the value of the first string field of that name in a JSON text.
func textOf(body []byte, field string) string {
	_, rest, _ := strings.Cut(string(body), `"`+field+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
