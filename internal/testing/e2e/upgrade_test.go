package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// A node serves every operation while migrations of a next release are applied, and after it.
func TestNodeServesDuringMigrations(t *testing.T) {
	w := newFixture(t, pgtest.URL(t))
	p := start(t, w)
	l := newMixedLoad(t, w, p.public, p.public, 40)
	l.begin("before the migrations")
	calm := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 2)) * time.Second
	pause(calm)
	l.phase("while they are applied")
	applyNext(t, must(filepath.Abs("../../.."))(t), pgtest.Open(t, w.url, "lineproof_owner"))
	l.phase("after the migrations")
	pause(2 * calm)
	l.end()
	l.finishJobs(t)
	l.report(t)
	l.check(t)
}

// maxBehindMigration is how long a request may take while migrations are applied: the time that
// the nodes of this test give a verification.
const (
	migrating          = "migrating"
	maxBehindMigration = 2 * time.Second
)

// rollingUpgrade is two nodes behind HAProxy, the programs of two releases, and callers.
type rollingUpgrade struct {
	*mixedLoad

	t        *testing.T
	cluster  *haCluster
	old, new string // programs
	calm     time.Duration
}

func newRollingUpgrade(t *testing.T) *rollingUpgrade {
	t.Helper()
	if os.Getenv("LINEPROOF_E2E_UPGRADE") == "" {
		t.Skip("needs HAProxy; run with make upgrade, and nightly")
	}
	root := must(filepath.Abs("../../.."))(t)
	u := &rollingUpgrade{t: t, old: previousRelease(t, root), new: nextRelease(t, root), calm: time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 10)) * time.Second}
	w := newFixture(t, startDurable(t)())
	w.exec(t, `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start)
		SELECT 2348050000000 + n, 1, 1, 1, 1, 0, n % 100000, n % 100000 FROM generate_series(1, $1) n`, size(t, "LINEPROOF_E2E_LINES", 100_000))
	w.exec(t, `ANALYZE line_now`)
	u.cluster = &haCluster{t: t, w: w}
	for i := range u.cluster.nodes {
		u.cluster.nodes[i] = &haNode{settings: []string{
			"LINEPROOF_LISTEN=" + freeAddress(t), "LINEPROOF_PRIVATE_LISTEN=" + freeAddress(t), fmt.Sprintf("LINEPROOF_NODE=%s-%d", nodeName, i+1),
			"LINEPROOF_TRUSTED_PROXIES=127.0.0.1/32", "LINEPROOF_DRAIN_DELAY=4s", "LINEPROOF_LOG_LEVEL=info", "LINEPROOF_VERIFY_TIMEOUT=2s",
		}}
		u.serve(i, u.old)
	}
	address := u.cluster.startProxy(root)
	u.mixedLoad = newMixedLoad(t, w, address, strings.TrimPrefix(u.cluster.nodes[0].settings[0], "LINEPROOF_LISTEN="), size(t, "LINEPROOF_E2E_RATE", 100))
	return u
}

