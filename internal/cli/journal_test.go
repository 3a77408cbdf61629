package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The journal commands check, archive and read the journal. Damage is exit code
// 6, an archived record is shown as before, and new-epoch needs a reason.
func TestJournalCommands(t *testing.T) {
	t.Parallel()
	url, data := pgtest.URL(t), t.TempDir()
	m := machine{t, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + data}}
	super := pgtest.Open(t, url, "")
	exec := func(sql string) {
		t.Helper()
		if _, err := super.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().UTC().AddDate(0, 0, -40).Truncate(24 * time.Hour).Add(9 * time.Hour)
	day := at.Format(time.DateOnly)
	if err := journaltest.MakeDay(t.Context(), super, at); err != nil {
		t.Fatal(err)
	}
	records, err := journal.Open(t.Context(), super, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	e := record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Status: "UNKNOWN",
		Reason: "NO_SUPPLY", MobileNetwork: "UNKNOWN", PolicyVersion: 1, Rules: 1, Coverage: record.Coverage{0: 1, 13: 1}, Nonce: record.NewNonce(),
		Personal: record.Personal{Number: 2348031234567, PhoneNumber: "0803 123 4567"},
	}
	other := e
	other.RequestID, other.Status = record.NewRequestID(at), "NORMAL"
	if err := records.Record(t.Context(), func(pg.DB) ([]record.Entry, error) { return []record.Entry{e, other}, nil }); err != nil {
		t.Fatal(err)
	}

	if out, _ := m.run(0, nil, "journal", "check"); !strings.Contains(out, "records   2\nfindings  0\n") {
		t.Errorf("check printed:\n%s", out)
	}
	exec(`UPDATE journal_entry SET purpose = 'x' WHERE request_id = '` + e.RequestID.String() + `'`)
	if out, _ := m.run(6, nil, "journal", "check", "--from", day, "--to", day); !strings.Contains(out, day+"  record "+e.RequestID.String()+": does not match its hash\n") {
		t.Errorf("check of a changed record printed:\n%s", out)
	}
	var report struct {
		Found []struct{ Day, Where, What string }
	}
	out, _ := m.run(6, nil, "journal", "check", "--json", "--limit", "1")
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Found) != 1 || report.Found[0].Day != day {
		t.Errorf("check --json printed, %v:\n%s", err, out)
	}
	if _, stderr := m.run(5, nil, "journal", "archive"); !strings.Contains(stderr, "damaged") {
		t.Errorf("archive of a damaged day reports:\n%s", stderr)
	}
	exec(`UPDATE journal_entry SET purpose = '' WHERE request_id = '` + e.RequestID.String() + `'`)
	if _, note := m.run(0, nil, "journal", "archive", "--days", "60"); !strings.Contains(note, "No day is old enough to archive.") {
		t.Errorf("archive of no day reports:\n%s", note)
	}
	before, _ := m.run(0, nil, "journal", "get", "--reason", "Complaint 2026/114", e.RequestID.String())
	if !strings.Contains(before, "\nrecomputed     agrees: UNKNOWN UNKNOWN\n") { //nolint:dupword // what was asked, and what was told
		t.Errorf("get printed:\n%s", before)
	}
	if out, _ := m.run(6, nil, "journal", "get", "--reason", "Complaint 2026/114", other.RequestID.String()); !strings.Contains(out, "\nrecomputed     differs: UNKNOWN UNKNOWN. The events reported") {
		t.Errorf("get of an answer that differs printed:\n%s", out)
	}
	// The last check of the day had a finding, so that it is checked once more.
	if out, _ := m.run(0, nil, "journal", "check", "--new", "--from", day, "--to", day); !strings.Contains(out, "server    primary, ") || !strings.Contains(out, "records   2\n") {
		t.Errorf("check --new of a day with findings printed:\n%s", out)
	}
	if out, _ := m.run(0, nil, "journal", "check", "--new", "--from", day, "--to", day); !strings.Contains(out, day+"  skipped: 2 records, last checked at ") || !strings.Contains(out, "records     0\n") {
		t.Errorf("check --new printed:\n%s", out)
	}
	m.run(2, nil, "journal", "check", "--new", "--archived")
	if out, _ := m.run(0, nil, "journal", "archive"); !strings.Contains(out, day+"  1        2        ") {
		t.Errorf("archive printed:\n%s", out)
	}
	if after, _ := m.run(0, nil, "journal", "get", "--reason", "Complaint 2026/114", e.RequestID.String()); after != before {
		t.Errorf("the archived record is shown as\n%s\nand was shown as\n%s", after, before)
	}
	if out, _ := m.run(0, nil, "journal", "check", "--archived"); !strings.Contains(out, "archives  1\nbatches   1\nrecords   2\n") {
		t.Errorf("check of the archive printed:\n%s", out)
	}
	if err := os.RemoveAll(filepath.Join(data, "journal")); err != nil {
		t.Fatal(err)
	}
	if out, _ := m.run(6, nil, "journal", "check", "--archived"); !strings.Contains(out, "there is no file under this key") {
		t.Errorf("check of an archive that is gone printed:\n%s", out)
	}
	m.run(1, nil, "journal", "get", "--reason", "Complaint 2026/114", e.RequestID.String()) // the archive is missing, so the record may exist
	if err := records.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.run(0, nil, "journal", "check")
	exec(`DELETE FROM journal_archive_run`)
	if out, _ := m.run(6, nil, "journal", "check"); !strings.Contains(out, "  epoch 1 of node a: batch 1 is missing\n") {
		t.Errorf("check of a journal without its batch printed:\n%s", out)
	}

	if next := m.object(nil, "journal", "new-epoch", "--reason", "a restore")["next"]; next == nil {
		t.Error("new-epoch printed no epoch")
	}
	m.run(2, nil, "journal", "new-epoch")
	m.run(2, nil, "journal", "new-epoch", "--reason", "")
	m.run(2, nil, "journal", "check", "--from", "yesterday")
	m.run(2, nil, "journal", "check", "--limit", "-1")
	m.run(2, nil, "journal", "archive", "--before", "09:00")
	m.run(2, nil, "journal", "archive", "--days", "-1")
}

// Only the owner may remove anything from the journal: the service's own login is
// refused, and the error says which login to use.
func TestArchiveNeedsTheOwner(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	super := pgtest.Open(t, url, "")
	login := "archive_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := super.Exec(t.Context(), "CREATE ROLE "+login+" LOGIN IN ROLE "+pg.Serve); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := super.Exec(context.WithoutCancel(t.Context()), "DROP ROLE "+login); err != nil {
			t.Error(err)
		}
	})
	m := machine{t, []string{"LINEPROOF_DATABASE_URL=" + strings.Replace(url, "postgres@", login+"@", 1), "LINEPROOF_DATA=" + t.TempDir()}}
	for _, args := range [][]string{{"journal", "archive"}, {"journal", "new-epoch", "--reason", "x"}} {
		if _, stderr := m.run(4, nil, args...); !strings.Contains(stderr, "not a member of lineproof_owner") {
			t.Errorf("%v reports:\n%s", args, stderr)
		}
	}
	m.run(0, nil, "journal", "check")
}
