package journal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func compareFindings(a, b journal.Finding) int {
	return strings.Compare(a.Where+" "+a.What, b.Where+" "+b.What)
}

// However a day is divided into slices, a check finds the same and the archive has the
// same root.
func TestSlicesOfADayMakeNoDifference(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	p.fill(t, day, 60, 4)
	p.fill(t, day, 60, 4) // at the same times, by other batches
	p.exec(t, `UPDATE journal_entry SET status = 'x' WHERE n % 7 = 3 AND idx = 1`)
	p.exec(t, `DELETE FROM journal_batch WHERE n % 20 = 9`)
	p.exec(t, `INSERT INTO journal_entry SELECT * FROM journal_entry WHERE n % 30 = 4 AND idx = 2`)
	var want journal.Report
	for i, size := range []int{0, 1, 9, 100} {
		r, err := (&journal.Checker{Pool: p.serve, Limit: 1000}).InSlices(size, 0).Check(t.Context(), day, day)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(r.Findings, compareFindings)
		if i == 0 {
			want = r
		}
		if diff := cmp.Diff(want, r); diff != "" || r.Found < 17+24+4 || r.Entries != 484 {
			t.Errorf("in slices of %d records (-all at once +in slices):\n%s", size, diff)
		}
	}
	whole := p.day(t, 41)
	p.fill(t, whole, 60, 4)
	roots := map[string]int{}
	for _, size := range []int{0, 1, 9, 100} {
		if err := p.archivist().InParts(size).Note(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		archives, err := journal.Archives(t.Context(), p.serve, whole, whole)
		if err != nil || len(archives) != 1 {
			t.Fatalf("%v, %v", archives, err)
		}
		roots[string(archives[0].Root)]++
		p.exec(t, `TRUNCATE journal_archive`)
	}
	if len(roots) != 1 {
		t.Errorf("the archive has %d roots", len(roots))
	}
}

// A day that is archived and dropped during a check is reported as such, and not as
// damaged.
func TestDayThatIsArchivedDuringACheckIsNoFinding(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	p.fill(t, day, 50, 4)
	archived := false
	c := &journal.Checker{Pool: p.serve, Limit: 10, OnProgress: func(journal.Report) {
		if !archived {
			archived = true
			p.archive(t, day)
		}
	}}
	r, err := c.InSlices(4, 0).Check(t.Context(), day, day)
	if err != nil || !r.OK() || len(r.Gone) != 1 || !r.Gone[0].Equal(day) || r.Days != 0 || r.Entries != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A batch whose records have different times is not written: reading a period would read
// a part of it.
func TestBatchHasOneTime(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	now := time.Now()
	if err := p.journal.Append(t.Context(), entry(now), entry(now.Add(time.Millisecond))); !errors.Is(err, journal.ErrNotRecorded) {
		t.Errorf("a batch with two times: %v", err)
	}
}

// An archive is made of the records of a standby, and waits for it; a standby that lacks
// a batch of the primary is not taken for the whole day.
func TestArchiveReadsAStandby(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	primary, standby := pgtest.StartPair(ctx, t)
	p := newPastAt(t, primary.Database())
	reader, err := pg.Open(ctx, standby.Database(), pg.Options{ReadOnly: true, Role: pg.Serve})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	first, second := p.day(t, 41), p.day(t, 40)
	records := append(p.fill(t, first, 30, 4), p.fill(t, second, 5, 2)...)
	a := p.archivist().InParts(10)
	a.Read = reader
	if _, err := a.Archive(ctx, first); err != nil {
		t.Fatal(err)
	}
	checker := &journal.Checker{Pool: reader, Limit: 10, Remember: p.serve}
	if name, err := pg.ServerName(ctx, reader); err != nil || !strings.HasPrefix(name, "standby, ") {
		t.Errorf("the server is %q, %v", name, err)
	}
	if r, err := checker.Check(ctx, second, second); err != nil || !r.OK() || r.Entries != 10 {
		t.Errorf("%+v, %v", r, err)
	}
	// The standby stops to replay, and the primary gets one more batch.
	standbyAdmin, err := pg.Open(ctx, standby.Database(), pg.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standbyAdmin.Close)
	if _, err := standbyAdmin.Exec(ctx, `SELECT pg_wal_replay_pause()`); err != nil {
		t.Fatal(err)
	}
	records = append(records, p.fill(t, second, 1, 2)...)
	behind, giveUp := context.WithTimeout(ctx, 2*time.Second)
	defer giveUp()
	if _, err := a.Archive(behind, second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a standby that is behind: %v", err)
	}
	if _, err := a.WithoutWait().Archive(ctx, second); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("a standby that lacks a batch: %v", err)
	}
	if n := p.count(t, `SELECT count(*) FROM journal_archive`); n != 1 {
		t.Errorf("%d days are archived", n)
	}
	if _, err := standbyAdmin.Exec(ctx, `SELECT pg_wal_replay_resume()`); err != nil {
		t.Fatal(err)
	}
	if archive, err := a.Archive(ctx, second); err != nil || archive.Entries != 12 {
		t.Errorf("%+v, %v", archive, err)
	}
	p.found(t, records)
}