// serve starts a node and waits until it is ready.
func (u *rollingUpgrade) serve(i int, program string) {
	u.t.Helper()
	node := u.cluster.nodes[i]
	log := must(os.Create(filepath.Join(u.t.TempDir(), "server.log")))(u.t)
	node.instance = launchProgram(u.t, program, log, append(u.cluster.w.settings(), node.settings...), "serve")
	ready := "http://" + strings.TrimPrefix(node.settings[1], "LINEPROOF_PRIVATE_LISTEN=") + "/readyz"
	process.Until(u.t, "the node is ready", func() bool {
		res, err := (&http.Client{Timeout: time.Second}).Get(ready)
		if err != nil {
			select {
			case <-node.Ended():
				u.t.Fatalf("the node ended:\n%s", node.output(u.t))
			default:
			}
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// replace stops the nodes one after the other and starts them with another program, as
// `systemctl restart` does after the installation of a package.
func (u *rollingUpgrade) replace(program, what string) {
	u.t.Helper()
	for i, node := range u.cluster.nodes {
		u.phase(fmt.Sprintf("%s, node %d", what, i+1))
		if err := node.Signal(syscall.SIGTERM); err != nil {
			u.t.Fatal(err)
		}
		node.wait(u.t)
		if code := node.ExitCode(); code != 0 {
			u.t.Errorf("%s: node %d ended with %d:\n%s", what, i+1, code, node.output(u.t))
		}
		u.serve(i, program)
		pause(3 * time.Second) // until HAProxy has seen that it is ready
	}
}

// command runs a command that docs/how-to/upgrade.md names, and returns what it printed.
func (u *rollingUpgrade) command(program string, args ...string) (output string, code int) {
	u.t.Helper()
	text := strings.Join(append([]string{"lineproof"}, args...), " ")
	if guide := must(os.ReadFile("../../../docs/how-to/upgrade.md"))(u.t); !strings.Contains(string(guide), text) {
		u.t.Errorf("docs/how-to/upgrade.md does not name the command %q", text)
	}
	log := must(os.Create(filepath.Join(u.t.TempDir(), "command.log")))(u.t)
	p := launchProgram(u.t, program, log, u.cluster.w.settings(), args...)
	<-p.Ended()
	return p.output(u.t), p.ExitCode()
}

// mustSay runs a command whose output has to have a text.
func (u *rollingUpgrade) mustSay(program, want string, args ...string) {
	u.t.Helper()
	if out, _ := u.command(program, args...); !strings.Contains(out, want) {
		u.t.Errorf("lineproof %s does not say %q:\n%s", strings.Join(args, " "), want, out)
	}
}

// migrate brings the schema to the next release while somebody keeps a large table open.
func (u *rollingUpgrade) migrate() {
	u.t.Helper()
	conn := must(pgx.Connect(u.t.Context(), u.cluster.w.url+"&application_name=report"))(u.t)
	defer conn.Close(u.t.Context())
	tx := must(conn.Begin(u.t.Context()))(u.t)
	_ = must(tx.Exec(u.t.Context(), `SELECT count(*) FROM line_now`))(u.t)
	released := make(chan error, 1)
	time.AfterFunc(5*time.Second, func() { released <- tx.Rollback(u.t.Context()) })
	began := time.Now()
	out, code := u.command(u.new, "migrate")
	if err := <-released; err != nil {
		u.t.Errorf("end the report: %v", err)
	}
	u.t.Logf("lineproof migrate took %s:\n%s", time.Since(began).Round(time.Millisecond), out)
	if code != 0 || !strings.Contains(out, "(report, login postgres) holds a lock on line_now") || strings.Count(out, " waits: ") != 1 || !strings.Contains(out, "the schema is up to date") {
		u.t.Errorf("lineproof migrate ended with %d, and does not say, once, for whom it waited", code)
	}
}

// Two nodes behind HAProxy are upgraded and taken back to the release before, one by one, under
// requests to all operations: none fails, and nothing that was acknowledged is lost or doubled.
func TestUpgrade(t *testing.T) {
	u := newRollingUpgrade(t)
	w := u.cluster.w
	u.begin("release before")
	pause(u.calm)
	u.mustSay(u.new, "90011", "migrate", "status")
	u.mustSay(u.new, "would apply 90001_column_line: locks for a moment: line_now", "migrate", "--dry-run")
	u.phase(migrating)
	u.migrate()
	u.phase("release before, new schema")
	pause(u.calm)
	u.mustSay(u.old, "of a newer release", "doctor")
	u.replace(u.new, "upgrade")
	u.phase("new release")
	pause(u.calm)
	u.mustSay(u.new, "rights, triggers and functions are those of this program", "doctor")
	u.replace(u.old, "rollback")
	u.phase("release before again")
	pause(u.calm)
	u.end()
	u.finishJobs(t)
	for _, node := range u.cluster.nodes {
		if log := must(os.ReadFile(node.log))(t); !strings.Contains(string(log), "the schema is that of a newer release") {
			t.Error("a node of the release before does not log that the schema is newer")
		}
		node.terminate(t)
		node.wait(t)
	}
	w.pool.Reset()
	requests := u.report(t)
	// On a busy machine requests take long without a migration, too.
	calmest, _ := u.phases[0].longest()
	for _, p := range u.phases {
		if took, operation := p.longest(); p.name == migrating && took > max(maxBehindMigration, 2*calmest) {
			t.Errorf("%s: a request took %s (%s), and at most %s before it", p.name, took, operation, calmest)
		}
	}
	u.check(t)
	for _, program := range []string{u.old, u.new} {
		if out, code := u.command(program, "journal", "check"); code != 0 {
			t.Errorf("lineproof journal check ended with %d:\n%s", code, out)
		}
	}
	t.Logf("%d requests at %d/s over %d operations, %d pages", requests, u.rate, len(operations), len(u.pages))
}
