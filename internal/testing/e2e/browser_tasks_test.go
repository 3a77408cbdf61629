package e2e_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/testing/logtest"
)

// What each task may take: clicks, choices, fields and keys that submit, of everybody who
// takes part in it.
var taskLimits = []struct {
	task string
	acts int
}{
	{"admit a bank", 8},
	{"bar a number and have it confirmed", 10},
	{"confirm a held file", 6},
	{"find why a request was refused", 4},
	{"answer who asked about this number", 8},
	{"rotate a client's secret", 5},
	{"handle a scan alert", 5},
	{"review a document", 5},
	{"prove an answer", 4},
}

// The tasks that people come for take few acts, from their home page to the result, in a
// town with much else in it. Where a task needs two people, the acts of both count.
func TestBrowserTasks(t *testing.T) {
	g := newGallery(t, 3300, 300, names["yoruba"])
	_, file := logtest.NewKeyFile(t, logOrigin)
	p, base := startAt(t, g.fixture, "LINEPROOF_LOG_ORIGIN="+logOrigin, "LINEPROOF_LOG_KEY="+file)
	people := map[string]role{
		"administrator": g.guest(t, "Ada Obi", "staff", "administrator", uuid.Nil, false), "colleague": g.guest(t, "Bola Ade", "staff", "administrator", uuid.Nil, false),
		"reviewer": g.guest(t, "Chidi Eze", "staff", "reviewer", uuid.Nil, false), "second": g.guest(t, "Dayo Bello", "staff", "reviewer", uuid.Nil, false),
		"bank": g.guest(t, "Efua Mensah", "admin", "", g.bank.ID, false), "telco": g.guest(t, "Grace Musa", "admin", "", g.telco.ID, false),
	}
	const asked = "+2348037700001"
	answer := requestID(t, p, g.key.Text.Reveal(), asked, http.StatusOK)
	refused := requestID(t, p, g.key.Text.Reveal(), "0803", http.StatusBadRequest)
	g.await(t, "the refused request is kept", `SELECT count(*) > 0 FROM refused_request WHERE id = $1`, refused)
	download(t, p.public, receiptOf(answer), g.key.Text.Reveal()) // waits until the public log covers it

	took := map[string]seen{}
	for _, r := range browse(t, "tasks.mjs", map[string]any{
		"base": base, "people": people, "number": "+2348037700004", "asked": asked, "bank": names["yoruba"], "refused": refused, "answer": answer,
	}) {
		took[r.Walk] = r
	}
	t.Log("| task | acts | limit | seconds |")
	for _, l := range taskLimits {
		r := took[l.task]
		t.Logf("| %s | %d | %d | %.1f |", l.task, r.Acts, l.acts, r.Seconds)
		if r.Acts == 0 || r.Acts > l.acts {
			t.Errorf("%s: %d acts, want at most %d: %s", l.task, r.Acts, l.acts, strings.Join(r.Steps, ", "))
		}
	}
	for what, sql := range map[string]string{
		"the bank is there":      `SELECT count(*) = 1 FROM entity WHERE name = 'Savings Bank of Enugu' AND status = 'Approved'`,
		"the bar lasts":          `SELECT count(*) = 1 FROM line_order WHERE reason LIKE 'Fraud, case 31%' AND second_at IS NOT NULL`,
		"the file is applied":    `SELECT count(*) = 0 FROM supply_import WHERE state = '` + supply.Held + `'`,
		"one secret is left":     `SELECT count(*) = 1 FROM client_secret WHERE client_id = '` + g.client.ID.String() + `' AND revoked_at IS NULL`,
		"an alert is released":   `SELECT count(*) > 0 FROM guard_alert WHERE released_at IS NOT NULL`,
		"a document is accepted": `SELECT count(*) > 2 FROM document WHERE state = 'accepted'`,
	} {
		g.await(t, what, sql)
	}
}

var requestIDText = regexp.MustCompile(`"requestId":"([0-9a-f-]{36})"`)

// requestID asks about a number with a key, and returns the id of the answer.
func requestID(t *testing.T, p *instance, key, number string, status int) string {
	t.Helper()
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.public+verifyPath, strings.NewReader(`{"phoneNumber":"`+number+`"}`)))(t)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	code, body := answered(t, r)
	found := requestIDText.FindStringSubmatch(body)
	if code != status || found == nil {
		t.Fatalf("verify answered %d: %s", code, body)
	}
	return found[1]
}

// await waits until a query says true.
func (g *browserData) await(t *testing.T, what, sql string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		var is bool
		if err := g.pool.QueryRow(t.Context(), sql, args...).Scan(&is); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if is {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("not so: %s", what)
			return
		}
		<-time.After(200 * time.Millisecond)
	}
}
