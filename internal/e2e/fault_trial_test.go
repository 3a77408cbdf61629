package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/pgtest"
)

// trial is a service under load that is about to be hurt.
type trial struct {
	*crowd

	t        *testing.T
	w        *world
	server   *process
	settings []string
	port     int
	logs     string
	starts   int
	callers  int
	began    time.Time
	orderly  bool // a question without an answer must have left nothing
	gentle   bool // the faults may have gone by unnoticed
}

// The name under which the servers of trials connect, to tell them from whoever
// watches.
const trialName = "lineproof-trial"

// newTrial starts a server on the world, which reaches the database at url, and
// lets a crowd ask.
func newTrial(t *testing.T, w *world, url string) *trial {
	t.Helper()
	f := &trial{t: t, w: w, began: time.Now(), logs: t.TempDir(), port: must(pgtest.SteadyPort(t.Context()))(t)}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port))
	f.settings = []string{
		"LINEPROOF_LISTEN=" + address, "LINEPROOF_DATABASE_URL=" + url + "&application_name=" + trialName,
		"LINEPROOF_LOG_LEVEL=warn", "LINEPROOF_VERIFY_TIMEOUT=1s",
	}
	f.crowd = newCrowd(w, address, newTape(t))
	f.serve()
	f.callers = size(t, "LINEPROOF_E2E_CALLERS", 32)
	f.begin(t, f.callers)
	return f
}

// serve starts the server, on the same port every time, and returns when it
// listens. Its log goes to a file and to nobody: reading it would cost the
// crowd its time.
func (f *trial) serve() {
	f.t.Helper()
	f.starts++
	log := must(os.Create(filepath.Join(f.logs, fmt.Sprintf("%d.log", f.starts))))(f.t)
	p := launch(f.t, log, log, append(f.w.settings(), f.settings...), "serve")
	p.public = f.address
	f.server = p
	f.until("the server listens", func() bool {
		select {
		case <-p.ended:
			f.t.Fatalf("the server ended with %d before it listened:\n%s", p.exitCode(), p.output(f.t))
		default:
		}
		return reachable(f.address)
	})
}

