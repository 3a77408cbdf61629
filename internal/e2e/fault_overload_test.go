package e2e_test

import (
	"os"
	"slices"
	"testing"
	"time"
)

const (
	// calm is the share of its capacity at which the service is not loaded, in
	// tenths. Ten times that load is three times the capacity, too.
	calm = 3
	// overload is how many times its capacity is offered.
	overload = 3
	// floodConns is how many questions may be under way at once.
	floodConns = 2048
	mebibyte   = 1 << 20
	// mostMemory is what the server may take, whatever is asked of it.
	mostMemory = 512 * mebibyte
)

// When three times as much is asked as the service can answer, and when all
// come back at once after an outage, every caller is answered or put off with
// 503 and Retry-After, nothing that was answered is lost, and afterwards the
// service is itself again. How fast all that is, is measured; the figures are
// enforced only if the environment says so, because they need a quiet machine.
func TestOverload(t *testing.T) {
	if os.Getenv("LINEPROOF_E2E_SECONDS") == "" {
		t.Skip("make overload runs it: what it measures, other tests beside it would disturb")
	}
	long := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 5)) * time.Second
	// First, because they go last. It is PostgreSQL that has too little: a server
	// that has no CPU left cannot refuse at once either.
	ofServer := newQuota(t, "server", size(t, "LINEPROOF_E2E_CPU", 120))
	ofPostgres := newQuota(t, "postgres", size(t, "LINEPROOF_E2E_POSTGRES_CPU", 5))
	node, w := newHurt(t, "")
	f := newTrial(t, w, w.url)
	f.gentle = true
	ofServer.add(f.server.cmd.Process.Pid)
	ofPostgres.add(must(node.Processes())(t)...)

	capacity := f.capacity(max(1500*time.Millisecond, long/8))
	load := max(1, capacity*calm/10)
	memories := f.remember()
	fl := newFlood(t, f.crowd, floodConns)
	unloaded := fl.run("not loaded", load, max(2*time.Second, long/4))
	memories(t, "not loaded")
	over := fl.run("three times its capacity", overload*capacity, long)
	after := fl.run("after it", load, max(2*time.Second, long/8))
	during := memories(t, "with three times its capacity")

	// PostgreSQL is there and does not answer, for a quarter of the time.
	if err := node.Pause(); err != nil {
		t.Fatal(err)
	}
	outage := fl.run("PostgreSQL is out", load, long/4)
	if err := node.Resume(); err != nil {
		t.Fatal(err)
	}
	storm := fl.run("ten times the load, right after", 10*load, long/2)
	calmed := fl.run("after that", load, max(2*time.Second, long/8))
	during = max(during, memories(t, "with the outage and after it"))

	limit := 2 * unloaded.p99()
	for _, d := range []*tide{unloaded, over, after, outage, storm, calmed} {
		t.Log(d)
		if n := len(d.times(markSilent)) + len(d.times(markUnsent)); n > 0 {
			t.Errorf("%s: %d questions were neither answered nor put off", d.name, n)
		}
	}
	t.Logf("capacity %d/s; p99 of the answers %.2f and %.2f times that without load; itself again after %s and %s (negative: not within the run)", capacity,
		ratio(over, unloaded), ratio(storm, unloaded), after.itself(limit), calmed.itself(limit))
	if os.Getenv("LINEPROOF_E2E_ENFORCE") != "" {
		enforce(t, limit, over, storm, after, calmed, outage)
		if during > mostMemory {
			t.Errorf("the server took %d MiB", during/mebibyte)
		}
	}
	f.end(2)
}

// enforce fails the test where the figures are not reached.
func enforce(t *testing.T, limit time.Duration, over, storm, after, calmed, outage *tide) {
	t.Helper()
	const soon, again, away = 100 * time.Millisecond, 5 * time.Second, 1250 * time.Millisecond
	for _, d := range []*tide{over, storm} {
		if got := d.p99(); got > limit {
			t.Errorf("%s: the p99 of the answers is %s, more than twice that without load", d.name, got)
		}
		if got := quantile(d.times(markLater), 0.99); got > soon {
			t.Errorf("%s: being put off takes %s", d.name, got)
		}
		if d.dropped > 0 {
			t.Errorf("%s: %d questions could not be sent", d.name, d.dropped)
		}
	}
	for _, d := range []*tide{after, calmed} {
		if got := d.itself(limit); got < 0 || got > again {
			t.Errorf("%s: it was not itself again after %s", d.name, again)
		}
	}
	if got := quantile(outage.times(markLater), 1); got > away {
		t.Errorf("%s: being put off takes up to %s", outage.name, got)
	}
}

func ratio(d, unloaded *tide) float64 { return float64(d.p99()) / float64(unloaded.p99()) }

// capacity lets a large crowd ask as fast as it is answered, and returns how many
// answers a second that is. The larger the crowd, the more answers share a
// commit. Then the crowd goes home.
func (f *trial) capacity(long time.Duration) int {
	f.t.Helper()
	f.begin(f.t, 512)
	f.load() // it is warm now
	begin, answered := time.Now(), f.answered.Load()
	<-time.After(long)
	n := float64(f.answered.Load()-answered) / time.Since(begin).Seconds()
	f.crowd.end()
	f.stop = make(chan struct{}) // for the flood, and for the end of the trial
	return int(n)
}

// remember looks at the memory of the server for as long as it runs. What it
// returns says how it was since it was last called, and returns the most.
func (f *trial) remember() func(t *testing.T, when string) int64 {
	f.t.Helper()
	pid := f.server.cmd.Process.Pid
	seen := make(chan chan []int64)
	go func() {
		var all []int64
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				all = append(all, memory(pid))
			case to := <-seen:
				to <- append(all, memory(pid))
				all = nil
			case <-f.server.ended:
				return
			}
		}
	}()
	return func(t *testing.T, when string) int64 {
		t.Helper()
		to := make(chan []int64)
		seen <- to
		all := <-to
		t.Logf("memory of the server %s: %d MiB at first, %d half-way, %d at the end, %d at most", when, all[0]/mebibyte, all[len(all)/2]/mebibyte,
			all[len(all)-1]/mebibyte, slices.Max(all)/mebibyte)
		return slices.Max(all)
	}
}
