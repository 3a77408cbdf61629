package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// nationStatus is a status as lineproof-nation prints it. Each number counts something that
// must move.
type nationStatus struct {
	Answers, Events, Feed, Webhooks, Checkpoints, Checks int64
	Forged, Violations, Troubles                         int64
}

func (s nationStatus) moving() map[string]int64 {
	return map[string]int64{"answers": s.Answers, "events": s.Events, "feed": s.Feed, "webhooks": s.Webhooks, "checkpoints": s.Checkpoints, "checks of the monitor": s.Checks}
}

// nationLine is a line that lineproof-nation --json prints.
type nationLine struct {
	Step         string `json:"step"`
	Milliseconds int64  `json:"milliseconds"`
	Ready        *struct {
		Base     string `json:"base"`
		Accounts []struct{ Role, Email, Password string }
	} `json:"ready"`
	Status *nationStatus `json:"status"`
}

// emptyForHours is what a page says that fills only later: a watch-list is judged hours after
// its numbers were entered.
var emptyForHours = map[string]string{"desk/watch": "No list is on hold"}

// menuOf is the pages that each role finds in its menu, and that must show something.
var menuOf = map[string][]string{
	"staff, administrator": {
		"desk/home", "desk/entities", "desk/clients", "desk/documents", "desk/approvals", "desk/numbers", "desk/conflicts", "desk/supply", "desk/plan", "desk/policy",
		"desk/journal", "desk/who-asked", "desk/limits", "desk/watch", "desk/notices", "desk/audit", "desk/staff", "messages", "security",
	},
	"staff, reviewer": {"desk/home", "desk/entities", "desk/documents", "desk/conflicts", "desk/supply", "desk/limits", "desk/watch"},
	"staff, auditor":  {"desk/home", "desk/entities", "desk/approvals", "desk/supply", "desk/audit", "desk/notices"},
	"bank, admin":     {"home", "overview", "keys", "webhooks", "files", "requests", "journal", "corrections", "documents", "team", "profile"},
	"bank, member":    {"home", "overview", "journal", "corrections"},
	"operator, admin": {"home", "supply", "client", "documents", "team", "profile"},
}

// In the small nation of lineproof-nation everything moves: answers, events, checkpoints that
// two witnesses have signed, the feed, webhooks and the verdict of the monitor. Everybody
// who is listed can log in, and finds no empty page. It ends at once when it is interrupted,
// and goes on when it is started again.
//
// LINEPROOF_E2E_NATION is how many lines it has.
func TestSmallNationMoves(t *testing.T) {
	url := pgtest.Empty(t)
	n := startNation(t, url, size(t, "LINEPROOF_E2E_NATION", 20_000))
	first := n.status(t)
	var second nationStatus
	for round := range 2 {
		process.Until(t, "everything moves", func() bool {
			second = n.status(t)
			before, after := first.moving(), second.moving()
			for what := range before {
				if after[what] <= before[what] {
					return false
				}
			}
			return true
		})
		t.Logf("round %d: %+v", round+1, second)
		first = second
	}
	if second.Forged > 0 || second.Violations > 0 || second.Troubles > 0 {
		t.Errorf("%d webhooks are not genuine, the monitor has found %d violations, %d calls failed", second.Forged, second.Violations, second.Troubles)
	}
	n.visitPages(t)
	n.checkClients(t, url)
	children := childrenOf(t, n.PID())
	n.interrupt(t)
	for _, pid := range children {
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
			t.Errorf("process %d is left", pid)
		}
	}

	again := startProcess(t, n.program, n.settings, n.args)
	again.waitReady(t)
	for _, l := range again.lines(t) {
		if l.Step != "" && l.Milliseconds > 15_000 {
			t.Errorf("when it is started again %q takes %d ms", l.Step, l.Milliseconds)
		}
	}
	process.Until(t, "it answers and reports again", func() bool { s := again.status(t); return s.Answers > 0 && s.Events > 0 && s.Webhooks > 0 })
	again.interrupt(t)
}

// A database that has data of others is not touched.
func TestSmallNationRefusesForeignData(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	log := must(os.Create(filepath.Join(t.TempDir(), "nation.log")))(t)
	p := launchProgram(t, buildNation(t), log, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()}, "--listen", "127.0.0.1:0")
	p.wait(t)
	if p.ExitCode() != 5 || !strings.Contains(p.output(t), "the database is not empty") {
		t.Errorf("exit code %d: %s", p.ExitCode(), p.output(t))
	}
}

// smallNation is a running lineproof-nation.
type smallNation struct {
	*instance

	program        string
	settings, args []string
	base           string
	accounts       map[string]client.LoginRequest // by role, the first of each
}

func startNation(t *testing.T, url string, lines int) *smallNation {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	settings := []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()}
	args := []string{"--json", "--listen", "127.0.0.1:0", "--lines", strconv.Itoa(lines)}
	program := buildNation(t)
	began := time.Now()
	n := startProcess(t, program, settings, args)
	n.waitReady(t)
	for _, l := range n.lines(t) {
		if l.Step != "" {
			t.Logf("%-70s %6.1f s", l.Step, float64(l.Milliseconds)/1000)
		}
	}
	t.Logf("everything runs after %s", time.Since(began).Round(100*time.Millisecond))
	return n
}

