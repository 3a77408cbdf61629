package e2e_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// faults is the number of faults per run. make faults has the full numbers.
func faults(t *testing.T, otherwise int) int {
	t.Helper()
	return size(t, "LINEPROOF_E2E_FAULTS", otherwise)
}

// newFaultNode returns a fixture on a PostgreSQL for fault injection. Its data is in dir,
// if that is not empty.
func newFaultNode(t *testing.T, dir string, settings ...string) (*pgtest.Node, *fixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	node := must(pgtest.StartNode(context.Background(), dir, settings...))(t)
	t.Cleanup(node.Stop)
	return node, newFixture(t, node.Database())
}

// A server that is killed under load has not answered anything that is not in
// the journal.
func TestFaultServerKilled(t *testing.T) {
	_, w := newFaultNode(t, "")
	f := newFaultRun(t, w, w.url)
	n := faults(t, 3)
	for i := range n {
		f.load()
		f.server.Kill()
		f.serve()
		f.checkRecords(i)
	}
	f.load()
	f.end(n)
}

// A server that is told to stop under load answers the requests that it has
// started, and a request without a response has left no record.
func TestFaultTerminated(t *testing.T) {
	_, w := newFaultNode(t, "")
	f := newFaultRun(t, w, w.url)
	f.noTrace = true
	n := faults(t, 3)
	for i := range n {
		f.load()
		begin := time.Now()
		f.server.terminate(t)
		f.server.wait(t)
		if code, took := f.server.ExitCode(), time.Since(begin); code != 0 || took > 20*time.Second {
			t.Errorf("stop %d: exit code %d after %s", i+1, code, took)
		}
		f.serve()
		f.checkRecords(i)
	}
	f.load()
	f.end(n)
}

// A PostgreSQL that is killed under load, with all its processes, and restarted has
// every acknowledged answer; and the server, which keeps running, recovers.
func TestFaultPostgresKilled(t *testing.T) {
	node, w := newFaultNode(t, "")
	f := newFaultRun(t, w, w.url)
	n := faults(t, 10) // a kill that meets only commits goes unnoticed: they are settled when PostgreSQL is back
	var longest time.Duration
	for i := range n {
		f.load()
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		<-time.After(rand.N(200 * time.Millisecond)) // no server is running
		first := f.next()
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, f.back(time.Now(), first))
		f.checkRecords(i)
	}
	t.Logf("after a start of PostgreSQL the first answer came within %s", longest.Round(time.Millisecond))
	f.end(n)
}

// back waits for the first answer and returns how long that took after the database
// was available.
func (f *faultRun) back(there time.Time, first <-chan time.Time) time.Duration {
	f.t.Helper()
	select {
	case at := <-first:
		return max(0, at.Sub(there))
	case <-f.server.Ended():
		f.t.Fatalf("the server ended by itself with %d:\n%s", f.server.ExitCode(), f.server.output(f.t))
	case <-time.After(time.Minute):
		f.t.Fatalf("a minute after the database came back nothing is answered:\n%s", f.server.output(f.t))
	}
	return 0
}
