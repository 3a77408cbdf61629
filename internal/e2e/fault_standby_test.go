package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/pgtest"
)

// pair is a primary whose commits wait for a standby. The two take turns on two
// ports, and the address names both.
type pair struct {
	t                *testing.T
	primary, standby *pgtest.Node
	url              string
}

const standbyName = "twin"

// newPair returns a pair and a world on it.
func newPair(t *testing.T) (*pair, *world) {
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
	other := must(pgtest.SteadyPort(ctx))(t)
	u := must(url.Parse(one))(t)
	p.url = strings.Replace(one, u.Host, fmt.Sprintf("%s,127.0.0.1:%d", u.Host, other), 1) + "&target_session_attrs=read-write"
	w := newWorld(t, p.url)
	p.copy(other)
	return p, w
}

// copy gives the primary a standby on that port, without which nothing commits
// any more.
func (p *pair) copy(port int) {
	p.t.Helper()
	ctx := context.Background()
	p.standby = must(p.primary.Standby(ctx, standbyName, port))(p.t)
	if err := p.primary.Require(ctx, standbyName); err != nil {
		p.t.Fatal(err)
	}
}

// freeze keeps the standby from receiving anything until thaw is called.
func (p *pair) freeze() (thaw func()) {
	p.t.Helper()
	pid := must(p.standby.Receiver(p.t.Context()))(p.t)
	if err := pgtest.Freeze(pid); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		p.t.Helper()
		if err := pgtest.Thaw(pid); err != nil {
			p.t.Fatal(err)
		}
	}
}

// lose kills the primary and throws it away, promotes the standby, and returns
// when that accepted writes. There is no standby then.
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

// loseBoth is lose for the case that the standby dies, too, and what it had not
// read dies with it. It comes back alone.
func (p *pair) loseBoth() time.Time {
	p.t.Helper()
	if err := p.standby.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.primary.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.standby.Up(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	return p.lose()
}

// A standby that is promoted under load, after the primary was killed, has
// everything that was answered; and the server, to which both hosts were named,
// answers again soon after.
func TestFaultPromotion(t *testing.T) {
	p, w := newPair(t)
	f := newTrial(t, w, p.url)
	n := faults(t, 2)
	var gaps []time.Duration
	for i := range n {
		f.load()
		port := p.primary.Port()
		first := f.next()
		gap := f.back(p.lose(), first)
		if gaps = append(gaps, gap); gap > 3*time.Second {
			t.Errorf("promotion %d: the first answer came %s after PostgreSQL accepted writes", i+1, gap)
		}
		f.whole(i)
		if i < n-1 {
			p.copy(port)
		}
	}
	f.load()
	t.Logf("after PostgreSQL accepted writes, the first answers came within %s", gaps)
	f.end(n)
}

// lossEvery is how many cancelled commits there are for one after which the
// primary and what the standby has not read are lost.
const lossEvery = 5

// A commit whose wait for the standby is cancelled, by PostgreSQL's own
// administrator or by the end of its process, is not acknowledged: when the
// primary is lost, nothing is that was answered.
func TestFaultCommitCancelled(t *testing.T) {
	p, w := newPair(t)
	f := newTrial(t, w, p.url)
	f.gentle = true // a server that tries again hides it, and may
	n := faults(t, lossEvery)
	cancelled := 0
	for i := range n {
		f.load()
		thaw := p.freeze()
		how := []string{"pg_cancel_backend", "pg_terminate_backend"}[i%2]
		cancelled += f.cancel(how)
		if i%lossEvery != lossEvery-1 {
			thaw()
			f.whole(i)
			continue
		}
		port := p.primary.Port()
		first := f.next()
		f.back(p.loseBoth(), first)
		f.whole(i)
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
// least once, and returns how many. It goes by itself: the pool of the world
// waits for the standby, too.
func (f *trial) cancel(how string) int {
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
