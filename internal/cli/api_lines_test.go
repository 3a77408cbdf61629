package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The api lines commands cover every operation on lines: an operator supplies,
// staff read and issue orders.
func TestAPILinesCommandsCoverEveryOperation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMachine(t, pgtest.URL(t), dir, "LINEPROOF_STAFF_SECOND_FACTOR=false")
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m.object(nil, "demo", "--accounts=false")
	at := "LINEPROOF_API_URL=" + m.serve()
	password := file("password", "quiet-harbour-94-lanterns\n")
	staff := func(email string) string {
		m.object(nil, "staff", "create", "--name", "Staff", "--email", email, "--role", "reviewer", "--password-file", password)
		stdout, _ := m.run(0, []string{at}, "api", "login", "--email", email, "--password-file", password)
		return file(email, stdout)
	}
	first, second := staff("first@regulator.example"), staff("second@regulator.example")
	created := m.object(nil, "client", "create", "--name", "MTN", "--scope", "line:supply", "--network", "MTN")
	id, _ := created["clientId"].(string)
	key, _ := created["clientSecret"].(string)
	mtn := []string{at, "LINEPROOF_API_CLIENT_ID=" + id, "LINEPROOF_API_CLIENT_SECRET=" + key}
	const number = "+2348035550001"
	daysAgo := func(n int) string { return time.Now().AddDate(0, 0, -n).Format(time.DateOnly) }

	stdout, _ := m.run(0, mtn, "api", "lines", "tell", number, "--id", "new-1", "--type", "ASSIGNED", "--effective-at", daysAgo(20), "--first-holder")
	if !strings.Contains(stdout, "APPLIED") {
		t.Errorf("api lines tell printed:\n%s", stdout)
	}
	m.run(6, mtn, "api", "lines", "tell", "+2348025550001", "--id", "new-1", "--type", "ASSIGNED", "--effective-at", "2026-01-01")

	events := file("events.csv", "id,number,type,effectiveAt,network\nswap-1,"+number+",SIM_CHANGED,"+daysAgo(10)+",\nold-1,"+number+",PORT_RELEASED,2026-02-01,AIRTEL\n"+
		"swap-2,"+number+",SIM_CHANGED,never,\n")
	sent, _ := m.object(mtn, "api", "lines", "send", "--kind", "events", events)["importId"].(string)
	deadline := time.After(30 * time.Second)
	for state := ""; state != "applied"; {
		select {
		case <-deadline:
			t.Fatalf("the import is %s", state)
		case <-time.After(100 * time.Millisecond):
			state, _ = m.object(mtn, "api", "lines", "import", sent)["state"].(string)
		}
	}
	if stdout, _ = m.run(0, mtn, "api", "lines", "refused", sent); !strings.HasPrefix(stdout, "line,column,reason\n4,effectiveAt,") {
		t.Errorf("api lines refused printed:\n%s", stdout)
	}
	if stdout, _ = m.run(0, []string{at}, "api", "lines", "imports", "--token-file", first); !strings.Contains(stdout, sent) {
		t.Errorf("api lines imports printed:\n%s", stdout)
	}
	if stdout, _ = m.run(0, mtn, "api", "lines", "supply"); !strings.Contains(stdout, "MTN") || strings.Contains(stdout, "AIRTEL") {
		t.Errorf("api lines supply printed:\n%s", stdout)
	}
	stdout, _ = m.run(0, []string{at}, "api", "lines", "history", number, "--token-file", first, "--reason", "Complaint 114 of 2026")
	if !strings.Contains(stdout, "ASSIGNED") || !strings.Contains(stdout, "SIM_CHANGED") || !strings.Contains(stdout, "tenure") {
		t.Errorf("api lines history printed:\n%s", stdout)
	}
	m.run(5, mtn, "api", "lines", "history", number, "--as-of", "2026-01-01")
	stdout, _ = m.run(0, []string{at}, "api", "lines", "conflicts", "--network", "MTN", "--held", "--token-file", first, "--json")
	var held []struct{ Event, ID, Reason, Status, IfConfirmed string }
	if err := json.Unmarshal([]byte(stdout), &held); err != nil || len(held) != 1 || held[0].ID != "old-1" || held[0].Reason != "TOO_OLD" {
		t.Fatalf("api lines conflicts printed %s", stdout)
	}
	stdout, _ = m.run(0, []string{at}, "api", "lines", "order", number, "--action", "CONFIRM", "--event", held[0].Event, "--note", "Seen", "--token-file", first)
	if !strings.Contains(stdout, "DONE") {
		t.Errorf("api lines order printed:\n%s", stdout)
	}
	if stdout, _ = m.run(0, []string{at}, "api", "lines", "conflicts", "--token-file", first); strings.Contains(stdout, "TOO_OLD") {
		t.Errorf("after the confirmation api lines conflicts printed:\n%s", stdout)
	}
	stdout, _ = m.run(0, []string{at}, "api", "lines", "order", number, "--action", "BAR", "--reason", "COURT", "--scope", "HOLDER", "--note", "Suit 12", "--token-file", first, "--json")
	var order struct {
		OrderID, State string
		LapsesAt       time.Time
	}
	if err := json.Unmarshal([]byte(stdout), &order); err != nil || order.State != "UNCONFIRMED" || order.LapsesAt.IsZero() {
		t.Fatalf("api lines order printed %s", stdout)
	}
	if stdout, _ = m.run(0, []string{at}, "api", "lines", "confirm", order.OrderID, "--token-file", second); !strings.Contains(stdout, "DONE") {
		t.Errorf("api lines confirm of a bar printed:\n%s", stdout)
	}
	stdout, _ = m.run(0, []string{at}, "api", "lines", "order", number, "--action", "BLACKLIST", "--note", "A case", "--token-file", first, "--json")
	if err := json.Unmarshal([]byte(stdout), &order); err != nil || order.State != "PENDING" {
		t.Fatalf("api lines order printed %s", stdout)
	}
	m.run(5, []string{at}, "api", "lines", "confirm", order.OrderID, "--token-file", first)
	if stdout, _ = m.run(0, []string{at}, "api", "lines", "confirm", order.OrderID, "--token-file", second); !strings.Contains(stdout, "DONE") {
		t.Errorf("api lines confirm printed:\n%s", stdout)
	}
}
