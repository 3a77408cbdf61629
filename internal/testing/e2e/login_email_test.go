package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/mailtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// An e-mail whose cause was committed arrives, though the mail server was down
// and the service was killed before it could be sent; and its link makes the
// admin verified.
func TestLetterSurvivesAKill(t *testing.T) {
	w, post25 := newFixture(t, pgtest.URL(t)), mailtest.Start(t)
	post25.Refuse(450)
	mail := []string{"LINEPROOF_SMTP_URL=" + post25.URL(), "LINEPROOF_MAIL_FROM=no-reply@regulator.example", "LINEPROOF_PUBLIC_URL=https://lineproof.example"}
	first := start(t, w, mail...)
	const email, password = "ada@harmattan.example", "harmattan-38-dust"
	onboard := post(onboardPath, "application/json", encode(map[string]any{
		"cac": "RC 77", "name": "Harmattan Telecom", "isDocumentRequired": false, "adminName": "Ada Obi",
		"adminPhone": "+2348025550077", "adminEmail": email, "adminPassword": password,
	}), "Authorization", "Bearer "+w.token)
	conn := &wire{address: first.public}
	if got, err := conn.send(onboard); err != nil || got.status != http.StatusOK || !strings.Contains(string(got.body), `"isAdminVerified":false`) {
		t.Fatalf("onboarding: %d, %v: %s", got.status, err, got.body)
	}
	conn.close()
	process.Until(t, "the first attempt has failed", func() bool {
		var failed bool
		err := w.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM river_job WHERE kind = 'send_letter' AND state = 'retryable')`).Scan(&failed)
		return err == nil && failed
	})
	first.Kill()
	post25.Refuse(0)

	second := start(t, w, mail...)
	letter := post25.Wait(t, email, "Confirm your e-mail address")
	_, rest, _ := strings.Cut(letter.Text, "https://lineproof.example/portal/confirm#")
	token, _, _ := strings.Cut(rest, "\n")
	conn = &wire{address: second.public}
	defer conn.close()
	if got, err := conn.send(post("/api/regulator/v1/email/confirm", "application/json", encode(map[string]string{"token": token}))); err != nil || got.status != http.StatusOK {
		t.Fatalf("confirming: %d, %v: %s", got.status, err, got.body)
	}
	got, err := conn.send(post(loginPath, "application/json", encode(map[string]string{"email": email, "password": password})))
	var session struct {
		Data struct{ IsVerified bool }
	}
	if err != nil || json.Unmarshal(got.body, &session) != nil || !session.Data.IsVerified {
		t.Errorf("login after it: %d, %v: %s", got.status, err, got.body)
	}
	for _, p := range []*instance{first, second} {
		if log := p.output(t); strings.Contains(log, "harmattan.example") || strings.Contains(log, "lp_lnk_") {
			t.Errorf("the log knows the address or the link:\n%s", log)
		}
	}
}
