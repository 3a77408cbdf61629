package journal

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
)

// Checker finds records and batches that were changed after they were written.
type Checker struct {
	Pool       *pgxpool.Pool
	Files      blob.Store   // has the archives; needed only for CheckArchives
	Limit      int          // the number of findings to return; all are counted
	OnProgress func(Report) // reports progress; may be nil

	maxOpen int // for tests; see dayHandler
}

// Report is the result of a check.
type Report struct {
	Days     int // in the database
	Archives int
	Batches  int64
	Entries  int64
	Erased   int64     // entries whose personal part was erased
	Found    int64     // the number of findings
	Findings []Finding // the first of them
}

// Finding is one inconsistency. It names records by their id and never contains
// their content.
type Finding struct {
	Day   time.Time
	Where string // a record, a batch, or a file of an archive
	What  string
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return r.Found == 0 }

// Check reads the days from one to another that are in the database, both
// included, and checks every record and every batch. The zero time is no limit.
// The service may be running.
func (c *Checker) Check(ctx context.Context, from, to time.Time) (Report, error) {
	var total Report
	days, err := readableDays(ctx, c.Pool)
	if err != nil {
		return total, err
	}
	for _, day := range within(days, from, to) {
		found, err := c.day(ctx, day, total)
		if err != nil {
			return total, err
		}
		total = found
		total.Days++
	}
	return total, nil
}

// day checks one day and adds what it finds to a report.
func (c *Checker) day(ctx context.Context, day time.Time, before Report) (Report, error) {
	var t *dayCheck
	err := readDay(ctx, c.Pool, day, dayHandler{
		begin: func(tx pg.Tx) (err error) {
			t = &dayCheck{Report: before, day: day, limit: c.Limit}
			t.Findings = append([]Finding{}, before.Findings...)
			if t.erased, err = erasedOf(ctx, tx, day); err != nil {
				return err
			}
			return t.findDuplicates(ctx, tx)
		},
		each:    func(b *archivefile.Batch) error { return t.checkBatch(b) },
		watch:   func(int) { c.progress(t.Report) },
		maxOpen: c.maxOpen,
	})
	if err != nil {
		return before, err
	}
	return t.Report, nil
}

func (c *Checker) progress(r Report) {
	if c.OnProgress != nil {
		c.OnProgress(r)
	}
}

// dayCheck checks the batches of one day.
type dayCheck struct {
	Report

	day    time.Time
	limit  int
	erased erasedSet // the records that may be erased
}

func (t *dayCheck) addFinding(where, format string, args ...any) {
	t.Found++
	if len(t.Findings) < t.limit {
		t.Findings = append(t.Findings, Finding{Day: t.day, Where: where, What: fmt.Sprintf(format, args...)})
	}
}

// findDuplicates finds request ids that occur more than once. The database does the
// work, because the ids of a day may not fit into memory.
func (t *dayCheck) findDuplicates(ctx context.Context, tx pg.Tx) error {
	rows, err := tx.Query(ctx, `SELECT request_id, count(*) FROM journal_entry`+whereDay(t.day)+` GROUP BY request_id HAVING count(*) > 1`)
	if err != nil {
		return fmt.Errorf("journal: find duplicates: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return fmt.Errorf("journal: find duplicates: %w", err)
		}
		t.addFinding(nameOf(id), "occurs %d times", n)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("journal: find duplicates: %w", err)
	}
	return nil
}

func nameOf(id uuid.UUID) string { return "record " + id.String() }

// checkBatch checks a batch and its entries.
func (t *dayCheck) checkBatch(b *archivefile.Batch) error {
	if !b.Found {
		for i := range b.Entries {
			t.checkEntry(&b.Entries[i])
			t.addFinding(nameOf(b.Entries[i].RequestID), "has no batch: batch %d of epoch %d does not exist or has one record too many", b.N, b.Epoch)
		}
		return nil
	}
	t.Batches++
	where := fmt.Sprintf("batch %s %d %d", b.Node, b.Epoch, b.N)
	if len(b.Entries) != b.Count {
		t.addFinding(where, "should have %d records and has %d", b.Count, len(b.Entries))
	}
	hashes, inOrder := make([][]byte, len(b.Entries)), true
	for i := range b.Entries {
		e := &b.Entries[i]
		t.checkEntry(e)
		hashes[i], inOrder = e.StoredHash, inOrder && e.Idx == i
	}
	if !inOrder {
		t.addFinding(where, "the positions of its records have a gap or a duplicate")
	}
	if len(b.Entries) == 0 {
		return nil
	}
	if !b.Entries[0].At.Equal(b.At) {
		t.addFinding(where, "its time differs from that of its first record")
	}
	root, err := record.Root(hashes)
	if err != nil {
		return err
	}
	if !bytes.Equal(root, b.Root) {
		t.addFinding(where, "its records do not match its Merkle root")
	}
	return nil
}

// checkEntry checks a record on its own.
func (t *dayCheck) checkEntry(e *archivefile.Entry) {
	t.Entries++
	if at, ok := record.TimeOf(e.RequestID); !ok || !at.Equal(e.At) {
		t.addFinding(nameOf(e.RequestID), "the time in its id differs from its time")
	}
	if hash := e.Hash(); !bytes.Equal(hash[:], e.StoredHash) {
		t.addFinding(nameOf(e.RequestID), "does not match its hash")
	}
	if e.Erased() {
		if t.Erased++; !t.erased.covers(e) || e.Personal != (record.Personal{}) {
			t.addFinding(nameOf(e.RequestID), "is erased, or part of it, and no erasure covers it")
		}
	}
}
