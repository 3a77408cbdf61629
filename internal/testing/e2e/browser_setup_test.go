package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// scriptsDir holds the scripts that drive the browser.
const scriptsDir = "../browser"

// needBrowser skips the test on a machine without what it needs, and says so.
// In CI a test that is not run proves nothing, so there it fails.
func needBrowser(t *testing.T) {
	t.Helper()
	lacks := ""
	for program, where := range map[string]string{"node": "Debian's nodejs", "chromium": "Debian's chromium"} {
		if _, err := exec.LookPath(program); err != nil {
			lacks = program + " (" + where + ")"
		}
	}
	if _, err := os.Stat(filepath.Join(scriptsDir, "node_modules", "playwright-core")); err != nil && lacks == "" {
		lacks = "playwright-core: run npm ci in internal/testing/browser"
	}
	switch {
	case testing.Short():
		t.Skip("needs PostgreSQL and a browser; not run with -short")
	case lacks == "":
	case os.Getenv("CI") == "true":
		t.Fatalf("there is no %s", lacks)
	default:
		t.Skipf("there is no %s", lacks)
	}
}

// startAt runs a server whose portal has the address http://localhost:PORT: to a
// browser that is a secure place, as one behind TLS is.
func startAt(t *testing.T, w *fixture, settings ...string) (p *instance, base string) {
	t.Helper()
	free := must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	at := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(at)
	base = "http://localhost:" + port
	return start(t, w, append([]string{"LINEPROOF_LISTEN=" + at, "LINEPROOF_PUBLIC_URL=" + base}, settings...)...), base
}

// seen is a line that a script prints. Finding is what must not be.
type seen struct {
	Finding string `json:"finding"`
	Role    string `json:"role"`
	Look    string `json:"look"`
	Page    string `json:"page"`

	Walk    string   `json:"walk"`
	Acts    int      `json:"acts"`
	Seconds float64  `json:"seconds"`
	Steps   []string `json:"steps"`
	Key     string   `json:"key"`

	Pages []string `json:"pages"`
	Note  string   `json:"note"`
}

// browse runs a script with its job, fails the test for each finding, and
// returns the other results.
func browse(t *testing.T, script string, job any) []seen {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", script)
	var complaint bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr = scriptsDir, bytes.NewReader(must(json.Marshal(job))(t)), &complaint
	out := must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var results []seen
	found := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r seen
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("%s printed something else than a result: %s", script, lines.Text())
			continue
		}
		if r.Finding == "" {
			results = append(results, r)
			continue
		}
		if found++; found <= 40 { // one mistake of a part is on many pages
			t.Errorf("%s, %s, %s: %s", r.Role, r.Look, r.Page, r.Finding)
		}
	}
	err := errors.Join(lines.Err(), cmd.Wait())
	if found > 0 {
		t.Errorf("%s has %d findings", script, found)
	} else if err != nil {
		t.Errorf("%s: %v: %s", script, err, complaint.String())
	}
	return results
}

// role is somebody who opens pages, with a session that is open already.
type role struct {
	Name    string    `json:"name"`
	Session string    `json:"session"`
	Also    []string  `json:"also"` // addresses to open besides the first of each shape
	account uuid.UUID // whose it is
}

// roles returns somebody of every kind: for the entities given, and staff.
func (w *fixture) roles(t *testing.T, bank, telco uuid.UUID) []role {
	t.Helper()
	return []role{
		{Name: "nobody"},
		w.guest(t, "admin", "admin", "", bank, false), w.guest(t, "member", "member", "", bank, false), w.guest(t, "telco", "admin", "", telco, false),
		w.guest(t, "administrator", "staff", "administrator", uuid.Nil, false), w.guest(t, "reviewer", "staff", "reviewer", uuid.Nil, false),
		w.guest(t, "auditor", "staff", "auditor", uuid.Nil, false), w.guest(t, "limited", "staff", "auditor", uuid.Nil, true),
	}
}

// guest makes an account, with two-factor authentication unless it is a member or limited, and
// opens a session for it.
func (w *fixture) guest(t *testing.T, name, kind, staffRole string, entity uuid.UUID, limited bool) role {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	w.exec(t, `INSERT INTO account (id, kind, entity_id, role, name, email, email_key, password_hash, verified_at, verified_by, created_at)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $6, 'x', now(), 'email', now())`, id, kind, pg.ID(entity), staffRole, name, name+"-"+id.String()+"@people.example")
	if kind != "member" && !limited {
		w.exec(t, `INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, '', now(), now())`, id)
	}
	var s access.NewSession
	err := pg.InTx(t.Context(), w.pool, func(tx pg.Tx) (err error) {
		s, err = w.keeper.OpenSession(t.Context(), tx, access.SessionForm{Portal: true, Account: id, Entity: entity, Limited: limited})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return role{Name: name, Session: s.Text.Reveal(), account: id}
}

// run runs a command of the program to its end, which must be a good one.
func (w *fixture) run(t *testing.T, settings []string, args ...string) {
	t.Helper()
	log := must(os.Create(filepath.Join(t.TempDir(), "command.log")))(t)
	p := launch(t, log, settings, args...)
	p.wait(t)
	if p.ExitCode() != 0 {
		t.Fatalf("%s ended with %d: %s", args[0], p.ExitCode(), p.output(t))
	}
}
