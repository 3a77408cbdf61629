package filejob_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// runFor runs jobs until a function returns true, and reports whether it did so in time.
func (e *env) runFor(d time.Duration, until func() bool) bool {
	e.t.Helper()
	ctx, stop := context.WithTimeout(e.t.Context(), d)
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx, slog.New(slog.NewTextHandler(e.t.Output(), nil)))
	}()
	defer func() { stop(); <-ended }()
	for ctx.Err() == nil {
		if until() {
			return true
		}
		<-time.After(20 * time.Millisecond)
	}
	return false
}

// While no standby confirms commits, the records of the last rows can be lost with the
// server although they can be read. So there is no result until a later commit is confirmed.
func TestNoResultBeforeItsRecordsAreConfirmed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	node, err := pgtest.StartNode(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	e := newEnvAt(t, node.Database(), 10)
	id := e.send(fileOf(5))
	e.finish(id)
	e.exec(`UPDATE file_job SET state = 'writing', result = NULL, finished_at = NULL, kept_until = NULL WHERE id = $1`, id)
	if err := node.WaitFor(t.Context(), "nobody"); err != nil {
		t.Fatal(err)
	}
	if e.runFor(12*time.Second, func() bool { return e.job(id).State == filejob.Done }) {
		t.Error("the job is done although no commit was confirmed")
	}
	if err := node.WaitFor(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if j := e.finish(id); j.State != filejob.Done || len(e.result(id)) != 5 {
		t.Errorf("with commits that are confirmed: %+v", j)
	}
}

// Jobs whose files other nodes have do not hold up those that this node can run, however
// many they are.
func TestJobsOfOtherNodesHoldUpNobody(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	for range 4*filejob.MaxWorkers + 3 { // an organisation can have 20
		e.send(fileOf(1))
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(e.Files.List(t.Context(), func(item blob.Item) error { return e.Files.Delete(t.Context(), item.Key) }))
	own := e.send(fileOf(2))
	if !e.runFor(15*time.Second, func() bool { return e.job(own).State == filejob.Done }) {
		t.Errorf("the job of this node is %s", e.job(own).State)
	}
}

// The end of a job is counted once, also if another process ended it after this one had listed it.
func TestEndOfAJobIsCountedOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	ends := 0
	e.Observe.Ended = func(filejob.State) { ends++ }
	id := e.send(fileOf(1))
	for range 2 {
		e.RunListed(t.Context(), slog.New(slog.DiscardHandler), id)
	}
	if j := e.job(id); j.State != filejob.Done || ends != 1 {
		t.Errorf("the job is %s, and %d ends were counted", j.State, ends)
	}
}

// Empty lines are no rows: they make no chunks, and a file of little else is refused.
func TestEmptyLinesCostNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	e.SetChunk(10)
	e.MaxRows = 1_000
	id := e.send("number,externalId\n" + strings.Repeat("\n", 900) + "08030000001,a\n" + strings.Repeat("\n", 900))
	j := e.finish(id)
	var chunks int
	if err := e.super.QueryRow(t.Context(), `SELECT count(*) FROM file_job_chunk WHERE job = $1`, id).Scan(&chunks); err != nil {
		t.Fatal(err)
	}
	if lines := e.result(id); j.Answered != 1 || len(lines) != 1 || lines[0]["line"] != "902" || chunks != 1 {
		t.Errorf("%+v: %v in %d chunks", j, lines, chunks)
	}
	if j := e.finish(e.send("number\n08030000001\n" + strings.Repeat("\n", 3_000))); j.State != filejob.Failed || !strings.Contains(j.Reason, "lines") {
		t.Errorf("mostly empty: %+v", j)
	}
}

// A job waits while its organisation is stopped, and goes on when it is released.
func TestJobWaitsWhileItsOrganisationIsStopped(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	id := e.send(fileOf(3))
	sync := func(sql string, args ...any) {
		t.Helper()
		e.exec(sql, args...)
		if err := e.Guard.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sync(`INSERT INTO guard_alert (id, entity_id, kind, level, since, node, numbers, misses, dense, block, budget) VALUES (gen_random_uuid(), $1, 'density', 'stopped', now(), 'n', 1, 1, 1, 1, 1)`, e.bank.Entity)
	if e.runFor(2*time.Second, func() bool { return e.job(id).State != filejob.Checking }) {
		t.Errorf("the job of a stopped organisation is %s", e.job(id).State)
	}
	if j := e.job(id); !strings.Contains(j.Reason, "waits") {
		t.Errorf("it does not say why it waits: %+v", j)
	}
	sync(`UPDATE guard_alert SET released_at = now(), reason = 'a test'`)
	if j := e.finish(id); j.State != filejob.Done || j.Answered != 3 || j.Reason != "" {
		t.Errorf("after the release: %+v", j)
	}
}
