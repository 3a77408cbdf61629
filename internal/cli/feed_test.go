package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Old days of the feeds are archived, and what an organisation was told on one is shown.
func TestFeedCommands(t *testing.T) {
	t.Parallel()

	url := pgtest.URL(t)
	m := machine{t, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()}}
	super := pgtest.Open(t, url, "")
	bank := feed.Owner{Entity: uuid.Must(uuid.NewV7()), Mode: "live"}
	day := time.Now().UTC().AddDate(0, 0, -100).Truncate(24 * time.Hour)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := super.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at) VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, bank.Entity)
	err := pg.InTx(t.Context(), super, func(tx pg.Tx) error {
		return feed.Append(t.Context(), tx, bank, feed.Event{Type: "list.v1.applied", Time: time.Now(), Data: map[string]int{"members": 7}})
	})
	if err != nil {
		t.Fatal(err)
	}
	exec(`SELECT journal_make_day($1)`, day)
	exec(`UPDATE feed_entry SET at = $1`, day.Add(time.Hour))

	if out, _ := m.run(0, nil, "feed", "archive"); !strings.Contains(out, day.Format(time.DateOnly)+"  1 ") {
		t.Errorf("archive printed:\n%s", out)
	}
	if _, note := m.run(0, nil, "feed", "archive"); !strings.Contains(note, "No day is old enough to archive.") {
		t.Errorf("the second archive reports:\n%s", note)
	}
	shown := []string{"feed", "show", "--entity", bank.Entity.String(), "--day", day.Format(time.DateOnly)}
	if out, _ := m.run(0, nil, shown...); !strings.Contains(out, `"members":7`) || strings.Count(out, "\n") != 1 {
		t.Errorf("show printed:\n%s", out)
	}
	if out, _ := m.run(0, nil, append(shown, "--mode", "test")...); out != "" {
		t.Errorf("show of the test keys printed:\n%s", out)
	}
	if checked := m.object(nil, "feed", "check"); checked["archivedDays"] != 1.0 || checked["entries"] != 1.0 || checked["feeds"] != 1.0 {
		t.Errorf("check printed %v", checked)
	}
	m.run(0, nil, "feed", "archive", "--keep-days", "95")
	if checked := m.object(nil, "feed", "check"); checked["lapsedDays"] != 1.0 || checked["entries"] != 0.0 {
		t.Errorf("check of a lapsed day printed %v", checked)
	}
	if _, stderr := m.run(5, nil, shown...); !strings.Contains(stderr, "lapsed") {
		t.Errorf("show of a lapsed day reports:\n%s", stderr)
	}
	m.run(2, nil, "feed", "archive", "--days", "0")
	m.run(2, nil, "feed", "show", "--entity", "x", "--day", "2026-05-01")
	m.run(2, nil, "feed", "show", "--entity", bank.Entity.String(), "--day", "yesterday")
}
