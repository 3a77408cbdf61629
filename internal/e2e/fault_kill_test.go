package e2e_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/pgtest"
)

// faults is how often a trial hurts the service. The full counts are those of
// make faults.
func faults(t *testing.T, otherwise int) int {
	t.Helper()
	return size(t, "LINEPROOF_E2E_FAULTS", otherwise)
}

// newHurt returns a world on a PostgreSQL that can be hurt. Its data lies in
// dir, if that is not empty.
func newHurt(t *testing.T, dir string, settings ...string) (*pgtest.Node, *world) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	node := must(pgtest.StartNode(context.Background(), dir, settings...))(t)
	t.Cleanup(node.Stop)
	return node, newWorld(t, node.Database())
}

// A server that is killed under load has not answered anything that is not in
// the journal.
func TestFaultServerKilled(t *testing.T) {
	_, w := newHurt(t, "")
	f := newTrial(t, w, w.url)
	n := faults(t, 3)
	for i := range n {
		f.load()
		f.server.kill()
		f.serve()
		f.whole(i)
	}
	f.load()
	f.end(n)
}

// A server that is asked to stop under load answers what it has begun, and a
// question that has no answer has left nothing.
func TestFaultTerminated(t *testing.T) {
	_, w := newHurt(t, "")
	f := newTrial(t, w, w.url)
	f.orderly = true
	n := faults(t, 3)
	for i := range n {
		f.load()
		begin := time.Now()
		f.server.terminate(t)
		f.server.wait(t)
		if code, took := f.server.exitCode(), time.Since(begin); code != 0 || took > 20*time.Second {
			t.Errorf("stop %d: exit code %d after %s", i+1, code, took)
		}
		f.serve()
		f.whole(i)
	}
	f.load()
	f.end(n)
}

// A PostgreSQL that is killed under load, all of it, and started again has
// everything that was answered; and the server, which was not touched, finds
// its way back.
func TestFaultPostgresKilled(t *testing.T) {
	node, w := newHurt(t, "")
	f := newTrial(t, w, w.url)
	n := faults(t, 3)
	var longest time.Duration
	for i := range n {
		f.load()
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		<-time.After(rand.N(200 * time.Millisecond)) // nobody is there
		first := f.next()
		if err := node.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, f.back(time.Now(), first))
		f.whole(i)
	}
	t.Logf("after a start of PostgreSQL the first answer came within %s", longest.Round(time.Millisecond))
	f.end(n)
}

// back waits for the first answer and returns how long that took after the
// database was there.
func (f *trial) back(there time.Time, first <-chan time.Time) time.Duration {
	f.t.Helper()
	select {
	case at := <-first:
		return max(0, at.Sub(there))
	case <-f.server.ended:
		f.t.Fatalf("the server ended by itself with %d:\n%s", f.server.exitCode(), f.server.output(f.t))
	case <-time.After(time.Minute):
		f.t.Fatalf("a minute after the database came back nothing is answered:\n%s", f.server.output(f.t))
	}
	return 0
}
