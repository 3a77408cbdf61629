package cli_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Rows that the service did not write are listed with exit code 6, and accepted one by one,
// with a reason that the audit trail keeps.
func TestRowsCommands(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	m := machine{t, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()}}
	super := pgtest.Open(t, url, "")
	const plant = `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1::uuid, 'staff', 'auditor', 'Ada', $1::uuid::text, $1::uuid::text, now())`
	first, second := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	stolen := pgtest.Stolen(t, super)
	for _, id := range []uuid.UUID{first, second} {
		if _, err := stolen.Exec(t.Context(), plant, id); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := m.run(6, nil, "rows", "check"); !strings.Contains(out, first.String()) || !strings.Contains(out, second.String()) {
		t.Errorf("check printed:\n%s", out)
	}
	m.run(2, nil, "rows", "accept", "account", first.String())
	m.run(2, nil, "rows", "accept", "account", "ada", "--reason", "Restored, ticket 4711")
	if out, _ := m.run(0, nil, "rows", "accept", "account", first.String(), "--reason", "Restored, ticket 4711"); out != "Signed 1 rows.\n" {
		t.Errorf("accept printed:\n%s", out)
	}
	if out, _ := m.run(6, nil, "rows", "check"); strings.Contains(out, first.String()) || !strings.Contains(out, second.String()) {
		t.Errorf("check after one was accepted printed:\n%s", out)
	}
	m.run(0, nil, "rows", "accept", "account", "--reason", "All of them are ours")
	m.run(0, nil, "rows", "check")
	if out, _ := m.run(0, nil, "audit", "list", "--json"); !strings.Contains(out, "Restored, ticket 4711") || !strings.Contains(out, "All of them are ours") {
		t.Errorf("the audit trail:\n%s", out)
	}
}
