package e2e_test

import (
	"os"
	"slices"
	"testing"
	"time"
)

const (
	// normalLoad is the share of its capacity at which the service is not loaded, in
	// tenths. Ten times that load is three times the capacity, too.
	normalLoad = 3
	// overload is how many times its capacity is offered.
	overload = 3
	// floodConns is how many requests may be under way at once.
	floodConns = 2048
	mebibyte   = 1 << 20
	// maxMemory is how much memory the server may use under any load.
	maxMemory = 512 * mebibyte
)

// At three times the capacity, and when all clients reconnect at once after an
// outage, every request is answered or refused with 503 and Retry-After, no
// acknowledged answer is lost, and the service recovers afterwards. The times are
// measured; they are enforced only if the environment says so, because that needs a
// quiet machine.
func TestOverload(t *testing.T) {
	if os.Getenv("LINEPROOF_E2E_SECONDS") == "" {
		t.Skip("make overload runs it: what it measures, other tests beside it would disturb")
	}
	long := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 5)) * time.Second
	// First, because cleanups run in reverse order.
	ofServer := newQuota(t, "server", size(t, "LINEPROOF_E2E_CPU", 120))
	// What limits the service is a slow disk, and few answers to a commit: the cores must
	// suffice for the generator, which shares them. With too little CPU instead, PostgreSQL's
	// own background work stopped it for half a second at a time, also without load.
	node, w := newFaultNode(t, "", "commit_delay=25000", "commit_siblings=0")
	f := newFaultRun(t, w, w.url, "LINEPROOF_VERIFY_BATCH=32", "LINEPROOF_VERIFY_QUEUE=512")
	f.mayPassUnnoticed = true
	ofServer.add(f.server.PID())

	capacity := f.capacity(max(1500*time.Millisecond, long/8))
	load := max(1, capacity*normalLoad/10)
	memories := f.remember()
	fl := newFlood(t, f.clients, floodConns)
	unloaded := fl.run("not loaded", load, max(2*time.Second, long/4))
	memories(t, "not loaded")
	over := fl.run("three times its capacity", overload*capacity, long)
	after := fl.run("after it", load, max(2*time.Second, long/8))
	during := memories(t, "with three times its capacity")

	// PostgreSQL is frozen for a quarter of the time.
	if err := node.Freeze(); err != nil {
		t.Fatal(err)
	}
	outage := fl.run("PostgreSQL is out", load, long/4)
	if err := node.Thaw(); err != nil {
		t.Fatal(err)
	}
	storm := fl.run("ten times the load, right after", 10*load, long/2)
	calmed := fl.run("after that", load, max(2*time.Second, long/8))
	during = max(during, memories(t, "with the outage and after it"))

	limit := 2 * unloaded.p99()
	for _, d := range []*loadPhase{unloaded, over, after, outage, storm, calmed} {
		t.Log(d)
		if n := len(d.times(markNoAnswer)) + len(d.times(markUnsent)); n > 0 {
			t.Errorf("%s: %d questions were neither answered nor put off", d.name, n)
		}
	}
	t.Logf("p99 of the answers after the first second, in which a burst may fill the queue: %.2f and %.2f times that without load", ratio(over.after(time.Second), unloaded), ratio(storm.after(time.Second), unloaded))
	t.Logf("capacity %d/s; p99 of the answers %.2f and %.2f times that without load; itself again after %s and %s (negative: not within the run)", capacity,
		ratio(over, unloaded), ratio(storm, unloaded), after.recovery(limit), calmed.recovery(limit))
	if os.Getenv("LINEPROOF_E2E_ENFORCE") != "" {
		enforce(t, limit, over, storm, after, calmed, outage)
		if during > maxMemory {
			t.Errorf("the server took %d MiB", during/mebibyte)
		}
	}
	f.end(2)
}

// enforce fails the test if the figures are not reached.
func enforce(t *testing.T, limit time.Duration, over, storm, after, calmed, outage *loadPhase) {
	t.Helper()
	const soon, again, away = 100 * time.Millisecond, 5 * time.Second, 1250 * time.Millisecond
	for _, d := range []*loadPhase{over, storm} {
		if got := d.p99(); got > limit {
			t.Errorf("%s: the p99 of the answers is %s, more than twice that without load", d.name, got)
		}
		if got := quantile(d.times(markUnavailable), 0.99); got > soon {
			t.Errorf("%s: being put off takes %s", d.name, got)
		}
		if d.dropped > 0 {
			t.Errorf("%s: %d questions could not be sent", d.name, d.dropped)
		}
	}
	for _, d := range []*loadPhase{after, calmed} {
		if got := d.recovery(limit); got < 0 || got > again {
			t.Errorf("%s: it was not itself again after %s", d.name, again)
		}
	}
	if got := quantile(outage.times(markUnavailable), 1); got > away {
		t.Errorf("%s: being put off takes up to %s", outage.name, got)
	}
}

func ratio(d, unloaded *loadPhase) float64 { return float64(d.p99()) / float64(unloaded.p99()) }

// capacity runs many clients, each as fast as it is answered, and returns the
// answers per second. The more clients, the more answers share a commit. Then it
// stops the clients.
func (f *faultRun) capacity(long time.Duration) int {
	f.t.Helper()
	f.begin(f.t, 512)
	f.load() // it is warm now
	begin, answered := time.Now(), f.answered.Load()
	<-time.After(long)
	n := float64(f.answered.Load()-answered) / time.Since(begin).Seconds()
	f.clients.end()
	f.stop = make(chan struct{}) // for the flood, and the end of the run
	return int(n)
}

// remember samples the memory of the server while it runs. The function that it
// returns reports the maximum since its last call.
func (f *faultRun) remember() func(t *testing.T, when string) int64 {
	f.t.Helper()
	pid := f.server.PID()
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
			case <-f.server.Ended():
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
