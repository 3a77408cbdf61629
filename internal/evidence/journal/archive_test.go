package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// archive moves a day and fails the test if that fails.
func (p *past) archive(t *testing.T, day time.Time) journal.Archive {
	t.Helper()
	a, err := p.archivist().Archive(t.Context(), day)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// found fails the test unless every record is found, as it was written.
func (p *past) found(t *testing.T, records []record.Entry) {
	t.Helper()
	for i := range records {
		got, err := journal.Find(t.Context(), p.serve, p.files, records[i].RequestID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(records[i], got); diff != "" {
			t.Fatalf("a record (-written +found):\n%s", diff)
		}
	}
}

func (p *past) checkArchives(t *testing.T) journal.Report {
	t.Helper()
	r, err := (&journal.Checker{Pool: p.serve, Files: p.files, Limit: 100}).CheckArchives(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (p *past) partitions(t *testing.T, day time.Time) int {
	t.Helper()
	return p.count(t, `SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'journal_%' || to_char($1::timestamptz, 'YYYYMMDD')`, day)
}

// An archived day is removed from the database, every record of it is found as it
// was written, and the audit trail has the actions.
func TestArchivedDayIsFoundWhole(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day, empty, next := p.day(t, 40), p.day(t, 39), p.day(t, 38)
	records, later := p.fill(t, day, 40, 5), p.fill(t, next, 1, 1)
	due, err := p.archivist().Due(t.Context(), next)
	if err != nil || !cmp.Equal(due, []time.Time{day, empty}) {
		t.Fatalf("due are %v, %v", due, err)
	}
	for _, d := range due {
		if made := p.archive(t, d); !made.Day.Equal(d) || made.Bytes == 0 {
			t.Errorf("archived %+v", made)
		}
		if n := p.partitions(t, d); n != 0 {
			t.Errorf("%d partitions of an archived day are left", n)
		}
	}
	if n := p.partitions(t, next); n != 2 {
		t.Errorf("a day that was not archived has %d partitions", n)
	}
	p.found(t, records)
	p.found(t, later)
	if _, err := journal.Get(t.Context(), p.serve, records[0].RequestID); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the database still has a record: %v", err)
	}
	if _, err := journal.Find(t.Context(), p.serve, p.files, record.NewRequestID(records[7].At)); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a record that never was: %v", err)
	}
	r := p.checkArchives(t)
	if !r.OK() || r.Archives != 2 || r.Batches != 40 || r.Entries != 200 {
		t.Errorf("the archives: %+v", r)
	}
	if r := p.check(t, time.Time{}, time.Time{}); !r.OK() || r.Entries != 1 {
		t.Errorf("what is left in the database: %+v", r)
	}
	if n := p.count(t, `SELECT count(*) FROM audit a JOIN journal_archive j ON j.manifest = a.subject_id WHERE a.action IN ('journal.archived', 'journal.dropped')`); n != 4 {
		t.Errorf("the trail has %d entries, want 4", n)
	}
	p.archive(t, day) // a second time there is nothing to do
	if n := p.count(t, `SELECT count(*) FROM audit`); n != 4 {
		t.Errorf("doing it again left %d entries in the trail", n)
	}
}

// A day is not archived before its end, if it is damaged, if it does not exist, or
// by two processes at once; and then it stays in the database.
func TestArchiveRefusesWhatItMustNotTake(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	a := p.archivist()
	today := time.Now().UTC().Truncate(24 * time.Hour)
	a.Now = func() time.Time { return today.Add(time.Hour - time.Second) }
	if _, err := a.Archive(t.Context(), today.AddDate(0, 0, -1)); !errors.Is(err, journal.ErrOpenDay) {
		t.Errorf("a day that has just ended: %v", err)
	}
	if due, err := a.Due(t.Context(), today.AddDate(0, 0, 9)); err != nil || len(due) != 0 {
		t.Errorf("due are %v, %v", due, err)
	}
	if _, err := a.Archive(t.Context(), today.AddDate(0, 0, -77)); !errors.Is(err, journal.ErrNoDay) {
		t.Errorf("a day that is not there: %v", err)
	}
	day := p.day(t, 40)
	records := p.fill(t, day, 3, 2)
	for _, damage := range []struct{ do, undo string }{
		{`UPDATE journal_entry SET status = 'BARRED' WHERE n = 2`, `UPDATE journal_entry SET status = 'NORMAL' WHERE n = 2`},
		{`UPDATE journal_batch SET count = 3 WHERE n = 3`, `UPDATE journal_batch SET count = 2 WHERE n = 3`},
		{`INSERT INTO journal_entry SELECT * FROM journal_entry WHERE n = 1 AND idx = 0`, `DELETE FROM journal_entry WHERE ctid IN (SELECT max(ctid) FROM journal_entry WHERE n = 1 AND idx = 0)`},
	} {
		p.exec(t, damage.do)
		if _, err := a.Archive(t.Context(), day); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("after %s: %v", damage.do, err)
		}
		p.exec(t, damage.undo)
	}
	if n := p.partitions(t, day) + p.count(t, `SELECT count(*) FROM journal_archive`); n != 2 {
		t.Error("a damaged day was archived or dropped")
	}
	conn, err := p.owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(hashtextextended('lineproof journal archive', 0))`); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Archive(t.Context(), day); !errors.Is(err, journal.ErrArchiving) {
		t.Errorf("beside another: %v", err)
	}
	// The session ends a moment after its connection, so the lock is released first.
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	conn.Release()
	p.archive(t, day)
	p.found(t, records)
}

// The serving role can remove nothing from the journal, and the function drops no
// day that is not archived.
func TestOnlyWhatIsArchivedCanBeDropped(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	p.fill(t, day, 2, 2)
	suffix, date := day.Format("20060102"), "'"+day.Format(time.DateOnly)+"'"
	note := `INSERT INTO journal_archive (manifest, day, sha256, batches, entries, bytes, root, archived_at) VALUES (gen_random_uuid(), ` + date + `, sha256('x'), 2, 3, 1, sha256('x'), now())`
	for _, sql := range []string{
		note, `SELECT journal_drop_day(` + date + `)`, `ALTER TABLE journal_entry DETACH PARTITION journal_entry_` + suffix, `SELECT setval('journal_epoch', 9)`,
		`INSERT INTO journal_epoch_skip VALUES (gen_random_uuid(), now(), 1, 2, 'x')`,
	} {
		if _, err := p.serve.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("the serving role: %s gave %v", sql, err)
		}
	}
	drop := func(want string) {
		if _, err := p.owner.Exec(t.Context(), `SELECT journal_drop_day(`+date+`)`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("dropping gave %v, want %q", err, want)
		}
	}
	drop("was never archived")
	p.exec(t, note)
	drop("not detached")
	p.exec(t, `ALTER TABLE journal_entry DETACH PARTITION journal_entry_`+suffix)
	p.exec(t, `ALTER TABLE journal_batch DETACH PARTITION journal_batch_`+suffix)
	drop("2 batches with 4 entries, and 2 with 3 are archived")
	if n := p.partitions(t, day); n != 2 {
		t.Errorf("%d partitions are left", n)
	}
}

// Wherever archiving was interrupted, repeating it completes it, with one archive,
// and every record is found before and after.
func TestArchiveGoesOnWhereItWasBrokenOff(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	for i, broken := range p.interruptions() {
		day := p.day(t, 40+i)
		records := p.fill(t, day, 5, 2)
		if err := p.archivist().Note(t.Context(), day); err != nil {
			t.Fatal(err)
		}
		broken(t, day)
		p.found(t, records)
		if r := p.check(t, day, day); !r.OK() {
			t.Errorf("broken off at %d: %+v", i, r)
		}
		if due, err := p.archivist().Due(t.Context(), time.Now()); err != nil || len(due) == 0 || !due[0].Equal(day) {
			t.Errorf("broken off at %d, due are %v, %v", i, due, err)
		}
		p.archive(t, day)
		p.found(t, records)
		if n := p.partitions(t, day); n != 0 {
			t.Errorf("broken off at %d: %d partitions are left", i, n)
		}
		if n := p.count(t, `SELECT count(*) FROM journal_archive WHERE day = $1::timestamptz::date`, day); n != 1 {
			t.Errorf("broken off at %d: the day has %d archives", i, n)
		}
	}
}

// interruptions are the states in which a run that has stored an archive may leave the day.
func (p *past) interruptions() []func(t *testing.T, day time.Time) {
	return []func(t *testing.T, day time.Time){
		func(*testing.T, time.Time) {}, // before anything was detached
		func(t *testing.T, day time.Time) { // one partition is being detached
			t.Helper()
			p.pendingDetach(t, day)
		},
		func(t *testing.T, day time.Time) { // one partition is detached
			t.Helper()
			p.exec(t, `ALTER TABLE journal_entry DETACH PARTITION journal_entry_`+day.Format("20060102"))
		},
		func(t *testing.T, day time.Time) { // both are, and none is dropped
			t.Helper()
			p.exec(t, `ALTER TABLE journal_entry DETACH PARTITION journal_entry_`+day.Format("20060102"))
			p.exec(t, `ALTER TABLE journal_batch DETACH PARTITION journal_batch_`+day.Format("20060102"))
		},
	}
}

// pendingDetach interrupts a detaching while it waits for a reader.
func (p *past) pendingDetach(t *testing.T, day time.Time) {
	t.Helper()
	reader, err := p.super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback(t.Context()) }()
	if _, err := reader.Exec(t.Context(), `SELECT count(*) FROM journal_entry`); err != nil {
		t.Fatal(err)
	}
	conn, err := p.owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `SET lock_timeout = '50ms'`); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), `ALTER TABLE journal_entry DETACH PARTITION journal_entry_`+day.Format("20060102")+` CONCURRENTLY`)
	if err == nil || p.count(t, `SELECT count(*) FROM pg_inherits WHERE inhdetachpending`) != 1 {
		t.Fatalf("the detaching was not broken off: %v", err)
	}
}

// A record that is written to a day after it was archived is not lost: the day is
// archived again.
func TestLateRecordsAreArchivedToo(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	records := p.fill(t, day, 3, 2)
	if err := p.archivist().Note(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	// One comes before the partitions are detached.
	records = append(records, p.fill(t, day, 1, 2)...)
	if err := p.archivist().Note(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	// One comes at the very moment.
	records = append(records, p.fill(t, day, 1, 3)...)
	p.exec(t, `ALTER TABLE journal_entry DETACH PARTITION journal_entry_`+day.Format("20060102"))
	p.exec(t, `ALTER TABLE journal_batch DETACH PARTITION journal_batch_`+day.Format("20060102"))
	if _, err := p.archivist().Archive(t.Context(), day); err == nil {
		t.Fatal("a day with a late record was dropped")
	}
	p.found(t, records) // it is back
	p.archive(t, day)
	p.found(t, records)
	if r := p.checkArchives(t); !r.OK() || r.Archives != 3 {
		t.Errorf("the archives: %+v", r)
	}
}

// The check finds a damaged, missing or wrong file of the archive, and looking up a
// record in it is an error and not "not found". Without its number filters a day is
// read as a whole.
func TestDamagedArchiveIsNoticed(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	records := p.fill(t, p.day(t, 40), 20, 5)
	made := p.archive(t, records[0].At)
	var files []string
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	m, err := p.archivist().Manifest(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		flipped, manifest, filters := append([]byte{}, whole...), filepath.Base(file) == made.Manifest.String(), filepath.Base(file) == m.Filters.Key
		flipped[len(flipped)/2] ^= 1
		for name, content := range map[string][]byte{
			"flipped": flipped, "cut": whole[:len(whole)-1], "longer": append(append([]byte{}, whole...), whole...), "spaced": append(append([]byte{}, whole...), ' '), "empty": {}, "gone": nil,
		} {
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if content != nil {
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if r := p.checkArchives(t); r.OK() {
				t.Errorf("%s (manifest: %v): the check has nothing to say", name, manifest)
			}
			if filters {
				if n := len(p.searched(t, records[3].Number)); n != len(records) {
					t.Errorf("%s number filters: a search found %d of %d records", name, n, len(records))
				}
				continue
			}
			_, err := journal.Find(t.Context(), p.serve, p.files, records[3].RequestID)
			if err == nil || fault.CodeOf(err) != fault.Internal {
				t.Errorf("%s (manifest: %v): looking for a record gave %v", name, manifest, err)
			}
			if content == nil && !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("a file that is gone: %v", err)
			}
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.found(t, records)
	p.exec(t, `UPDATE journal_archive SET entries = entries - 1`)
	if r := p.checkArchives(t); r.OK() {
		t.Error("the note of the archive has another count, and the check has nothing to say")
	}
}
