package e2e_test

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
)

const killWorkers = 16

// Every request that was answered before the server was killed is in the database,
// once and complete; every other is there completely or not at all; and an
// onboarding that is repeated under its key is the same onboarding.
func TestKill(t *testing.T) {
	url, _ := durable(t)
	w, book := newFixture(t, url), newLedger(t)
	kills := size(t, "LINEPROOF_E2E_KILLS", 3)
	p := start(t, w)
	for i := range kills {
		stop := make(chan struct{})
		wait := rush(t, w, p.public, book, killWorkers, stop)
		moment := 100*time.Millisecond + rand.N(1400*time.Millisecond)
		select {
		case <-time.After(moment):
		case <-p.Ended():
			t.Fatalf("the server ended by itself with %d:\n%s", p.ExitCode(), p.output(t))
		}
		p.Kill()
		close(stop)
		wait()
		for _, l := range p.lines(t) {
			if l.Level == "ERROR" {
				t.Errorf("kill %d: the server logged an error: %+v", i+1, l)
			}
		}
		p = start(t, w)
		again := resend(t, w, p.public, book)
		lost(t, w, book)
		t.Logf("kill %d of %d after %s under load; %d onboardings sent again", i+1, kills, moment.Round(time.Millisecond), again)
		if t.Failed() {
			break
		}
	}
	p.terminate(t)
	p.wait(t)

	whole := book.read(t)
	n := tally(whole)
	t.Logf("%d kills: %v", kills, n)
	if n["verify unknown"] == 0 || n["verify ok"] == 0 || n["onboard ok"] == 0 {
		t.Errorf("the kills met no load, so they prove nothing: %v", n)
	}
	report(t, &checker{world: w, book: whole})
	noGaps(t, w)
}

// noGaps fails the test if numbers of batches are missing that no kill explains, before and
// after the ends of all epochs are recorded.
func noGaps(t *testing.T, w *fixture) {
	t.Helper()
	for _, when := range []string{"at first", "when all epochs have ended"} {
		if r := must(journal.CheckGaps(t.Context(), w.pool, time.Time{}, time.Time{}, 5))(t); !r.OK() {
			t.Errorf("%s: %d findings: %v", when, r.Found, r.Findings)
		}
		w.exec(t, `UPDATE journal_epoch_start SET started_at = started_at - interval '2 hours'`)
		must(journal.EndDead(t.Context(), w.pool))(t)
	}
}

// resend repeats every onboarding whose outcome is unknown, under the same key. Now
// it must succeed: nothing else has its address.
func resend(t *testing.T, w *fixture, address string, book *ledger) int {
	t.Helper()
	c := newCaller(t, w, address, book)
	defer c.close()
	n := 0
	for _, e := range book.read(t) {
		if e.sent.Applied == nil || e.outcome() != unknown {
			continue
		}
		n++
		var end mark
		// The transaction of the killed server may exist for a moment longer, until
		// PostgreSQL notices; until then the key is in use.
		for deadline := time.Now().Add(10 * time.Second); ; {
			end = c.apply(e.sent)
			if end.Status != http.StatusConflict || end.Problem != "ABORTED" || time.Now().After(deadline) {
				break
			}
			<-time.After(20 * time.Millisecond)
		}
		if end.Outcome != okay {
			t.Errorf("application %s, sent again after a kill, ended as %s (%d %s)", end.ID, end.Outcome, end.Status, end.Problem)
		}
	}
	return n
}

// lost fails the test if an answered request has no record. It is the cheap
// part of the check and runs after every kill, so that the responsible one is
// known.
func lost(t *testing.T, w *fixture, book *ledger) {
	t.Helper()
	var ids []string
	for _, e := range book.read(t) {
		if e.sent.Asked != nil && e.outcome() == okay {
			ids = append(ids, e.answered().Told.RequestID)
		}
	}
	var found int
	if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_entry WHERE request_id = ANY($1::uuid[])`, ids).Scan(&found); err != nil {
		t.Fatal(err)
	}
	if found != len(ids) {
		t.Errorf("%d questions were answered and %d of them are in the journal", len(ids), found)
	}
}

// report fails the test with the findings of the checker.
func report(t *testing.T, c *checker) {
	t.Helper()
	begin := time.Now()
	findings := must(c.check(t.Context(), c.world.pool))(t)
	t.Logf("checked %d requests in %s: %d findings", len(c.book), time.Since(begin).Round(time.Millisecond), len(findings))
	for _, f := range findings[:min(len(findings), 20)] {
		t.Error(f)
	}
}
