package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// pair is a primary whose commits wait for a standby. The two take turns on two
// ports, and the database url has both.
type pair struct {
	t                *testing.T
	primary, standby *pgtest.Node
	url              string
}

const standbyName = "twin"

// newPair returns a pair and a fixture on it.
func newPair(t *testing.T) (*pair, *fixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	ctx := context.Background()
	p := &pair{t: t, primary: must(pgtest.StartNode(ctx, ""))(t)}
	t.Cleanup(func() {
		p.primary.Stop()
		if p.standby != nil {
			p.standby.Stop()
		}
	})
	one := p.primary.Database()
	other := must(process.FreePort(ctx))(t)
	u := must(url.Parse(one))(t)
	p.url = strings.Replace(one, u.Host, fmt.Sprintf("%s,127.0.0.1:%d", u.Host, other), 1) + "&target_session_attrs=read-write"
	w := newFixture(t, p.url)
	p.copy(other)
	return p, w
}

// copy adds a synchronous standby on that port to the primary.
func (p *pair) copy(port int) {
	p.t.Helper()
	ctx := context.Background()
	p.standby = must(p.primary.Standby(ctx, standbyName, port))(p.t)
	if err := p.primary.Require(ctx, standbyName); err != nil {
		p.t.Fatal(err)
	}
}

// freeze stops the standby from receiving WAL until thaw is called.
func (p *pair) freeze() (thaw func()) {
	p.t.Helper()
	pid := must(p.standby.Receiver(p.t.Context()))(p.t)
	if err := process.Freeze(pid); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		p.t.Helper()
		if err := process.Thaw(pid); err != nil {
			p.t.Fatal(err)
		}
	}
}

// lose kills and removes the primary, promotes the standby, and returns the time at
// which that accepted writes. There is no standby then.
func (p *pair) lose() time.Time {
	p.t.Helper()
	if err := p.primary.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.standby.Promote(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	at := must(p.standby.Writable(p.t.Context()))(p.t)
	p.primary.Stop()
	p.primary, p.standby = p.standby, nil
	return at
}

// loseBoth is lose for the case that the standby is killed too and loses what it
// had not received. It is restarted alone.
func (p *pair) loseBoth() time.Time {
	p.t.Helper()
	if err := p.standby.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.primary.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.standby.Start(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	return p.lose()
}

// A standby that is promoted under load, after the primary was killed, has every
// acknowledged answer; and the server, which knows both hosts, answers again soon
// after.
func TestFaultPromotion(t *testing.T) {
	p, w := newPair(t)
	f := newFaultRun(t, w, p.url)
	f.mayPassUnnoticed = true // requests wait, and a quick promotion answers all of them
	n := faults(t, 2)
	var gaps []time.Duration
	for i := range n {
		f.load()
		port := p.primary.Port()
		first := f.next()
		gap := f.back(p.lose(), first)
		if gaps = append(gaps, gap); gap > process.Goal(3*time.Second) {
			t.Errorf("promotion %d: the first answer came %s after PostgreSQL accepted writes", i+1, gap)
		}
		f.checkRecords(i)
		if i < n-1 {
			p.copy(port)
		}
	}
	f.load()
	t.Logf("after PostgreSQL accepted writes, the first answers came within %s", gaps)
	f.end(n)
}

// lossEvery is the number of cancelled commits per loss of the primary and of what
// the standby has not received.
const lossEvery = 5

// A commit whose wait for the standby is cancelled, by PostgreSQL's own
// administrator or by the end of its process, is not acknowledged: when the primary
// is lost, no acknowledged answer is lost.
func TestFaultCommitCancelled(t *testing.T) {
	p, w := newPair(t)
	f := newFaultRun(t, w, p.url)
	f.mayPassUnnoticed = true // a server that retries hides it, which is allowed
	n := faults(t, lossEvery)
	cancelled := 0
	for i := range n {
		f.load()
		thaw := p.freeze()
		how := []string{"pg_cancel_backend", "pg_terminate_backend"}[i%2]
		cancelled += f.cancel(how)
		if i%lossEvery != lossEvery-1 {
			thaw()
			f.checkRecords(i)
			continue
		}
		port := p.primary.Port()
		first := f.next()
		f.back(p.loseBoth(), first)
		f.checkRecords(i)
		if i < n-1 {
			p.copy(port)
		}
	}
	f.load()
	t.Logf("%d commits were cancelled", cancelled)
	if cancelled < n {
		t.Errorf("only %d commits were cancelled in %d faults", cancelled, n)
	}
	f.end(n)
}

// cancel ends the waits for the standby in the given way, for a moment and at
// least once, and returns how many. It uses a connection of its own: the pool of
// the fixture waits for the standby too.
func (f *faultRun) cancel(how string) int {
	f.t.Helper()
	total := 0
	end := time.Now().Add(rand.N(200 * time.Millisecond))
	f.until("a commit waits for the standby", func() bool {
		var n int
		err := f.w.pool.QueryRow(f.t.Context(), `SELECT count(*) FROM (SELECT `+how+`(pid) FROM pg_stat_activity
			WHERE application_name = $1 AND wait_event = 'SyncRep') AS cancelled`, trialName).Scan(&n)
		if err != nil {
			f.t.Fatal(err)
		}
		total += n
		return total > 0 && time.Now().After(end)
	})
	return total
}
