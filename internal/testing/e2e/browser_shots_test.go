package e2e_test

import (
	"os"
	"testing"
)

// Pictures of every page, for people to look at: with nothing, with one and with
// much in them, with long names and in other scripts, and of forms that were
// refused. LINEPROOF_E2E_SHOTS names the folder.
func TestBrowserShots(t *testing.T) {
	out := os.Getenv("LINEPROOF_E2E_SHOTS")
	if out == "" {
		t.Skip("LINEPROOF_E2E_SHOTS names no folder for the pictures; make screenshots does")
	}
	g := newGallery(t, 100_000, 100_000, names["long"])
	_, base := startAt(t, g.fixture)
	roles := append(g.roles(t, g.bank.ID, g.telco.ID),
		g.guest(t, "none", "admin", "", g.empty, false), g.guest(t, "one", "admin", "", g.one, false), g.guest(t, "solid", "admin", "", g.entities[2], false))
	g.prepare(t, roles)
	g.exec(t, `UPDATE entity SET name = $2 WHERE id = $1`, g.entities[2], names["solid"])
	g.exec(t, `UPDATE account SET name = $2 WHERE id = $1`, roles[1].account, names["long"])
	for _, s := range browse(t, "shots.mjs", map[string]any{
		"base": base, "roles": roles, "looks": looks[:size(t, "LINEPROOF_E2E_LOOKS", len(looks))], "most": size(t, "LINEPROOF_E2E_PAGES", 150), "out": out,
	}) {
		t.Logf("%s, %s: %d pages", s.Role, s.Look, len(s.Pages))
	}
}
