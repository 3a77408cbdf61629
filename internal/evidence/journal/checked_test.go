package journal_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A check of new days skips the days that were found whole, says so, and checks what has
// changed since: late batches, erasures and days with findings.
func TestCheckOfNewDaysSkipsWhatItKnows(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	days := []time.Time{p.day(t, 44), p.day(t, 43), p.day(t, 42), p.day(t, 41)}
	records := p.fill(t, days[0], 3, 2)
	for _, day := range days[1:] {
		p.fill(t, day, 3, 2)
	}
	p.fill(t, time.Now().UTC().Truncate(24*time.Hour), 1, 1)
	p.exec(t, `UPDATE journal_entry SET status = 'x' WHERE at >= $1 AND at < $1 + interval '1 day' AND idx = 1`, days[3])
	check := func(onlyNew bool) journal.Report {
		t.Helper()
		r, err := (&journal.Checker{Pool: p.serve, Limit: 10, Remember: p.serve, OnlyNew: onlyNew}).Check(t.Context(), days[0], time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := check(false)
	if all.Found != 3 || len(all.Skipped) != 0 {
		t.Fatalf("%+v", all)
	}
	// The day with findings and those that have not ended are checked again.
	again := check(true)
	if again.Found != 3 || len(again.Skipped) < 3 || again.Days+len(again.Skipped) != all.Days || again.Entries != 6+1 || again.Skipped[0].Entries != 6 || time.Since(again.Skipped[0].At) > time.Minute {
		t.Errorf("%+v", again)
	}
	if r := check(false); r.Entries != all.Entries || len(r.Skipped) != 0 {
		t.Errorf("a full check: %+v", r)
	}
	// A late batch, and an erasure that is marked, and then done.
	p.fill(t, days[1], 1, 2)
	if r := check(true); r.Entries != 8+6+1 {
		t.Errorf("after a late batch: %+v", r)
	}
	hash := records[0].Hash()
	mark := func(tx pg.Tx) error {
		return journal.MarkErased(t.Context(), tx, uuid.New(), []journal.Erased{{RequestID: records[0].RequestID, Hash: hash}}, []time.Time{days[2]})
	}
	if err := pg.InTx(t.Context(), p.owner, mark); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as long as something is marked and not erased, the day is checked
		if r := check(true); r.Entries != 6+6+6+1 {
			t.Errorf("after marking: %+v", r)
		}
	}
	for _, day := range []time.Time{days[0], days[2]} {
		if _, err := p.archivist().Erase(t.Context(), day); err != nil {
			t.Fatal(err)
		}
	}
	if r := check(true); r.Entries != 6+6+6+1 || r.Erased != 1+6 {
		t.Errorf("after erasing: %+v", r)
	}
	if r := check(true); r.Entries != 6+1 {
		t.Errorf("after the check of what was erased: %+v", r)
	}
	// An archived day is forgotten.
	p.archive(t, days[0])
	if n := p.count(t, `SELECT count(*) FROM journal_checked WHERE day = $1::timestamptz::date`, days[0]); n != 0 {
		t.Error("the check of an archived day is remembered")
	}
}

// A login that may only read can check, and nothing is remembered.
func TestReaderChecksWithoutRemembering(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	p, reader := newPastAt(t, url), pgtest.Open(t, url, pg.Read)
	day := p.day(t, 40)
	p.fill(t, day, 2, 2)
	r, err := (&journal.Checker{Pool: reader, Remember: reader}).Check(t.Context(), day, day)
	if n := p.count(t, `SELECT count(*) FROM journal_checked`); err != nil || !r.OK() || r.Entries != 4 || n != 0 {
		t.Errorf("%+v, %v; %d days are remembered", r, err, n)
	}
}

// The remembered root of a day is that of its archive.
func TestRememberedRootIsThatOfTheArchive(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	p.fill(t, day, 20, 3)
	if _, err := (&journal.Checker{Pool: p.serve, Remember: p.serve}).InSlices(7, 0).Check(t.Context(), day, day); err != nil {
		t.Fatal(err)
	}
	var root []byte
	if err := p.super.QueryRow(t.Context(), `SELECT root FROM journal_checked`).Scan(&root); err != nil {
		t.Fatal(err)
	}
	if made := p.archive(t, day); string(made.Root) != string(root) {
		t.Errorf("the archive has the root %x, and the check %x", made.Root, root)
	}
}
