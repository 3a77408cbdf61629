package e2e_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// browserDatabase returns the address of a database, on a machine with a browser.
func browserDatabase(t *testing.T) string {
	t.Helper()
	needBrowser(t)
	return pgtest.URL(t)
}

// looks are the screens on which pages are seen, of which a run takes the first
// few.
var looks = []string{"desktop light", "phone dark", "desktop dark", "phone light"}

// Every page that somebody of any kind can reach by following links keeps to the
// rules of accessibility, can be used with a keyboard alone, is no wider than
// the screen, and says no error; it asks no other host for anything, and a first
// visit costs at most 150 kB. What is not theirs to see is not there. Somebody reaches
// every page that the server has.
func TestBrowserPages(t *testing.T) {
	g := newGallery(t, 3300, 3000, names["long"])
	p, base := g.startPublic(t)
	roles := append(g.roles(t, g.bank.ID, g.telco.ID), g.guest(t, "newcomer", "admin", "", g.empty, false))
	g.prepare(t, roles)
	wrong := map[string][]string{}
	for _, r := range roles {
		switch r.Name {
		case "nobody", "limited":
		case "admin", "newcomer", "telco":
			wrong[r.Name] = []string{"/portal/desk/entities", "/portal/keys/" + g.bank.ID.String()}
		case "member":
			wrong[r.Name] = []string{"/portal/team", "/portal/desk/audit"}
		default:
			wrong[r.Name] = []string{"/portal/keys", "/portal/team", "/portal/supply"}
		}
	}
	most := size(t, "LINEPROOF_E2E_PAGES", 8)
	results := browse(t, "axe.mjs", map[string]any{
		"base": base, "roles": roles, "wrong": wrong, "looks": looks[:size(t, "LINEPROOF_E2E_LOOKS", 1)], "most": most,
	})
	for _, s := range results {
		if s.Note != "" {
			t.Logf("%s: %s", s.Look, s.Note)
		} else if len(s.Pages) == 0 {
			t.Errorf("%s, %s: there are no pages", s.Role, s.Look)
		} else {
			t.Logf("%s, %s: %d pages: %s", s.Role, s.Look, len(s.Pages), strings.Join(s.Pages, " "))
		}
	}
	wantEveryPage(t, p, most, results)
}