// buildNation builds lineproof-nation and the program that it runs, as they are shipped, and returns the path of
// the first.
func buildNation(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if said, err := exec.Command("go", "build", "-o", dir+"/", "../../../cmd/lineproof", "../../../cmd/lineproof-nation").CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, said)
	}
	return filepath.Join(dir, "lineproof-nation")
}

func startProcess(t *testing.T, program string, settings, args []string) *smallNation {
	t.Helper()
	log := must(os.Create(filepath.Join(t.TempDir(), "nation.log")))(t)
	return &smallNation{instance: launchProgram(t, program, log, settings, args...), program: program, settings: settings, args: args, accounts: map[string]client.LoginRequest{}}
}

// lines returns what it has printed. Its notes for people are no JSON.
func (n *smallNation) lines(t *testing.T) (all []nationLine) {
	t.Helper()
	for text := range strings.Lines(string(must(os.ReadFile(n.log))(t))) {
		var l nationLine
		if json.Unmarshal([]byte(text), &l) == nil {
			all = append(all, l)
		}
	}
	return all
}

// waitReady waits until it has printed who can log in.
func (n *smallNation) waitReady(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Minute); n.base == ""; {
		select {
		case <-n.Ended():
			t.Fatalf("it ended with %d:\n%s", n.ExitCode(), n.output(t))
		case <-time.After(100 * time.Millisecond):
		}
		for _, l := range n.lines(t) {
			if l.Ready == nil {
				continue
			}
			n.base = l.Ready.Base
			for _, a := range l.Ready.Accounts {
				if _, there := n.accounts[a.Role]; !there {
					n.accounts[a.Role] = client.LoginRequest{Email: a.Email, Password: client.Secret(a.Password)}
				}
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not ready:\n%s", n.output(t))
		}
	}
}

// status returns the last status.
func (n *smallNation) status(t *testing.T) (s nationStatus) {
	t.Helper()
	for _, l := range n.lines(t) {
		if l.Status != nil {
			s = *l.Status
		}
	}
	return s
}

// visitPages logs in as each role and opens the pages of its menu.
func (n *smallNation) visitPages(t *testing.T) {
	t.Helper()
	for role, pages := range menuOf {
		login, there := n.accounts[role]
		if !there {
			t.Errorf("there is no account for %s", role)
			continue
		}
		session := n.signIn(t, login)
		for _, page := range pages {
			n.visit(t, role, page, session)
		}
	}
}

// checkClients looks at the clients of the operators: each belongs to the one organisation that
// it has onboarded, whose admins change its secrets.
func (n *smallNation) checkClients(t *testing.T, url string) {
	t.Helper()
	rows := must(pgtest.Open(t, url, "").Query(t.Context(), `SELECT name, sole FROM client WHERE $1 = ANY (scopes)`, client.ScopeOnboard))(t)
	clients := must(pgx.CollectRows(rows, pgx.RowToStructByName[struct {
		Name string
		Sole bool
	}]))(t)
	for _, c := range clients {
		if !c.Sole {
			t.Errorf("%s may onboard others", c.Name)
		}
	}
	if len(clients) != 4 {
		t.Errorf("there are %d clients of operators", len(clients))
	}
}

// signIn signs in to the portal and returns the cookie of the session.
func (n *smallNation) signIn(t *testing.T, who client.LoginRequest) *http.Cookie {
	t.Helper()
	form := url.Values{"email": {who.Email}, "password": {string(who.Password)}}
	req := must(http.NewRequestWithContext(t.Context(), http.MethodPost, n.base+"/portal/sign-in", strings.NewReader(form.Encode())))(t)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := (&http.Transport{}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for _, c := range res.Cookies() {
		if c.Name == "__Host-lineproof" {
			return c
		}
	}
	t.Fatalf("%s cannot sign in: %s", who.Email, res.Status)
	return nil
}

// visit opens a page, which must show something soon: notices about corrected answers, for
// one, take some seconds.
func (n *smallNation) visit(t *testing.T, role, page string, session *http.Cookie) {
	t.Helper()
	problem := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(time.Second) {
		if problem = n.open(t, page, session); problem == "" {
			return
		}
	}
	t.Errorf("%s: /portal/%s %s", role, page, problem)
}

// open opens a page and returns what is wrong with it.
func (n *smallNation) open(t *testing.T, page string, session *http.Cookie) (problem string) {
	t.Helper()
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, n.base+"/portal/"+page, http.NoBody))(t)
	req.AddCookie(session)
	res, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := must(io.ReadAll(res.Body))(t)
	if res.StatusCode != http.StatusOK || !strings.HasSuffix(res.Request.URL.Path, page) {
		return "has the status " + res.Status + " at " + res.Request.URL.Path
	}
	for rest := string(body); ; {
		_, after, empty := strings.Cut(rest, `<p class="empty-title">`)
		title, _, _ := strings.Cut(after, "<")
		if !empty || title != emptyForHours[page] {
			return map[bool]string{true: "is empty: " + title}[empty]
		}
		rest = after
	}
}

// interrupt ends it as Ctrl-C does.
func (n *smallNation) interrupt(t *testing.T) {
	t.Helper()
	if err := n.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	n.wait(t)
	if n.ExitCode() != 0 {
		t.Errorf("interrupted, it ends with %d:\n%s", n.ExitCode(), n.output(t))
	}
}

// childrenOf returns the processes that a process has started, and theirs.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	for _, list := range must(filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children"))(t) {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			child := must(strconv.Atoi(field))(t)
			all = append(append(all, child), childrenOf(t, child)...)
		}
	}
	return all
}
