package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Who asked about a number is requested with a number from a file or from standard input,
// runs once somebody else has confirmed it, and is written to new files. No message has the
// number.
func TestJournalAsked(t *testing.T) {
	t.Parallel()
	url, dir := pgtest.URL(t), t.TempDir()
	m := machine{t, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + filepath.Join(dir, "data"), "LINEPROOF_PEPPERS=" + pgtest.Pepper}}
	super := pgtest.Open(t, url, "")
	now := time.Now().UTC().Truncate(time.Millisecond)
	records, err := journal.Open(t.Context(), super, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	bank, err := (&registry.Registry{Pool: super, Now: time.Now}).CreateRelyingParty(t.Context(), "Harbour Bank", "RC 100001", audit.Actor{Kind: audit.Operator}, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	e := record.Entry{
		RequestID: record.NewRequestID(now), At: now, Entity: bank.ID, Key: uuid.New(), Type: "number", Mode: "live", Purpose: "payment", Status: "SWAPPED",
		MobileNetwork: "MTN", PolicyVersion: 1, Rules: 1, Nonce: record.NewNonce(), Personal: record.Personal{Number: 2348031234567, PhoneNumber: "0803 123 4567"},
	}
	if err := records.Record(t.Context(), func(pg.DB) ([]record.Entry, error) { return []record.Entry{e}, nil }); err != nil {
		t.Fatal(err)
	}
	confirm := func(id string) {
		t.Helper()
		person := audit.Actor{Kind: audit.Account, ID: uuid.New()}
		_, err := super.Exec(t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1, 'staff', 'administrator', 'S', $2, $2, now())`,
			person.ID, person.ID.String())
		if err != nil {
			t.Fatal(err)
		}
		service := &approval.Service{Pool: super, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: whoasked.Effects(), Now: time.Now}
		if _, err := service.Confirm(t.Context(), uuid.MustParse(id), person, uuid.Nil); err != nil {
			t.Fatal(err)
		}
	}

	file, today := filepath.Join(dir, "number.txt"), now.Format(time.DateOnly)
	if err := os.WriteFile(file, []byte("0803 123 4567\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	request := func(file string) []string {
		return []string{"journal", "asked", "request", "--number-file", file, "--from", today, "--to", today, "--reason", "Request of the holder, case 2026-17"}
	}
	out, note := m.run(0, nil, request(file)...)
	id := strings.TrimSpace(out)
	if !strings.Contains(note, id) || strings.Contains(out+note, "1234567") {
		t.Errorf("request printed %s and %s", out, note)
	}
	if out, _ := m.run(0, nil, "approval", "list"); !strings.Contains(out, id) || !strings.Contains(out, string(whoasked.Kind)) || strings.Contains(out, "1234567") {
		t.Errorf("the list of approvals:\n%s", out)
	}
	wrong := filepath.Join(dir, "wrong.txt")
	if err := os.WriteFile(wrong, []byte("080312\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, stderr := m.run(2, nil, request(wrong)...); strings.Contains(out+stderr, "080312") {
		t.Errorf("a wrong number is repeated: %s%s", out, stderr)
	}
	if _, stderr := m.run(5, nil, "journal", "asked", "run", id); !strings.Contains(stderr, "waits for a second person") {
		t.Errorf("an unconfirmed search says: %s", stderr)
	}
	m.run(5, nil, "approval", "confirm", id) // the same operator

	confirm(id)
	if out, _ := m.run(0, nil, "journal", "asked", "run", id); !strings.Contains(out, "Harbour Bank") || !strings.Contains(out, "SWAPPED") || !strings.Contains(out, now.Format("2006-01")) {
		t.Errorf("run printed:\n%s", out)
	}
	if r := m.object(nil, "journal", "asked", "run", id); r["answers"] != 1.0 || r["number"] != "+2348031234567" {
		t.Errorf("run --json printed %v", r)
	}
	csv, html := filepath.Join(dir, "r.csv"), filepath.Join(dir, "r.html")
	m.run(2, nil, "journal", "asked", "run", id, "--html", html) // nobody to ask
	m.run(0, nil, "journal", "asked", "run", id, "--csv", csv, "--html", html, "--contact", "The data protection officer")
	for name, want := range map[string]string{csv: "\r\nHarbour Bank,payment,,,", html: "The data protection officer"} {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others: %v, %v", name, info, err)
		}
	}
	m.run(2, nil, "journal", "asked", "run", id, "--csv", csv) // is not replaced
	m.run(2, nil, "journal", "asked", "request", "--number-file", file)
	var trail int
	if err := super.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = 'journal.who_asked' AND subject_id = $1`, id).Scan(&trail); err != nil || trail != 3 {
		t.Errorf("the trail has %d runs, %v", trail, err)
	}
}
