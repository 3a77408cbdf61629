package cli_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

const pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

// documentsTest is a machine with a running service, an onboarded entity, and a
// member of staff for each role.
type documentsTest struct {
	machine

	dir, url string
	at       []string          // the client's credentials
	staff    map[string]string // role to file with a session
}

func newDocumentsTest(t *testing.T) *documentsTest {
	t.Helper()
	d := &documentsTest{dir: t.TempDir(), url: pgtest.URL(t), staff: map[string]string{}}
	d.machine = newMachine(t, d.url, d.dir, "LINEPROOF_STAFF_SECOND_FACTOR=false")
	created := d.object(nil, "client", "create", "--name", "Telco", "--scope", "entity:onboard", "--scope", "document:upload")
	id, _ := created["clientId"].(string)
	secret, _ := created["clientSecret"].(string)
	at := "LINEPROOF_API_URL=" + d.serve()
	d.at = []string{at, "LINEPROOF_API_CLIENT_ID=" + id, "LINEPROOF_API_CLIENT_SECRET=" + secret}
	password := d.file("password", "quiet-harbour-94-lanterns\n")
	d.run(0, d.at, "api", "onboard", "--name", "Harmattan", "--cac", "RC1", "--admin-name", "Ada", "--admin-email", "ada@harmattan.example",
		"--admin-phone", "08031230000", "--password-file", password, "--document-required")
	for _, role := range []string{"administrator", "reviewer", "auditor"} {
		email := role + "@regulator.example"
		d.object(nil, "staff", "create", "--name", role, "--email", email, "--role", role, "--password-file", password)
		session, _ := d.run(0, d.at, "api", "login", "--email", email, "--password-file", password)
		d.staff[role] = d.file(role, session)
	}
	session, _ := d.run(0, d.at, "api", "login", "--email", "ada@harmattan.example", "--password-file", password)
	d.staff["admin"] = d.file("admin", session)
	return d
}

func (d *documentsTest) file(name, content string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// upload uploads a document and moves it through states, as the scanner would.
func (d *documentsTest) upload(kind string, states ...string) string {
	d.t.Helper()
	stdout, _ := d.run(0, d.at, "api", "upload", d.file("document.pdf", pdf), "--type", kind)
	id := strings.TrimSpace(stdout)
	pool, from := pgtest.Open(d.t, d.url, ""), "received"
	for i, state := range states {
		_, err := pool.Exec(d.t.Context(), `INSERT INTO document_move (document_id, seq, at, from_state, to_state, actor_kind, reason, note) VALUES ($1, $2, now(), $3, $4, 'system', '', '')`, id, i+1, from, state)
		if err == nil {
			_, err = pool.Exec(d.t.Context(), `UPDATE document SET state = $2, moved_at = now() WHERE id = $1`, id, state)
		}
		if err != nil {
			d.t.Fatal(err)
		}
		from = state
	}
	return id
}

// state returns the state of a document as printed by the command.
func (d *documentsTest) state(id string) string {
	d.t.Helper()
	state, _ := d.object(nil, "documents", "show", id)["state"].(string)
	return state
}

// review decides on a document over the API, as staff with the role.
func (d *documentsTest) review(id, role, body string) {
	d.t.Helper()
	session, err := os.ReadFile(d.staff[role])
	if err != nil {
		d.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, strings.TrimPrefix(d.at[0], "LINEPROOF_API_URL=")+"/api/regulator/v1/documents/"+id+"/review", strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(session)))
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		d.t.Errorf("review by the %s: %s", role, res.Status)
	}
}

// The operator lists the queue and sees each decision with its author, and the entity reads it
// over the API; a reviewer decides, and does nothing else with a document.
func TestReviewedDocumentsAreShown(t *testing.T) {
	t.Parallel()
	d := newDocumentsTest(t)
	first := d.upload("CAC_CERTIFICATE", "scanning", "clean")
	stdout, _ := d.run(0, nil, "documents", "list", "--state", "clean")
	if !strings.Contains(stdout, first) || !strings.Contains(stdout, "Harmattan") {
		t.Errorf("the queue is:\n%s", stdout)
	}
	for _, role := range []string{"reviewer", "auditor", "admin"} { // the last one is of an entity
		d.run(5, nil, "documents", "hold", first, "--reason", "x", "--session-file", d.staff[role])
	}
	d.run(2, nil, "documents", "hold", first)
	d.review(first, "reviewer", `{"decision":"rejected","reason":"The stamp cannot be read."}`)
	stdout, _ = d.run(0, nil, "documents", "show", first)
	if !strings.Contains(stdout, "rejected, by account") || !strings.Contains(stdout, "The stamp cannot be read.") {
		t.Errorf("the document is shown as:\n%s", stdout)
	}
	stdout, _ = d.run(0, d.at, "api", "documents", "show", first)
	if !strings.Contains(stdout, "rejected, by the regulator") || !strings.Contains(stdout, "The stamp cannot be read.") || strings.Contains(stdout, "account") {
		t.Errorf("the entity sees:\n%s", stdout)
	}

	second := d.upload("CAC_CERTIFICATE", "scanning", "clean")
	d.review(second, "administrator", `{"decision":"accepted"}`)
	list := d.object(d.at, "api", "documents", "list")
	if text, err := json.Marshal(list["requirements"]); err != nil || !strings.Contains(string(text), `"state":"accepted","type":"CAC_CERTIFICATE"`) {
		t.Errorf("required documents: %s", text)
	}
	_, notes := d.run(0, d.at, "api", "documents", "list", "--limit", "1")
	if !strings.Contains(notes, "OPERATING_LICENCE is required: missing") || !strings.Contains(notes, "--cursor ") {
		t.Errorf("the notes of the list are:\n%s", notes)
	}
	if shown := d.object(nil, "documents", "show", second); shown["replaces"] != first {
		t.Errorf("the second document replaces %v", shown["replaces"])
	}
}