// until waits for something that must come true soon.
func (f *trial) until(what string, so func() bool) {
	f.t.Helper()
	until(f.t, what, so)
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	const limit = 90 * time.Second
	for deadline := time.Now().Add(limit); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("within %s it has not come true that %s", limit, what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// load lets the crowd have its answers, and returns at some moment after.
func (f *trial) load() {
	f.t.Helper()
	want := f.answered.Load() + int64(size(f.t, "LINEPROOF_E2E_ANSWERS", 150))
	f.until("the crowd has its answers", func() bool {
		select {
		case <-f.server.ended:
			f.t.Fatalf("the server ended by itself with %d:\n%s", f.server.exitCode(), f.server.output(f.t))
		default:
		}
		return f.answered.Load() >= want
	})
	<-time.After(rand.N(50 * time.Millisecond))
}

// absent returns how many of the answers since the last look have no record.
func (f *trial) absent() int {
	f.t.Helper()
	ids := f.since()
	var found int
	f.w.pool.Reset() // its connections may have been hurt, too
	if err := f.w.pool.QueryRow(f.t.Context(), `SELECT count(*) FROM journal_entry WHERE request_id = ANY($1::uuid[])`, ids).Scan(&found); err != nil {
		f.t.Fatal(err)
	}
	return len(ids) - found
}

// whole fails the test if answers are absent. It is the cheap part of the
// check, made after every fault so that the one to blame is known.
func (f *trial) whole(fault int) {
	f.t.Helper()
	if n := f.absent(); n != 0 {
		f.t.Errorf("fault %d: %d questions that were answered since the last one are not in the journal", fault+1, n)
	}
}

// result is what became of a trial, as it stands in the file of results.
type result struct {
	Test     string  `json:"test"`
	Faults   int     `json:"faults"`
	Answered int     `json:"answered"`
	Refused  int     `json:"refused"`
	Unknown  int     `json:"unknown"`
	PutOff   int     `json:"putOff"` // with 503; most of the unknown
	Unsent   int     `json:"unsent"`
	Lost     int     `json:"lost"`
	Doubled  int     `json:"doubled"`
	Phantoms int     `json:"phantoms"`
	Altered  int     `json:"altered"`
	Seconds  float64 `json:"seconds"`
}

// end lets the crowd go home and the server stop, has the checker look, and
// fails the test for what it finds.
func (f *trial) end(faults int) {
	f.t.Helper()
	f.crowd.end()
	f.server.terminate(f.t)
	f.server.wait(f.t)
	if code := f.server.exitCode(); code != 0 {
		f.t.Errorf("the server ended with %d:\n%s", code, f.server.output(f.t))
	}
	f.server.lines(f.t) // it may complain, but not panic
	for _, s := range f.strange {
		f.t.Errorf("an answer that no caller should get: %s", s)
	}
	f.w.pool.Reset()
	f.until("the database has nothing of the server's in hand", func() bool {
		var busy int
		err := f.w.pool.QueryRow(f.t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`, trialName).Scan(&busy)
		return err == nil && busy == 0
	})
	r, findings := examine(f.t, f.w, f.tape, f.orderly)
	r.Faults, r.Seconds = faults, time.Since(f.began).Seconds()
	for _, finding := range findings[:min(len(findings), 20)] {
		f.t.Error(finding)
	}
	if r.Answered == 0 || r.Unknown+r.Unsent == 0 && !f.gentle {
		f.t.Errorf("the faults met no load, or nobody noticed them, so they prove nothing")
	}
	f.t.Logf("%d faults in %.0f s: %s; the longest wait for a 503 was %s", faults, r.Seconds, r, time.Duration(f.slowest.Load()).Round(time.Millisecond))
	r.keep(f.t)
}

// examine compares a tape with the database.
func examine(t *testing.T, w *world, tp *tape, orderly bool) (r result, findings []string) {
	t.Helper()
	r.Test = t.Name()
	asked, later := tp.read(t)
	r.PutOff = later
	for i := range asked.list {
		switch asked.list[i].outcome {
		case okay:
			r.Answered++
		case refused:
			r.Refused++
		case unknown:
			r.Unknown++
		case unsent:
			r.Unsent++
		}
	}
	begin := time.Now()
	c := &checker{world: w, asked: asked, silentLeavesNothing: orderly}
	findings = must(c.check(t.Context(), w.pool))(t)
	r.Lost, r.Doubled, r.Phantoms, r.Altered = c.counts[missing], c.counts[doubled], c.counts[phantom], c.counts[altered]
	t.Logf("checked %d questions in %s", len(asked.list), time.Since(begin).Round(time.Millisecond))
	return r, findings
}

// String implements fmt.Stringer.
func (r result) String() string {
	return fmt.Sprintf("%d answered, %d refused, %d unknown (%d times 503), %d unsent; the checker found %d lost, %d doubled, %d phantoms, %d altered",
		r.Answered, r.Refused, r.Unknown, r.PutOff, r.Unsent, r.Lost, r.Doubled, r.Phantoms, r.Altered)
}

// keep adds the result to the file of results, if there is to be one.
func (r result) keep(t *testing.T) {
	t.Helper()
	name := os.Getenv("LINEPROOF_E2E_RESULTS")
	if name == "" {
		return
	}
	f := must(os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
	defer f.Close()
	if _, err := f.Write(append(encode(r), '\n')); err != nil {
		t.Fatal(err)
	}
}

// All faults together leave nothing lost, nothing doubled and no phantom in as
// many acknowledged answers as the environment says. It reads what the trials
// have left.
func TestFaultsInTotal(t *testing.T) {
	if os.Getenv("LINEPROOF_E2E_TOTAL") == "" {
		t.Skip("there is no LINEPROOF_E2E_TOTAL to be reached; make faults sets it")
	}
	want := size(t, "LINEPROOF_E2E_TOTAL", 1)
	f := must(os.Open(os.Getenv("LINEPROOF_E2E_RESULTS")))(t)
	defer f.Close()
	sum := result{Test: "in total"}
	in := bufio.NewScanner(f)
	for in.Scan() {
		var r result
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatalf("the results are damaged: %v", err)
		}
		t.Logf("%-28s %4d faults: %s", r.Test, r.Faults, r)
		sum.Faults, sum.Answered, sum.Refused, sum.Unknown = sum.Faults+r.Faults, sum.Answered+r.Answered, sum.Refused+r.Refused, sum.Unknown+r.Unknown
		sum.PutOff, sum.Unsent, sum.Lost, sum.Doubled = sum.PutOff+r.PutOff, sum.Unsent+r.Unsent, sum.Lost+r.Lost, sum.Doubled+r.Doubled
		sum.Phantoms, sum.Altered = sum.Phantoms+r.Phantoms, sum.Altered+r.Altered
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%-28s %4d faults: %s", sum.Test, sum.Faults, sum)
	if sum.Answered < want || sum.Lost+sum.Doubled+sum.Phantoms+sum.Altered > 0 {
		t.Errorf("%d answers were wanted, and none lost, doubled, altered or invented", want)
	}
}
