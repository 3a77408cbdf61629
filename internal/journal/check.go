package journal

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/pg"
)

// Checker looks for records and batches that are not as they were written.
type Checker struct {
	Pool  *pgxpool.Pool
	Files blob.Store   // where the archives are; needed for those only
	Limit int          // how many findings are kept; all are counted
	Watch func(Report) // told of progress; may be nil

	held int // for tests: the most entries that may wait; 0 means as usual
}

// Report is what was looked at and what was found.
type Report struct {
	Days     int // in the database
	Archives int
	Batches  int64
	Entries  int64
	Found    int64     // how many findings there are
	Findings []Finding // the first of them
}

// Finding is one thing that is not as it was written. It names records by their
// id and never by their content.
type Finding struct {
	Day   time.Time
	Where string // a record, a batch, or a file of an archive
	What  string
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return r.Found == 0 }

// Check reads the days from one to another that are in the database, both
// included, and checks every record and every batch. The zero time is no limit.
// The service may run meanwhile.
func (c *Checker) Check(ctx context.Context, from, to time.Time) (Report, error) {
	var total Report
	days, err := daysInside(ctx, c.Pool)
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
	var t *trial
	err := readDay(ctx, c.Pool, day, reading{
		begin: func(tx pg.Tx) error {
			t = &trial{Report: before, day: day, limit: c.Limit}
			t.Findings = append([]Finding{}, before.Findings...)
			return t.twice(ctx, tx)
		},
		each:  func(f *flush) error { return t.flush(f) },
		watch: func(int) { c.watch(t.Report) },
		held:  c.held,
	})
	if err != nil {
		return before, err
	}
	return t.Report, nil
}

func (c *Checker) watch(so Report) {
	if c.Watch != nil {
		c.Watch(so)
	}
}

// trial checks what it is shown of one day.
type trial struct {
	Report

	day   time.Time
	limit int
}

func (t *trial) find(where, format string, args ...any) {
	t.Found++
	if len(t.Findings) < t.limit {
		t.Findings = append(t.Findings, Finding{Day: t.day, Where: where, What: fmt.Sprintf(format, args...)})
	}
}

// twice looks for request ids that stand more than once. The database does that,
// which has room for more than fits into memory.
func (t *trial) twice(ctx context.Context, tx pg.Tx) error {
	rows, err := tx.Query(ctx, `SELECT request_id, count(*) FROM journal_entry`+onDay(t.day)+` GROUP BY request_id HAVING count(*) > 1`)
	if err != nil {
		return fmt.Errorf("journal: look for doubles: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return fmt.Errorf("journal: look for doubles: %w", err)
		}
		t.find(record(id), "is there %d times", n)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("journal: look for doubles: %w", err)
	}
	return nil
}

func record(id uuid.UUID) string { return "record " + id.String() }

// flush checks a batch and its entries.
func (t *trial) flush(f *flush) error {
	if !f.found {
		for i := range f.entries {
			t.entry(&f.entries[i])
			t.find(record(f.entries[i].RequestID), "has no batch: there is none %d in epoch %d, or it is one too many there", f.n, f.epoch)
		}
		return nil
	}
	t.Batches++
	where := fmt.Sprintf("batch %s %d %d", f.node, f.epoch, f.n)
	if len(f.entries) != f.count {
		t.find(where, "says that it has %d records and has %d", f.count, len(f.entries))
	}
	hashes, inOrder := make([][]byte, len(f.entries)), true
	for i := range f.entries {
		e := &f.entries[i]
		t.entry(e)
		hashes[i], inOrder = e.hash, inOrder && e.idx == i
	}
	if !inOrder {
		t.find(where, "the places of its records have a gap or a double")
	}
	if len(f.entries) == 0 {
		return nil
	}
	if !f.entries[0].At.Equal(f.at) {
		t.find(where, "its time is not that of its first record")
	}
	root, err := Root(hashes)
	if err != nil {
		return err
	}
	if !bytes.Equal(root, f.root) {
		t.find(where, "its records do not make its root")
	}
	return nil
}

// entry checks what can be said of a record alone.
func (t *trial) entry(e *kept) {
	t.Entries++
	if at, err := TimeOf(e.RequestID); err != nil || !at.Equal(e.At) {
		t.find(record(e.RequestID), "the time in its id is not its time")
	}
	if hash := e.Hash(); !bytes.Equal(hash[:], e.hash) {
		t.find(record(e.RequestID), "does not fit its hash")
	}
}
