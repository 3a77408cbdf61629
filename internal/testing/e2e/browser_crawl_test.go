package e2e_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/mailtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// What a bank may ask of somebody who comes for the first time.
const (
	mostActs     = 12  // clicks, fields and keys
	mostLiveActs = 16  // for a live key, which needs two-factor authentication
	mostSeconds  = 120 // at the pace of somebody who does not hurry
)

// An admin of a new bank gets from the e-mail that invites them to an answered
// request within two minutes and a dozen clicks, fields and keys, with a key for
// tests, which the form offers first. With a live key, for which they set up
// two-factor authentication, it takes at most sixteen. Without scripts they get
// there, too. LINEPROOF_E2E_PICTURES names a folder for pictures of what they see.
func TestBrowserWalk(t *testing.T) {
	needBrowser(t)
	w, post25 := newFixture(t, pgtest.URL(t)), mailtest.Start(t)
	mail := []string{"LINEPROOF_SMTP_URL=" + post25.URL(), "LINEPROOF_MAIL_FROM=no-reply@regulator.example"}
	p, base := startAt(t, w, mail...)
	for email, tc := range map[string]struct{ scripts, live bool }{
		"ngozi@bank.example": {scripts: true}, "bola@bank.example": {}, "tunde@bank.example": {scripts: true, live: true}, "sade@bank.example": {live: true},
	} {
		invite := append(w.settings(), append(mail, "LINEPROOF_PUBLIC_URL="+base)...)
		w.run(t, invite, "invite", "--email", email, "--kind", "admin", "--entity", w.bank.ID.String())
		letter := post25.Wait(t, email, "")
		_, rest, _ := strings.Cut(letter.Text, base+"/portal/invitation#")
		token, _, _ := strings.Cut(rest, "\n")
		acts, prefix, status, pictures := mostActs, "lp_test_", `"NORMAL"`, os.Getenv("LINEPROOF_E2E_PICTURES")
		if tc.live { // to a live key a test number is one that is not allocated
			acts, prefix, status, pictures = mostLiveActs, "lp_live_", `"UNALLOCATED"`, ""
		}
		for _, r := range browse(t, "walk.mjs", map[string]any{
			"base": base, "link": base + "/portal/invitation#" + token, "name": "Ngozi Eze", "email": email, "password": "harmattan-38-dust", "scripts": tc.scripts, "live": tc.live, "pictures": pictures,
		}) {
			t.Logf("%s: %d clicks, fields and keys, %.1f s: %s", r.Walk, r.Acts, r.Seconds, strings.Join(r.Steps, ", "))
			if r.Acts > acts || r.Seconds > mostSeconds {
				t.Errorf("%s: %d acts in %.1f s, want at most %d in %d s", r.Walk, r.Acts, r.Seconds, acts, mostSeconds)
			}
			if code, body := verifyWith(t, p, r.Key); code != http.StatusOK || !strings.Contains(body, status) || !strings.HasPrefix(r.Key, prefix) {
				t.Errorf("%s: the key is answered %d: %s", r.Walk, code, body)
			}
		}
	}
	if log := p.output(t); strings.Contains(log, "lp_test_") || strings.Contains(log, "lp_live_") || strings.Contains(log, "lp_lnk_") || strings.Contains(log, "bank.example") {
		t.Errorf("the log knows a key, a link or an address:\n%s", log)
	}
}

// verifyWith asks about a test number with a key.
func verifyWith(t *testing.T, p *instance, key string) (status int, body string) {
	t.Helper()
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.public+verifyPath, strings.NewReader(`{"phoneNumber":"+2347290000000"}`)))(t)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	return answered(t, r)
}

// answered sends a request.
func answered(t *testing.T, r *http.Request) (status int, body string) {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, string(must(io.ReadAll(answer.Body))(t))
}
