package logreceipt_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/record"
)

// archive archives today, as on the day after tomorrow, and drops what the archive has.
func (e *env) archive() (dropped int64) {
	e.t.Helper()
	archiver := &journal.Archiver{
		Pool: e.owner, Files: e.maker.Archive, Now: func() time.Time { return time.Now().AddDate(0, 0, 2) },
		LogIndexes: func(ctx context.Context, from, to time.Time) (map[archivefile.BatchKey]int64, error) {
			return publiclog.Indexes(ctx, e.owner, from, to)
		},
	}
	days, err := archiver.Due(e.t.Context(), time.Now().AddDate(0, 0, 1))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, day := range days {
		if _, err := archiver.Archive(e.t.Context(), day); err != nil {
			e.t.Fatal(err)
		}
	}
	if dropped, err = publiclog.Drop(e.t.Context(), e.owner); err != nil {
		e.t.Fatal(err)
	}
	return dropped
}

// When a day was archived, the entries about its batches leave the database. Receipts,
// the check and the rebuild then use the archive, and say the same.
func TestReceiptOfAnArchivedDay(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var all []record.Entry
	for _, count := range []int{1, 2, 3, 7, 150, 700} {
		all = append(all, e.answer(count)...)
		e.publish()
	}
	before := map[uuid.UUID][]byte{}
	for i := 0; i < len(all); i += 17 {
		text, err := e.receipt(all[i].RequestID)
		if err != nil {
			t.Fatal(err)
		}
		before[all[i].RequestID] = text
	}
	if dropped := e.archive(); dropped != 6 {
		t.Fatalf("%d entries were dropped, want 6", dropped)
	}
	var batches, others int64
	if err := e.pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind <> 1) FROM log_entry`).Scan(&batches, &others); err != nil {
		t.Fatal(err)
	}
	if batches != 0 || others == 0 {
		t.Errorf("the database has %d entries about batches and %d others", batches, others)
	}
	for id, want := range before {
		if text, err := e.receipt(id); err != nil || !bytes.Equal(text, want) {
			t.Fatalf("the receipt of an archived answer is %s, %v; want %s", text, err, want)
		}
	}
	if _, err := journal.MakePartitions(t.Context(), e.pool, 1); err != nil {
		t.Fatal(err)
	}
	e.answer(2) // the log goes on, with the entry about the archive
	e.publish()
	e.wantWhole()
	for id := range before {
		if text, err := e.receipt(id); err != nil {
			t.Fatal(err)
		} else if _, err := verify(text, e.key); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if dropped, err := publiclog.Drop(t.Context(), e.owner); err == nil {
		t.Errorf("%d entries were dropped of which the archive does not have all", dropped)
	}
}

// wantWhole fails the test unless the check finds nothing, and the rebuilt tiles are the
// published ones.
func (e *env) wantWhole() {
	e.t.Helper()
	checked, err := publiclog.Check(e.t.Context(), e.pool, e.maker.Archive)
	if err != nil || len(checked.Found) > 0 {
		e.t.Errorf("the check found %v, %v", checked.Found, err)
	}
	rebuilt, err := publiclog.Rebuild(e.t.Context(), e.pool, e.maker.Archive, e.maker.Tiles, func(string, []byte) error { return nil }, nil)
	if err != nil || len(rebuilt.Found) > 0 || rebuilt.Root != checked.Root || rebuilt.Size != checked.Size {
		e.t.Errorf("the rebuild found %v, %v", rebuilt.Found, err)
	}
}

// Entries stay in the database while the archive has not their indexes, or while they are
// not published.
func TestEntriesStayUntilTheyAreArchivedAndPublished(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.answer(3)
	if _, err := e.log.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if dropped := e.archive(); dropped != 0 {
		t.Errorf("%d entries were dropped that are not published", dropped)
	}
	e.publish()
	if _, err := e.owner.Exec(t.Context(), `UPDATE journal_archive SET logged = 0 WHERE batches > 0`); err != nil {
		t.Fatal(err)
	}
	if dropped, err := publiclog.Drop(t.Context(), e.owner); err != nil || dropped != 0 {
		t.Errorf("%d entries were dropped whose indexes are not archived, %v", dropped, err)
	}
	if _, err := e.owner.Exec(t.Context(), `UPDATE journal_archive SET logged = 1 WHERE batches > 0`); err != nil {
		t.Fatal(err)
	}
	if dropped, err := publiclog.Drop(t.Context(), e.owner); err != nil || dropped != 1 {
		t.Errorf("%d entries were dropped, %v", dropped, err)
	}
	e.wantWhole()
	// As if the log had begun before the day, whose archive is then compared with it.
	if _, err := e.owner.Exec(t.Context(), `UPDATE log_head SET began = began - interval '2 days'`); err != nil {
		t.Fatal(err)
	}
	e.wantWhole()
}

// How long the proof of an answer takes whose day was archived. The goal is 20 ms for 99
// of 100.
func TestProofOfAnArchivedDayIsQuick(t *testing.T) {
	t.Parallel()
	const batches, records, proofs = 400, 150, 500
	e := newEnv(t)
	var ids []uuid.UUID
	for i := range batches {
		for _, one := range e.answer(records) {
			ids = append(ids, one.RequestID)
		}
		if i%10 == 9 {
			e.publish()
		}
	}
	e.archive()
	took := make([]time.Duration, proofs)
	for i := range took {
		start := time.Now()
		if _, err := e.receipt(ids[rand.IntN(len(ids))]); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	t.Logf("%d answers of an archived day: half of %d proofs took at most %v, 99 of 100 %v", len(ids), proofs, took[proofs/2], took[proofs*99/100])
	// The clock of a machine that does other things decides nothing: ten times the goal.
	if took[proofs/2] > 200*time.Millisecond {
		t.Errorf("half of the proofs took longer than %v", took[proofs/2])
	}
}
