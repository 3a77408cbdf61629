package journal_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// world is a database and the logins that write to it.
type world struct {
	*testing.T
	serve, super *pgxpool.Pool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	url := pgtest.URL(t)
	return &world{T: t, serve: pgtest.Open(t, url, pg.Serve), super: pgtest.Open(t, url, "")}
}

func (w *world) exec(sql string) {
	w.Helper()
	if _, err := w.super.Exec(w.Context(), sql); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
}

// write writes a batch that has no records: only the numbers matter here.
func (w *world) write(n *journal.BatchNumber) {
	w.Helper()
	if _, err := w.serve.Exec(w.Context(), `INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES ('a', $1, $2, clock_timestamp(), 1, sha256('x'))`, n.Epoch, n.N); err != nil {
		w.Fatal(err)
	}
}

func (w *world) open(flushes int) *journal.EpochWriter {
	w.Helper()
	writer, err := journal.OpenEpoch(w.Context(), w.serve, "a", flushes)
	if err != nil {
		w.Fatal(err)
	}
	return writer
}

func (w *world) take(from *journal.EpochWriter) *journal.BatchNumber {
	w.Helper()
	n, err := from.Take(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *world) check(db pg.DB) archivefile.Result {
	w.Helper()
	r, err := journal.CheckGaps(w.Context(), db, time.Time{}, time.Time{}, 100)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// wantOK fails the test if anything is found.
func (w *world) wantOK(when string) {
	w.Helper()
	if r := w.check(w.super); !r.OK() {
		w.Errorf("%s: %d findings, the first: %+v", when, r.Found, r.Findings[0])
	}
}

// endDead ends the epochs as if all of them were two hours old.
func (w *world) endDead() {
	w.Helper()
	w.exec(`UPDATE journal_epoch_start SET started_at = started_at - interval '2 hours'`)
	if _, err := journal.EndDead(w.Context(), w.serve); err != nil {
		w.Fatal(err)
	}
}

// wantFound fails the test unless a check after a statement finds these words. The
// statement is rolled back.
func (w *world) wantFound(words, sql string, args ...any) {
	w.Helper()
	tx, err := w.super.Begin(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = tx.Rollback(w.Context()) }()
	if tag, err := tx.Exec(w.Context(), sql, args...); err != nil || tag.RowsAffected() == 0 {
		w.Fatalf("%s: %v, %v", sql, tag, err)
	}
	r := w.check(tx)
	if !slices.ContainsFunc(r.Findings, func(f archivefile.SliceFinding) bool { return strings.Contains(f.What, words) }) {
		w.Errorf("%s %v: %d findings %v, want %q", sql, args, r.Found, r.Findings, words)
	}
}

// node writes several batches at the same time.
type node struct {
	*journal.EpochWriter
	flushes  int
	inFlight []*journal.BatchNumber
}

// step lets a node do something at random, and returns the node that goes on: after
// a kill, whatever it was doing, another one.
func (w *world) step(r *rand.Rand, p *node) *node {
	w.Helper()
	what := r.IntN(20)
	switch {
	case what == 0: // it is killed: its batches in flight are written or not
		for _, n := range p.inFlight {
			if r.IntN(2) == 0 {
				w.write(n)
			}
		}
		return &node{EpochWriter: w.open(p.flushes), flushes: p.flushes}
	case what == 1 && len(p.inFlight) == 0:
		if err := p.Close(w.Context()); err != nil {
			w.Fatal(err)
		}
	case what < 10 && len(p.inFlight) < p.flushes:
		p.inFlight = append(p.inFlight, w.take(p.EpochWriter))
	case len(p.inFlight) > 0:
		i := r.IntN(len(p.inFlight))
		n := p.inFlight[i]
		p.inFlight = slices.Delete(p.inFlight, i, i+1)
		switch r.IntN(8) {
		case 0:
			n.NotWritten()
		case 1:
			n.Unknown()
		case 2:
			w.write(n)
			n.Unknown()
		default:
			w.write(n)
			n.Written()
		}
	}
	return p
}

// However processes write, fail and are killed, nothing is found, neither while they run
// nor when their epochs have ended. Then every batch that is deleted is found.
func TestKillsAreNoFindingAndEveryDeletionIsOne(t *testing.T) {
	t.Parallel()
	for round := range 12 {
		w := newWorld(t)
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		running := make([]*node, 1+r.IntN(3))
		for i := range running {
			flushes := 1 + r.IntN(4)
			running[i] = &node{EpochWriter: w.open(flushes), flushes: flushes}
		}
		for range 40 + r.IntN(120) {
			i := r.IntN(len(running))
			running[i] = w.step(r, running[i])
		}
		w.wantOK("while processes run")
		if r.IntN(2) == 0 { // the others are killed
			for _, n := range running[0].inFlight {
				n.NotWritten()
			}
			running[0].inFlight = nil
			if err := running[0].Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.endDead()
		w.wantOK("when all have ended")
		type key struct{ epoch, n int64 }
		var batches []key
		rows, err := w.super.Query(t.Context(), `SELECT epoch, n FROM journal_batch`)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var k key
			if err := rows.Scan(&k.epoch, &k.n); err != nil {
				t.Fatal(err)
			}
			batches = append(batches, k)
		}
		if err := rows.Err(); err != nil || len(batches) == 0 {
			t.Fatalf("%d batches, %v", len(batches), err)
		}
		for _, k := range batches {
			w.wantFound("missing", `DELETE FROM journal_batch WHERE epoch = $1 AND n = $2`, k.epoch, k.n)
		}
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
}

// A batch that was removed while its epoch was used is found, at once if later batches are
// more than a minute younger, and an end that is written after that does not hide it.
func TestBatchRemovedWhileItsEpochIsUsedIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.open(2)
	for range 5 {
		n := w.take(p)
		w.write(n)
		n.Written()
	}
	w.exec(`UPDATE journal_batch SET at = at - interval '2 minutes' WHERE n < 5`)
	w.wantOK("before")
	w.exec(`DELETE FROM journal_batch WHERE n = 3`)
	if r := w.check(w.super); r.Found != 1 || r.Findings[0].What != "batch 3 is missing" {
		t.Errorf("while the epoch is used: %+v", r)
	}
	w.endDead()
	if r := w.check(w.super); r.Found != 1 || r.Findings[0].What != "batch 3 is missing" {
		t.Errorf("after the process was killed: %+v", r)
	}
	w.exec(`DELETE FROM journal_batch WHERE n = 5`)
	if err := p.Close(t.Context()); err != nil { // it was only slow
		t.Fatal(err)
	}
	if r := w.check(w.super); r.Found != 2 || r.Findings[1].What != "batch 5 is missing" {
		t.Errorf("after the process ended: %+v", r)
	}
}

// What does not follow from how processes number their batches is found.
func TestForgedEpochsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.open(2)
	for range 3 {
		n := w.take(p)
		w.write(n)
		n.Written()
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantOK("before")
	const add = `INSERT INTO journal_batch (node, epoch, n, at, count, root) SELECT node, epoch, n, at, count, root FROM (SELECT 'a' AS node, epoch, n, at, count, root FROM journal_batch WHERE n = 3) b`
	for words, sql := range map[string]string{
		"no process started it":      strings.Replace(add, "SELECT node, epoch", "SELECT node, epoch + 1000", 1),
		"has batches of another":     strings.Replace(add, "SELECT node, epoch", "SELECT 'b', epoch", 1),
		"has one with the number 10": strings.Replace(add, "SELECT node, epoch, n,", "SELECT node, epoch, 10,", 1),
		"more numbers without":       `INSERT INTO journal_epoch_end (epoch, by_writer, last, unused, unknown) SELECT epoch, false, 9, '{4,5,6,7,8,9}', '{}' FROM journal_epoch_start`,
		"batches 4 to 9 are missing": `INSERT INTO journal_epoch_end (epoch, by_writer, last, unused, unknown) SELECT epoch, false, 9, '{}', '{}' FROM journal_epoch_start`,
		"batches 1 to 3 are missing": `DELETE FROM journal_batch`,
	} {
		w.wantFound(words, sql)
	}
}

// Ends of epochs cannot be changed by the service's login, nor the runs of archived days.
func TestServiceLoginCannotChangeEpochs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, sql := range []string{
		`UPDATE journal_epoch_start SET flushes = 64`, `DELETE FROM journal_epoch_start`, `UPDATE journal_epoch_end SET last = 0`, `DELETE FROM journal_epoch_end`,
		`INSERT INTO journal_archive_run (day, node, epoch, first, last, first_at, last_at) VALUES (now(), 'a', 1, 1, 1, now(), now())`, `DELETE FROM journal_archive_run`,
	} {
		if _, err := w.serve.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v, want permission denied", sql, err)
		}
	}
}
