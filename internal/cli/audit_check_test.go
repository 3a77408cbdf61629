package cli_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The check of the audit trail prints the newest hash, and exits with 6 if an hour was
// changed or a known hash is gone.
func TestAuditCheckCommand(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	m := machine{t, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()}}
	super := pgtest.Open(t, url, "")
	exec := func(sql string) {
		t.Helper()
		if _, err := super.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := m.run(0, nil, "audit", "check"); !strings.Contains(out, "hours            0\n") {
		t.Errorf("check of an empty trail printed:\n%s", out)
	}
	exec(`INSERT INTO audit (id, at, actor_kind, action, subject_id) VALUES (gen_random_uuid(), now() - interval '3 hours', 'operator', 'key.created', gen_random_uuid())`)
	if _, err := audit.ExtendChain(t.Context(), super); err != nil {
		t.Fatal(err)
	}
	hash, _ := m.object(nil, "audit", "check")["hash"].(string)
	if out, _ := m.run(0, nil, "audit", "check", "--known", hash); !strings.Contains(out, "entries          1\n") || !strings.Contains(out, "hash             "+hash+"\nfindings         0\n") {
		t.Errorf("check printed:\n%s", out)
	}
	if out, _ := m.run(6, nil, "audit", "check", "--known", strings.Repeat("0", 64)); !strings.Contains(out, "does not have the hash 0000") {
		t.Errorf("check with another hash printed:\n%s", out)
	}
	m.run(2, nil, "audit", "check", "--known", "abc")
	exec(`ALTER TABLE audit DISABLE TRIGGER audit_append_only; UPDATE audit SET action = 'key.revoked'`)
	if out, _ := m.run(6, nil, "audit", "check"); !strings.Contains(out, "are not those that were chained") {
		t.Errorf("check of a changed trail printed:\n%s", out)
	}
}
