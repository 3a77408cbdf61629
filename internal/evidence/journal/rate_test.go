package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// A day is checked and archived with a bounded amount of CPU for each record, in this
// process and in PostgreSQL, and no snapshot lasts long. This run is small;
// LINEPROOF_E2E_ARCHIVE_RECORDS sets its size, and with LINEPROOF_E2E_ENFORCE it fails
// above the goals.
func TestArchiveRate(t *testing.T) { //nolint:paralleltest // it measures the CPU of this process
	const goalCheck, goalArchive, goalSnapshot = 7200 * time.Nanosecond, 25 * time.Microsecond, 60 * time.Second
	records, enforced := sizeOf(t, "LINEPROOF_E2E_ARCHIVE_RECORDS", 3000), os.Getenv("LINEPROOF_E2E_ENFORCE") != ""
	p := newPast(t)
	day := p.day(t, 40)
	p.fillFast(t, day, records, 50)
	for _, step := range []struct {
		name string
		goal time.Duration
		run  func() error
	}{
		{"check", goalCheck, func() error {
			r, err := (&journal.Checker{Pool: p.serve, Limit: 5}).Check(t.Context(), day, day)
			if err == nil && (!r.OK() || r.Entries != int64(records)) {
				err = fmt.Errorf("the check: %+v", r)
			}
			return err
		}},
		{"archive", goalArchive, func() error {
			a, err := p.archivist().Archive(t.Context(), day)
			if err == nil && a.Entries != int64(records) {
				err = fmt.Errorf("archived %+v", a)
			}
			t.Logf("%d bytes of a record in the archive", a.Bytes/int64(records))
			return err
		}},
	} {
		m := p.measure(t, step.run)
		perRecord := func(d time.Duration) time.Duration { return d / time.Duration(records) }
		t.Logf("%s of %d records: %v, %.0f records/s; CPU of a record: %v in this process and %v in PostgreSQL; oldest snapshot %v",
			step.name, records, m.took.Round(time.Millisecond), float64(records)/m.took.Seconds(), perRecord(m.used.Own), perRecord(m.used.Server), m.snapshot.Round(time.Millisecond))
		if enforced && (perRecord(m.used.Total()) > step.goal || m.snapshot > goalSnapshot) {
			t.Errorf("the goal is %v of CPU and a snapshot of at most %v", step.goal, goalSnapshot)
		}
	}
}

// fillFast writes batches of records to a day with COPY.
func (p *past) fillFast(t *testing.T, day time.Time, records, size int) {
	t.Helper()
	banks := []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()}
	for first, n := 0, int64(0); first < records; {
		var rows, batches [][]any
		for ; first < records && len(rows) < 50_000; first += size {
			n++
			at := day.Add(time.Duration(float64(24*time.Hour) * float64(first) / float64(records))).Truncate(time.Millisecond)
			hashes := make([][]byte, min(size, records-first))
			for i := range hashes {
				e := entry(at)
				e.Entity, e.Key = banks[(first+i)%len(banks)], banks[(first+i*3)%len(banks)]
				e.Number = 2348030000000 + int64((first+i)*7919%9_999_991)
				e.PhoneNumber, e.Correlator, e.ExternalID, e.OnBehalfOf = "0"+strconv.FormatInt(e.Number-2340000000000, 10), uuid.NewString(), "", ""
				hash := e.Hash()
				hashes[i] = hash[:]
				rows = append(rows, journaltest.Row(&e, 1, n, i))
			}
			root, err := merkle.Root(hashes)
			if err != nil {
				t.Fatal(err)
			}
			batches = append(batches, []any{"a", int64(1), n, at, int32(len(hashes)), root})
		}
		_, err := p.super.CopyFrom(t.Context(), pgx.Identifier{"journal_entry"}, journaltest.Columns(), pgx.CopyFromRows(rows))
		if err == nil {
			_, err = p.super.CopyFrom(t.Context(), pgx.Identifier{"journal_batch"}, []string{"node", "epoch", "n", "at", "count", "root"}, pgx.CopyFromRows(batches))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"journal_entry_", "journal_batch_"} { // as the service and autovacuum do
		p.exec(t, `SELECT brin_summarize_new_values(indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam
			WHERE amname = 'brin' AND indrelid = $1::regclass`, table+day.Format("20060102"))
		p.exec(t, "VACUUM (ANALYZE) "+table+day.Format("20060102"))
	}
	p.exec(t, "CHECKPOINT")
}

// measured is what some work has cost.
type measured struct {
	took, snapshot time.Duration
	used           pgtest.CPU
}

// measure runs some work and looks at its snapshots ten times a second.
func (p *past) measure(t *testing.T, work func() error) (m measured) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	oldest := make(chan time.Duration)
	go func() {
		var most time.Duration
		for {
			var seconds float64
			err := p.super.QueryRow(ctx, `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 FROM pg_stat_activity
				WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`).Scan(&seconds)
			if errors.Is(err, context.Canceled) {
				oldest <- most
				return
			}
			most = max(most, time.Duration(seconds*float64(time.Second)))
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	used, start := pgtest.UsedCPU(t, p.super), time.Now()
	err := work()
	m.took, m.used = time.Since(start), pgtest.UsedCPU(t, p.super).Since(used)
	stop()
	if m.snapshot = <-oldest; err != nil {
		t.Fatal(err)
	}
	return m
}
