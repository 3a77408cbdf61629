package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// These configurations are known to lose acknowledged answers. If the test harness
// found nothing wrong with them, its other results would prove nothing.

// runFaultyServer runs clients against a faulty server, injects a fault below it, and
// returns the findings of the checker. The ledger continues from run to run, as the
// journal does.
func runFaultyServer(t *testing.T, w *fixture, tp *compactLedger, m ackMode, hurt func(*clients)) result {
	t.Helper()
	c := newClients(w, newFaultyServer(t, w, m), tp)
	c.retry = true
	c.begin(t, 16)
	process.Until(t, "the sham answers", func() bool { return c.answered.Load() > 100 })
	hurt(c)
	c.end()
	for _, s := range c.unexpected {
		t.Errorf("an answer that no caller should get: %s", s)
	}
	w.pool.Reset()
	// The last commits may not be visible for a moment.
	process.Until(t, "the transactions of the sham have ended", func() bool {
		var busy int
		err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND xact_start IS NOT NULL`, faultyServerName).Scan(&busy)
		return err == nil && busy == 0
	})
	r, findings := examine(t, w, tp, false)
	t.Logf("manner %d: %s", m, r)
	if r.Doubled+r.Phantoms+r.Altered > 0 {
		t.Errorf("the sham does more wrong than it is meant to: %v", findings[:min(len(findings), 5)])
	}
	return r
}

// maxTries is how often a known-bad configuration may lose nothing by chance.
const maxTries = 10

// A server that answers before it commits loses answers when PostgreSQL is
// killed, and the checker says so. One that answers after it loses none.
func TestAnswerBeforeCommitIsReportedAsLoss(t *testing.T) {
	node, w := newFaultNode(t, "")
	tp := newTape(t)
	kill := func(*clients) {
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := node.Start(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if r := runFaultyServer(t, w, tp, ackAfterCommit, kill); r.Lost > 0 {
		t.Errorf("the honest server lost %d", r.Lost)
	}
	for range maxTries {
		if r := runFaultyServer(t, w, tp, ackBeforeCommit, kill); r.Lost > 0 {
			return
		}
	}
	t.Errorf("a server that answers before it commits was killed %d times, and the checker found no loss", maxTries)
}

// A server that answers a retry because it finds the record, though nobody knows
// that the standby has it, loses the answer with the primary, and the checker
// says so. One that commits once more before it answers loses none.
func TestRetryAnsweredFromAReadIsReportedAsLoss(t *testing.T) {
	p, w := newPair(t)
	tp := newTape(t)
	lose := func(c *clients) {
		p.freeze()
		off := c.putOff.Load()
		process.Until(t, "callers were put off and have asked again", func() bool { return c.putOff.Load() > off+40 })
		<-time.After(faultyServerTimeout)
		p.loseBoth()
	}
	port := p.primary.Port()
	if r := runFaultyServer(t, w, tp, ackAfterCommit, lose); r.Lost > 0 {
		t.Errorf("the honest server lost %d", r.Lost)
	}
	for range maxTries {
		p.copy(port)
		port = p.primary.Port()
		if r := runFaultyServer(t, w, tp, ackIfFound, lose); r.Lost > 0 {
			return
		}
	}
	t.Errorf("a server that acknowledges from a read lost its primary %d times, and the checker found no loss", maxTries)
}

// With synchronous_commit=off, which the server does not allow and a trigger
// here sets behind its back, a power cut loses answers, and the checker says so.
// TestFaultPowerCut is the same without the trigger.
func TestCommitWithoutFlushIsReportedAsLoss(t *testing.T) {
	disk := newDisk(t, 1024)
	node, w := onDisk(t, disk, "wal_writer_delay = 10s", "wal_writer_flush_after = 1GB")
	f := newFaultRun(t, w, w.url)
	f.load()
	for _, statement := range []string{
		`CREATE FUNCTION hasten() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN PERFORM set_config('synchronous_commit', 'off', true); RETURN NEW; END $$`,
		`CREATE TRIGGER hasten BEFORE INSERT ON journal_batch FOR EACH ROW EXECUTE FUNCTION hasten()`,
	} {
		if _, err := w.pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for range maxTries {
		f.load()
		powerCut(t, disk, node)
		if f.countMissing() > 0 {
			break
		}
	}
	f.clients.end()
	f.server.Kill()
	r, findings := examine(t, w, f.tape, false)
	t.Logf("synchronous_commit=off and a power cut: %s", r)
	if r.Lost == 0 || r.Doubled+r.Phantoms+r.Altered > 0 {
		t.Errorf("answers must have been lost, and nothing else: %v", findings[:min(len(findings), 5)])
	}
}
