package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/pgtest"
)

const paper = "%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n"

// desk is a machine with a running service, an entity that has uploaded papers,
// and somebody of staff for each role.
type desk struct {
	machine

	dir, url string
	at       []string // the client's credentials
	staff    map[string]string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{dir: t.TempDir(), url: pgtest.URL(t), staff: map[string]string{}}
	d.machine = machine{t, []string{
		"LINEPROOF_DATABASE_URL=" + d.url, "LINEPROOF_DATA=" + filepath.Join(d.dir, "data"), "LINEPROOF_LISTEN=127.0.0.1:0",
		"LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0", "LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1", "LINEPROOF_STAFF_SECOND_FACTOR=false",
	}}
	made := d.object(nil, "client", "create", "--name", "Telco", "--scope", "entity:onboard", "--scope", "document:upload")
	id, _ := made["clientId"].(string)
	secret, _ := made["clientSecret"].(string)
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

func (d *desk) file(name, content string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// upload hands a paper in and takes it to a state, as the scanner would.
func (d *desk) upload(kind string, states ...string) string {
	d.t.Helper()
	stdout, _ := d.run(0, d.at, "api", "upload", d.file("paper.pdf", paper), "--type", kind)
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

// state returns the state of a document as the command shows it.
func (d *desk) state(id string) string {
	d.t.Helper()
	state, _ := d.object(nil, "documents", "show", id)["state"].(string)
	return state
}

// Staff decide at the command line within their roles; the operator may do
// everything; each decision is shown with who made it, and the caller reads it
// over the API.
func TestDocumentsAreDecidedUponAtTheCommandLine(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.upload("CAC_CERTIFICATE", "scanning", "clean")
	as := func(role string) string { return "--session-file=" + d.staff[role] }

	stdout, _ := d.run(0, nil, "documents", "list", "--state", "clean")
	if !strings.Contains(stdout, first) || !strings.Contains(stdout, "Harmattan") {
		t.Errorf("the queue is:\n%s", stdout)
	}
	d.run(5, nil, "documents", "accept", first, as("auditor"))
	d.run(5, nil, "documents", "accept", first, as("admin")) // of an entity
	d.run(5, nil, "documents", "hold", first, "--reason", "x", as("reviewer"))
	d.run(2, nil, "documents", "reject", first)
	d.run(0, nil, "documents", "reject", first, "--reason", "The stamp cannot be read.", as("reviewer"))
	_, complaint := d.run(5, nil, "documents", "accept", first)
	if !strings.Contains(complaint, "does not wait for a decision") {
		t.Errorf("a second decision was answered: %s", complaint)
	}
	stdout, _ = d.run(0, nil, "documents", "show", first)
	if !strings.Contains(stdout, "rejected, by account") || !strings.Contains(stdout, "The stamp cannot be read.") {
		t.Errorf("the document is shown as:\n%s", stdout)
	}
	stdout, _ = d.run(0, d.at, "api", "documents", "show", first)
	if !strings.Contains(stdout, "rejected, by the regulator") || !strings.Contains(stdout, "The stamp cannot be read.") || strings.Contains(stdout, "account") {
		t.Errorf("the caller is shown:\n%s", stdout)
	}

	second := d.upload("CAC_CERTIFICATE", "scanning", "clean")
	d.run(0, nil, "documents", "accept", second, as("administrator"))
	list := d.object(d.at, "api", "documents", "list")
	if text, err := json.Marshal(list["requirements"]); err != nil || !strings.Contains(string(text), `"state":"accepted","type":"CAC_CERTIFICATE"`) {
		t.Errorf("what is required: %s", text)
	}
	_, notes := d.run(0, d.at, "api", "documents", "list", "--limit", "1")
	if !strings.Contains(notes, "OPERATING_LICENCE is required: missing") || !strings.Contains(notes, "--cursor ") {
		t.Errorf("the list says beside the data:\n%s", notes)
	}
	if shown := d.object(nil, "documents", "show", second); shown["replaces"] != first {
		t.Errorf("the second document replaces %v", shown["replaces"])
	}
}

// A file is written byte for byte, never over another file, and only if it is
// clean; a client's credential does not get it.
func TestDocumentsAreWrittenOutAtTheCommandLine(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	clean, waiting := d.upload("TAX_ID", "scanning", "clean"), d.upload("ADMIN_ID")
	out := filepath.Join(d.dir, "out.pdf")
	d.run(0, nil, "documents", "content", clean, "--out", out, "--session-file", d.staff["auditor"])
	if got, err := os.ReadFile(out); err != nil || string(got) != paper {
		t.Errorf("%q was written (%v)", got, err)
	}
	d.run(1, nil, "documents", "content", clean, "--out", out)
	if stdout, _ := d.run(0, nil, "documents", "content", clean); stdout != paper {
		t.Errorf("%q was written", stdout)
	}
	if stdout, complaint := d.run(5, nil, "documents", "content", waiting); stdout != "" || !strings.Contains(complaint, "state received") {
		t.Errorf("a document that waits: %q, %s", stdout, complaint)
	}
	d.run(5, d.at, "api", "documents", "content", clean)
	if stdout, _ := d.run(0, d.at, "api", "documents", "content", clean, "--token-file", d.staff["admin"]); stdout != paper {
		t.Errorf("the caller gets %q", stdout)
	}
}

// A document on hold is not deleted; one that is deleted leaves its record; one
// that was found infected is scanned again, and not clean by that.
func TestDocumentsAreHeldDeletedAndRescanned(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	held, infected := d.upload("TAX_ID", "scanning", "clean"), d.upload("ADMIN_ID", "scanning", "infected")
	d.run(0, nil, "documents", "hold", held, "--reason", "Suit 12", "--session-file", d.staff["administrator"])
	_, complaint := d.run(5, nil, "documents", "delete", held, "--reason", "Not needed")
	if !strings.Contains(complaint, "legal hold") {
		t.Errorf("deleting what is held was answered: %s", complaint)
	}
	d.run(0, nil, "documents", "release", held, "--reason", "Settled")
	d.run(0, nil, "documents", "delete", held, "--reason", "Not needed")
	if state := d.state(held); state != "deleted" {
		t.Errorf("after its deletion the document is %s", state)
	}
	d.run(5, nil, "documents", "content", held)
	d.run(0, nil, "documents", "rescan", infected, "--reason", "A false alarm")
	if state := d.state(infected); state != "received" && state != "scanning" {
		t.Errorf("a document that is scanned again is %s", state)
	}
	d.run(5, nil, "documents", "rescan", held, "--reason", "Why not")
}

// The check is content with what is whole, and tells a file that is missing and
// one that was changed, by their documents and with exit code 6.
func TestDocumentsAreChecked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	gone, changed := d.upload("TAX_ID", "scanning", "clean"), d.upload("ADMIN_ID", "scanning", "clean")
	d.upload("OTHER")
	d.run(0, nil, "documents", "check")
	d.run(0, nil, "documents", "check", "--deep")
	err := filepath.WalkDir(filepath.Join(d.dir, "data", "documents"), func(path string, _ os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.Contains(path, gone):
			return os.Remove(path)
		case strings.Contains(path, changed):
			if err := os.Chmod(path, 0o600); err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(paper, "1.4", "1.5", 1)), 0o600)
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
			if want := map[string]string{gone: "missing", changed: "content"}[f.DocumentID]; f.Problem != want {
				t.Errorf("%s is called %s, want %s", f.DocumentID, f.Problem, want)
			}
		}
	}
}
