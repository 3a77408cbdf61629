package operate

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Whoever gets more rights than planned, switches a trigger off or replaces a function is
// found.
func TestUnplannedRightsAreReported(t *testing.T) {
	t.Parallel()
	d := &databaseChecks{report: &report{}, pool: pgtest.Open(t, pgtest.URL(t), "")}
	d.plannedRights(t.Context())
	if got := d.findings[0].line(); !strings.HasPrefix(got, "ok    planned rights") {
		t.Fatal(got)
	}
	for _, c := range []struct{ do, undo, want string }{
		{"GRANT UPDATE ON audit TO lineproof_serve", "REVOKE UPDATE ON audit FROM lineproof_serve", "audit: lineproof_serve may INSERT, SELECT, UPDATE"},
		{"GRANT UPDATE (role) ON account TO lineproof_read", "REVOKE UPDATE (role) ON account FROM lineproof_read", "account.role: lineproof_read may SELECT, UPDATE"},
		{"GRANT SELECT ON watch_block TO PUBLIC", "REVOKE SELECT ON watch_block FROM PUBLIC", "watch_block: everybody may SELECT"},
		{"REVOKE SELECT ON line_now FROM lineproof_serve", "GRANT SELECT ON line_now TO lineproof_serve", "are missing or changed: line_now: lineproof_serve may"},
		{"ALTER TABLE account DISABLE TRIGGER ALL", "ALTER TABLE account ENABLE TRIGGER ALL", "account: trigger"},
		{"CREATE FUNCTION back_door() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'", "DROP FUNCTION back_door()", "back_door(): function with the rights of the owner"},
	} {
		d.findings = nil
		exec := func(sql string) {
			if _, err := d.pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		exec(c.do)
		d.plannedRights(t.Context())
		exec(c.undo)
		var lines []string
		for _, f := range d.findings {
			lines = append(lines, f.line())
		}
		found := strings.Join(lines, "\n")
		if !strings.Contains(found, "fail  planned rights") || !strings.Contains(found, c.want) {
			t.Errorf("%s: %s, want %s", c.do, found, c.want)
		}
	}
}
