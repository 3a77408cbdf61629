package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// machine is the environment in which the commands of one test run.
type machine struct {
	t       *testing.T
	environ []string
}

// newMachine returns a machine with the database at url and its files in dir, which serves on
// ports of its own and hashes passwords quickly.
func newMachine(t *testing.T, url, dir string, settings ...string) machine {
	return machine{t, append([]string{
		"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + filepath.Join(dir, "data"), "LINEPROOF_LISTEN=127.0.0.1:0", "LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0",
		"LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1", "LINEPROOF_VERIFY_TIMEOUT=8s", // the disk of a busy machine may stall
	}, settings...)}
}

// run runs a command that must return the exit code want.
func (m machine) run(want int, environ []string, args ...string) (stdout, stderr string) {
	m.t.Helper()
	var out, errOut bytes.Buffer
	got := cli.Main(m.t.Context(), cli.Env{
		Args: args, Environ: append(slices.Clip(m.environ), environ...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
	})
	if got != want {
		m.t.Fatalf("lineproof %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, want, errOut.String())
	}
	return out.String(), errOut.String()
}

// object runs a command that prints JSON.
func (m machine) object(environ []string, args ...string) map[string]any {
	m.t.Helper()
	stdout, _ := m.run(0, environ, append(args, "--json")...)
	var v map[string]any
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		m.t.Fatalf("lineproof %s: %v", strings.Join(args, " "), err)
	}
	m.checkNames(stdout, args)
	return v
}

// goName is a member that has the name of a field in Go, because nobody gave it one.
var goName = regexp.MustCompile(`(?m)^ *"([A-Z][a-zA-Z]*[a-z][a-zA-Z]*)": `)

// checkNames fails if a member of what is printed as JSON has a name in Go's spelling.
func (m machine) checkNames(printed string, args []string) {
	m.t.Helper()
	if found := goName.FindStringSubmatch(printed); found != nil {
		m.t.Errorf("lineproof %s: the JSON has the member %s", strings.Join(args, " "), found[1])
	}
}

// list runs a command that prints a list as JSON.
func (m machine) list(environ []string, args ...string) (v []map[string]any) {
	m.t.Helper()
	stdout, _ := m.run(0, environ, append(args, "--json")...)
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		m.t.Fatalf("%v is not a list: %v\n%s", args, err, stdout)
	}
	m.checkNames(stdout, args)
	return v
}