// Pictures of the pages are written, for staff and the entity, and only if the document is
// clean; a client's credential does not get them.
func TestDocumentContentOnTheCommandLine(t *testing.T) {
	t.Parallel()
	d := newDocumentsTest(t)
	clean, waiting := d.upload("TAX_ID", "scanning", "clean"), d.upload("ADMIN_ID")
	d.run(5, d.at, "api", "documents", "content", clean)
	for _, role := range []string{"auditor", "admin"} {
		if stdout, _ := d.run(0, d.at, "api", "documents", "content", clean, "--token-file", d.staff[role]); !strings.Contains(stdout, "/Subtype/Image") {
			t.Errorf("the %s gets %q", role, stdout)
		}
		if stdout, stderr := d.run(5, d.at, "api", "documents", "content", waiting, "--token-file", d.staff[role]); stdout != "" || !strings.Contains(stderr, "state received") {
			t.Errorf("a document that waits: %q, %s", stdout, stderr)
		}
	}
}

// A document on hold cannot be deleted; a deleted document keeps its record; an
// infected document can be scanned again, which does not make it clean.
func TestDocumentsAreHeldDeletedAndRescanned(t *testing.T) {
	t.Parallel()
	d := newDocumentsTest(t)
	held, infected := d.upload("TAX_ID", "scanning", "clean"), d.upload("ADMIN_ID", "scanning", "infected")
	d.run(0, nil, "documents", "hold", held, "--reason", "Suit 12", "--session-file", d.staff["administrator"])
	_, stderr := d.run(5, nil, "documents", "delete", held, "--reason", "Not needed")
	if !strings.Contains(stderr, "legal hold") {
		t.Errorf("deleting a held document is refused with: %s", stderr)
	}
	d.run(0, nil, "documents", "release", held, "--reason", "Settled")
	d.run(0, nil, "documents", "delete", held, "--reason", "Not needed")
	if state := d.state(held); state != "deleted" {
		t.Errorf("the state of a deleted document is %s", state)
	}
	d.run(0, nil, "documents", "rescan", infected, "--reason", "A false alarm")
	if state := d.state(infected); state != "received" && state != "scanning" {
		t.Errorf("the state of a rescanned document is %s", state)
	}
	d.run(5, nil, "documents", "rescan", held, "--reason", "Why not")
}

// The check passes for intact files, and reports a missing and a changed file with
// their documents and exit code 6.
func TestDocumentsAreChecked(t *testing.T) {
	t.Parallel()
	d := newDocumentsTest(t)
	missing, changed := d.upload("TAX_ID", "scanning", "clean"), d.upload("ADMIN_ID", "scanning", "clean")
	d.upload("OTHER")
	d.run(0, nil, "documents", "check")
	d.run(0, nil, "documents", "check", "--deep")
	err := filepath.WalkDir(filepath.Join(d.dir, "data", "documents"), func(path string, _ os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.Contains(path, missing):
			return os.Remove(path)
		case strings.Contains(path, changed):
			if err := os.Chmod(path, 0o600); err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(pdf, "1.4", "1.5", 1)), 0o600)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for flag, damaged := range map[string]float64{"--deep=false": 1, "--deep": 2} {
		stdout, _ := d.run(6, nil, "documents", "check", flag, "--json")
		var report struct {
			Documents, Files float64
			Damaged          float64
			Found            []struct{ DocumentID, Problem string }
		}
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatal(err)
		}
		if report.Documents != 3 || report.Files != 2 || report.Damaged != damaged || len(report.Found) != int(damaged) {
			t.Errorf("%s found %s", flag, stdout)
		}
		for _, f := range report.Found {
			if want := map[string]string{missing: "missing", changed: "content"}[f.DocumentID]; f.Problem != want {
				t.Errorf("problem of %s is %s, want %s", f.DocumentID, f.Problem, want)
			}
		}
	}
}
