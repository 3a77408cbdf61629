package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The operator creates an organisation, invites its admin with a printed link,
// lists the account, resets its password, and disables accounts.
func TestOperatorManagesAccounts(t *testing.T) {
	t.Parallel()
	m := newMachine(t, pgtest.URL(t), t.TempDir(), "LINEPROOF_PUBLIC_URL=https://lineproof.example")
	at := m.serve()
	call := func(path string, body map[string]string) int {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(at+"/api/regulator/v1/"+path, "application/json", bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	bank, _ := m.object(nil, "entity", "create", "--name", "Harbour Bank", "--cac", "RC 1")["entityUid"].(string)
	token := func(path string, args ...string) string {
		stdout, _ := m.run(0, nil, args...)
		link, ok := strings.CutPrefix(strings.TrimSpace(stdout), "https://lineproof.example/portal/"+path+"#")
		if !ok {
			t.Fatalf("%q is not a link", stdout)
		}
		return link
	}
	const email = "ngozi@bank.example"
	accept := map[string]string{
		"token": token("invitation", "invite", "--email", email, "--kind", "admin", "--entity", bank, "--link"), "name": "Ngozi Eze", "password": "harmattan-38-dust",
	}
	if got := call("invitations/accept", accept); got != http.StatusOK {
		t.Fatalf("accepting: %d", got)
	}
	if got := call("login", map[string]string{"email": email, "password": "harmattan-38-dust"}); got != http.StatusOK {
		t.Errorf("login: %d", got)
	}
	if stdout, _ := m.run(0, nil, "account", "list", "--entity", bank); !strings.Contains(stdout, email) || !strings.Contains(stdout, "active") {
		t.Errorf("account list printed:\n%s", stdout)
	}
	reset := map[string]string{"token": token("reset", "account", "reset-password", email, "--link"), "newPassword": "monsoon-91-cloud"}
	if got := call("password-reset/complete", reset); got != http.StatusOK {
		t.Errorf("reset: %d", got)
	}
	m.run(5, nil, "account", "reset-factor", email) // the account has none
	m.run(5, nil, "account", "unlock-factor", email)
	m.run(5, nil, "account", "disable", email) // it is the bank's only admin
	m.run(0, nil, "invite", "--email", "second@bank.example", "--kind", "member", "--entity", bank)
	m.run(0, nil, "account", "disable", "second@bank.example")
	m.run(5, nil, "account", "disable", "second@bank.example")
	m.run(2, nil, "invite", "--email", "x@bank.example", "--kind", "member")
	m.run(2, nil, "invite", "--email", "x@bank.example", "--kind", "staff", "--entity", bank)
	m.run(2, nil, "invite", "--email", "x@bank.example", "--kind", "guest")
	if _, stderr := m.run(0, nil, "invite", "--email", "ada@regulator.example", "--kind", "staff", "--role", "administrator"); strings.Contains(stderr, "approval") {
		t.Errorf("the first administrator needs a second person:\n%s", stderr)
	}
}
