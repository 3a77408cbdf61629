package journal_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// An epoch whose first day was archived and has left the database has no gap, and a
// deleted batch of its other day, or of the numbers that were kept, is found.
func TestArchivedDaysAreNoGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := pgtest.Open(t, w.super.Config().ConnString(), pg.Owner)
	files, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	j, err := journal.Open(t.Context(), owner, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -4)
	for day := range 3 {
		if err := journaltest.MakeDay(t.Context(), w.super, first.AddDate(0, 0, day)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		at := first.Add(time.Duration(i) * 8 * time.Hour)
		err := j.Record(t.Context(), func(pg.DB) ([]record.Entry, error) {
			return []record.Entry{{RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Mode: "live", Status: "NORMAL", Nonce: record.NewNonce()}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	archiver := &journal.Archiver{Pool: owner, Files: files, Now: time.Now}
	for day := range 2 {
		if _, err := archiver.Archive(t.Context(), first.AddDate(0, 0, day)); err != nil {
			t.Fatal(err)
		}
		w.wantOK("with archived days")
	}
	w.wantFound("batch 8 is missing", `DELETE FROM journal_batch WHERE n = 8`)
	w.wantFound("batches 4 to 6 are missing", `DELETE FROM journal_archive_run WHERE first = 4`)
	w.wantFound("batch 1 is missing", `UPDATE journal_archive_run SET first = 2 WHERE first = 1`)
}
