package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/mailtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// mostGuideSeconds is what the way from the landing page of the guide to a verified number
// may take, the reading of the tutorial included.
const mostGuideSeconds = 300

// An engineer of a new bank gets from the landing page of the guide to a verified number
// within five minutes. The guide keeps to the rules of accessibility on every page, its
// search and its menu work without scripts, and it asks no other host for anything.
func TestBrowserGuide(t *testing.T) {
	needBrowser(t)
	w, post25 := newFixture(t, pgtest.URL(t)), mailtest.Start(t)
	mail := []string{"LINEPROOF_SMTP_URL=" + post25.URL(), "LINEPROOF_MAIL_FROM=no-reply@regulator.example"}
	p, base := startAt(t, w, mail...)
	const email = "ngozi@bank.example"
	w.run(t, append(w.settings(), append(mail, "LINEPROOF_PUBLIC_URL="+base)...), "invite", "--email", email, "--kind", "admin", "--entity", w.bank.ID.String())
	_, rest, _ := strings.Cut(post25.Wait(t, email, "").Text, base+"/portal/invitation#")
	token, _, _ := strings.Cut(rest, "\n")
	walked := false
	for _, r := range browse(t, "guide.mjs", map[string]any{
		"base": base, "link": base + "/portal/invitation#" + token, "name": "Ngozi Eze", "password": "harmattan-38-dust",
		"looks": looks[:size(t, "LINEPROOF_E2E_LOOKS", 2)], "most": size(t, "LINEPROOF_E2E_PAGES", 12),
	}) {
		if r.Walk == "" {
			t.Logf("%s: %s", r.Look, r.Note)
			continue
		}
		walked = true
		t.Logf("%s: %d acts, %.1f s: %s", r.Walk, r.Acts, r.Seconds, strings.Join(r.Steps, ", "))
		if r.Seconds > mostGuideSeconds {
			t.Errorf("%s: %.1f s, want at most %d", r.Walk, r.Seconds, mostGuideSeconds)
		}
		if code, body := verifyWith(t, p, r.Key); code != http.StatusOK || !strings.Contains(body, `"NORMAL"`) {
			t.Errorf("the key is answered %d: %s", code, body)
		}
	}
	if !walked {
		t.Error("nobody walked from the landing page to an answer")
	}
}
