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

	"github.com/lineproof/lineproof/internal/testing/process"
)

// faultRun is a service under load in which faults are injected.
type faultRun struct {
	*clients

	t                *testing.T
	w                *fixture
	server           *instance
	settings         []string
	port             int
	logs             string
	starts           int
	callers          int
	began            time.Time
	noTrace          bool // a request without a response must have left no record
	mayPassUnnoticed bool // clients may not have noticed the faults
}

// The application_name of the servers, to distinguish their connections from those
// of the test.
const trialName = "lineproof-trial"

// newFaultRun starts a server on the fixture, which connects to the database at
// url, and starts the clients.
func newFaultRun(t *testing.T, w *fixture, url string, settings ...string) *faultRun {
	t.Helper()
	f := &faultRun{t: t, w: w, began: time.Now(), logs: t.TempDir(), port: must(process.FreePort(t.Context()))(t)}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port))
	f.settings = []string{
		"LINEPROOF_LISTEN=" + address, "LINEPROOF_DATABASE_URL=" + url + "&application_name=" + trialName,
		"LINEPROOF_LOG_LEVEL=warn", "LINEPROOF_VERIFY_TIMEOUT=1s",
	}
	f.settings = append(f.settings, settings...)
	f.clients = newClients(w, address, newTape(t))
	f.serve()
	f.callers = size(t, "LINEPROOF_E2E_CALLERS", 32)
	f.begin(t, f.callers)
	return f
}

// serve starts the server, on the same port every time, and returns when it
// listens. Its log goes to a file only: reading it would slow the clients
// down.
func (f *faultRun) serve() {
	f.t.Helper()
	f.starts++
	log := must(os.Create(filepath.Join(f.logs, fmt.Sprintf("%d.log", f.starts))))(f.t)
	p := launch(f.t, log, append(f.w.settings(), f.settings...), "serve")
	p.public = f.address
	f.server = p
	f.until("the server listens", func() bool {
		select {
		case <-p.Ended():
			f.t.Fatalf("the server ended with %d before it listened:\n%s", p.ExitCode(), p.output(f.t))
		default:
		}
		return reachable(f.address)
	})
}

// until waits until a condition is true, which must be soon.
func (f *faultRun) until(what string, so func() bool) {
	f.t.Helper()
	process.Until(f.t, what, so)
}

// load returns at a random moment after the clients have had some answers.
func (f *faultRun) load() {
	f.t.Helper()
	want := f.answered.Load() + int64(size(f.t, "LINEPROOF_E2E_ANSWERS", 150))
	f.until("the crowd has its answers", func() bool {
		select {
		case <-f.server.Ended():
			f.t.Fatalf("the server ended by itself with %d:\n%s", f.server.ExitCode(), f.server.output(f.t))
		default:
		}
		return f.answered.Load() >= want
	})
	<-time.After(rand.N(50 * time.Millisecond))
}

// countMissing returns how many of the answers since the last call have no record.
func (f *faultRun) countMissing() int {
	f.t.Helper()
	ids := f.since()
	var found int
	f.w.pool.Reset() // its connections may be broken too
	if err := f.w.pool.QueryRow(f.t.Context(), `SELECT count(*) FROM journal_entry WHERE request_id = ANY($1::uuid[])`, ids).Scan(&found); err != nil {
		f.t.Fatal(err)
	}
	return len(ids) - found
}

// checkRecords fails the test if answers have no record. It is the cheap part of the
// check and runs after every fault, so that the responsible fault is known.
func (f *faultRun) checkRecords(fault int) {
	f.t.Helper()
	if n := f.countMissing(); n != 0 {
		f.t.Errorf("fault %d: %d questions that were answered since the last one are not in the journal", fault+1, n)
	}
}

// result is the result of a run, as in the file of results.
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

// end stops the clients and the server, runs the checker, and fails the test for
// every finding.
func (f *faultRun) end(faults int) {
	f.t.Helper()
	f.clients.end()
	f.server.terminate(f.t)
	f.server.wait(f.t)
	if code := f.server.ExitCode(); code != 0 {
		f.t.Errorf("the server ended with %d:\n%s", code, f.server.output(f.t))
	}
	f.server.lines(f.t) // it may log errors, but not panic
	for _, s := range f.unexpected {
		f.t.Errorf("an answer that no caller should get: %s", s)
	}
	f.w.pool.Reset()
	f.until("the database has nothing of the server's in hand", func() bool {
		var busy int
		err := f.w.pool.QueryRow(f.t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`, trialName).Scan(&busy)
		return err == nil && busy == 0
	})
	r, findings := examine(f.t, f.w, f.tape, f.noTrace)
	r.Faults, r.Seconds = faults, time.Since(f.began).Seconds()
	for _, finding := range findings[:min(len(findings), 20)] {
		f.t.Error(finding)
	}
	if r.Answered == 0 || r.Unknown+r.Unsent == 0 && !f.mayPassUnnoticed {
		f.t.Errorf("the faults met no load, or nobody noticed them, so they prove nothing")
	}
	f.t.Logf("%d faults in %.0f s: %s; the longest wait for a 503 was %s", faults, r.Seconds, r, time.Duration(f.slowest.Load()).Round(time.Millisecond))
	r.keep(f.t)
}

// examine compares a ledger with the database.
func examine(t *testing.T, w *fixture, tp *compactLedger, orderly bool) (r result, findings []string) {
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
	c := &checker{world: w, asked: asked, noAnswerNoTrace: orderly}
	findings = must(c.check(t.Context(), w.pool))(t)
	r.Lost, r.Doubled, r.Phantoms, r.Altered = c.counts[missing], c.counts[duplicate], c.counts[phantom], c.counts[altered]
	t.Logf("checked %d questions in %s", len(asked.list), time.Since(begin).Round(time.Millisecond))
	return r, findings
}

// String implements fmt.Stringer.
func (r result) String() string {
	return fmt.Sprintf("%d answered, %d refused, %d unknown (%d times 503), %d unsent; the checker found %d lost, %d doubled, %d phantoms, %d altered",
		r.Answered, r.Refused, r.Unknown, r.PutOff, r.Unsent, r.Lost, r.Doubled, r.Phantoms, r.Altered)
}

// keep adds the result to the file of results, if one is configured.
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

// All fault tests together have no lost, no duplicate and no phantom record in as
// many acknowledged answers as the environment requires. It reads the results of
// those tests.
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