// serve runs the service until the test ends, and returns its address.
func (m machine) serve() string {
	m.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	log, w := io.Pipe()
	exited := make(chan int, 1)
	go func() {
		code := cli.Main(ctx, cli.Env{Args: []string{"serve"}, Environ: m.environ, Stdout: w, Stderr: w})
		_ = w.Close()
		exited <- code
	}()
	lines := bufio.NewScanner(log)
	address := ""
	for address == "" && lines.Scan() {
		var entry struct{ Msg, Public string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
			address = "http://" + entry.Public
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	m.t.Cleanup(func() {
		stop()
		if code := <-exited; code != 0 {
			m.t.Errorf("serve: exit code %d", code)
		}
	})
	if address == "" {
		m.t.Fatal("the service did not log its address")
	}
	return address
}

// The api commands cover every operation of a running service, with credentials
// from the environment and from files. A request that the service refuses is exit
// code 5 with the reasons. The answer of verify is in the journal.
func TestAPICommandsCoverEveryOperation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMachine(t, pgtest.URL(t), dir)
	demo := m.object(nil, "demo")
	text := func(v any) string {
		s, ok := v.(string)
		if !ok {
			t.Fatalf("%v is not a string", v)
		}
		return s
	}
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	address := m.serve()
	at := "LINEPROOF_API_URL=" + address
	// A second service on the same address is not reported as a database error.
	m.run(1, []string{"LINEPROOF_LISTEN=" + strings.TrimPrefix(address, "http://")}, "serve")
	password := file("password", "quiet-harbour-94-lanterns\n")
	secretFile := file("secret", text(demo["clientSecret"])+"\n")
	withClient := []string{at, "LINEPROOF_API_CLIENT_ID=" + text(demo["clientId"])}
	withKey := []string{at, "LINEPROOF_API_KEY=" + text(demo["apiKey"])}

	stdout, _ := m.run(0, withClient, "api", "token", "--client-secret-file", secretFile)
	token := strings.TrimSpace(stdout)
	if !strings.HasPrefix(token, "lp_tok_") {
		t.Errorf("api token did not print only the token")
	}
	onboard := []string{
		"api", "onboard", "--name", "Example Telecom", "--cac", "RC654321", "--admin-name", "Ada Obi",
		"--admin-email", "ada@telecom.example", "--admin-phone", "+2348031230000", "--password-file", password,
	}
	entity := m.object([]string{at, "LINEPROOF_API_TOKEN=" + token}, onboard...)
	if entity["entityStatus"] != "Approved" {
		t.Errorf("api onboard: entityStatus = %v", entity["entityStatus"])
	}
	_, stderr := m.run(5, withClient, append(onboard, "--client-secret-file", secretFile)...)
	if !strings.Contains(stderr, "already belongs to an account") || strings.Contains(stderr, "adminEmail") || strings.Contains(stderr, "telecom.example") {
		t.Errorf("the second onboarding is refused with:\n%s", stderr)
	}

	stdout, _ = m.run(0, []string{at}, "api", "login", "--email", "ada@telecom.example", "--password-file", password)
	session := file("session", stdout)
	document := file("certificate.pdf", "%PDF-1.4\n%%EOF\n")
	if id := m.object([]string{at}, "api", "upload", document, "--type", "CAC_CERTIFICATE", "--token-file", session)["documentId"]; text(id) == "" {
		t.Error("api upload printed no id")
	}
	m.run(5, []string{at, "LINEPROOF_API_PASSWORD=wrong-password"}, "api", "login", "--email", "ada@telecom.example")

	stdout, _ = m.run(0, withKey, "api", "verify", "0803 123 4567")
	if !strings.Contains(stdout, "NORMAL") || !strings.Contains(stdout, "MTN") {
		t.Errorf("api verify printed:\n%s", stdout)
	}
	answer := m.object(withKey, "api", "verify", "+2348031234567")
	record := m.object(nil, "journal", "get", "--reason", "Complaint 2026/114", text(answer["requestId"]))
	for _, field := range []string{"requestId", "phoneNumber", "status", "mobileNetwork", "verificationTimestamp"} {
		if record[field] != answer[field] {
			t.Errorf("%s: answered %v, recorded %v", field, answer[field], record[field])
		}
	}
	stdout, _ = m.run(0, nil, "journal", "get", "--reason", "Complaint 2026/114", text(answer["requestId"]))
	if !strings.Contains(stdout, `"+2348031234567"`) {
		t.Errorf("journal get printed:\n%s", stdout)
	}
	if out, _ := m.run(0, nil, "audit", "list", "--action", "journal.read"); strings.Count(out, text(answer["requestId"])) != 2 || !strings.Contains(out, "Complaint 2026/114") {
		t.Errorf("two readings of a record left in the audit trail:\n%s", out)
	}
	more := m.object(withKey, "api", "verify", "+2348031234567", "--since", "2026-01-02", "--include", "coverage,dates,signals")
	record = m.object(nil, "journal", "get", "--reason", "Complaint 2026/114", text(more["requestId"]))
	for _, field := range []string{"signals", "coverage", "dates", "changedSince", "changes"} {
		if more[field] == nil || !strings.Contains(text(record["extra"]), `"`+field+`":`) {
			t.Errorf("%s: answered %v, recorded in %v", field, more[field], record["extra"])
		}
	}
	stdout, _ = m.run(0, nil, "journal", "get", "--reason", "Complaint 2026/114", text(more["requestId"]))
	if !strings.Contains(stdout, text(record["extra"])) || record["options"] != "since=2026-01-02T00:00:00Z include=coverage,dates,signals" {
		t.Errorf("journal get printed, of the options %v:\n%s", record["options"], stdout)
	}
	stdout, _ = m.run(0, withKey, "api", "verify", "+2348031234567", "--since", "2026-01-02", "--include", "coverage,dates,signals")
	if !strings.Contains(stdout, "changed ") || !strings.Contains(stdout, "supplied through ") {
		t.Errorf("api verify printed:\n%s", stdout)
	}
	if named := m.object(withKey, "api", "verify", "+2348031234567", "--external-id", "loan 4711"); named["externalId"] != "loan 4711" {
		t.Errorf("api verify with an id of ours printed %v", named)
	}
	if out, _ := m.run(0, withKey, "api", "batch", "0803 123 4567", "12"); !strings.Contains(out, "NORMAL") || !strings.Contains(out, "INVALID_ARGUMENT") {
		t.Errorf("api batch printed:\n%s", out)
	}
	if list := m.list(withKey, "api", "batch", "0803 123 4567", "12"); len(list) != 2 || list[0]["status"] != "NORMAL" || list[0]["error"] != nil || list[1]["error"] == nil {
		t.Errorf("api batch printed %v", list)
	}
	for _, form := range []string{"--tlog-proof=false", "--tlog-proof"} {
		if _, said := m.run(5, withKey, "api", "receipt", form, text(answer["requestId"])); !strings.Contains(said, "no public log") {
			t.Errorf("api receipt without a log is refused with:\n%s", said)
		}
	}
	_, stderr = m.run(5, withKey, "api", "verify", "+2348031234567", "--since", "2999-01-01")
	if !strings.Contains(stderr, "OUT_OF_RANGE") {
		t.Errorf("a since in the future is refused with:\n%s", stderr)
	}
	_, stderr = m.run(5, withKey, "api", "verify", "12")
	if !strings.Contains(stderr, "INVALID_ARGUMENT") {
		t.Errorf("a malformed number is refused with:\n%s", stderr)
	}
}

// Errors before the request is sent, and a service that is unavailable, have
// other exit codes than a refused request.
func TestAPICommandsReportWhatIsMissing(t *testing.T) {
	t.Parallel()
	m := machine{t, []string{"LINEPROOF_API_URL=http://127.0.0.1:1"}}
	m.run(2, nil, "api", "verify", "+2348031234567")
	m.run(2, []string{"LINEPROOF_API_KEY=k"}, "api", "verify", "+2348031234567", "--since", "yesterday")
	m.run(2, []string{"LINEPROOF_API_KEY=k"}, "api", "verify", "+2348031234567", "--include", "everything")
	m.run(2, nil, "api", "token")
	m.run(2, nil, "api", "upload", "x.pdf", "--type", "OTHER")
	m.run(2, nil, "api", "login", "--email", "a@b.example")
	_, stderr := m.run(3, []string{"LINEPROOF_API_KAY=lp_live_x"}, "api", "verify", "+2348031234567")
	if !strings.Contains(stderr, "LINEPROOF_API_KAY") || strings.Contains(stderr, "lp_live_x") {
		t.Errorf("a misspelt variable: %s", stderr)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var errOut bytes.Buffer
	code := cli.Main(ctx, cli.Env{
		Args: []string{"api", "verify", "+2348031234567"}, Environ: append(m.environ, "LINEPROOF_API_KEY=k"),
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errOut,
	})
	if code != 1 || errOut.String() != "lineproof: interrupted\n" {
		t.Errorf("an interrupted command: exit code %d\n%s", code, errOut.String())
	}
}
