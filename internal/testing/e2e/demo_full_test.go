package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
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

// nationStatus is a status as demo --full prints it. Each number counts something that
// must move.
type nationStatus struct {
	Answers, Events, Feed, Webhooks, Checkpoints, Checks int64
	Forged, Violations, Troubles                         int64
}

func (s nationStatus) moving() map[string]int64 {
	return map[string]int64{"answers": s.Answers, "events": s.Events, "feed": s.Feed, "webhooks": s.Webhooks, "checkpoints": s.Checkpoints, "checks of the monitor": s.Checks}
}

// nationLine is a line that demo --full --json prints.
type nationLine struct {
	Step         string `json:"step"`
	Milliseconds int64  `json:"milliseconds"`
	Ready        *struct {
		Base     string `json:"base"`
		Accounts []struct{ Role, Email, Password string }
	} `json:"ready"`
	Status *nationStatus `json:"status"`
}

// menuOf is the pages that each role finds in its menu, and that must show something.
var menuOf = map[string][]string{
	"staff, administrator": {
		"desk/home", "desk/entities", "desk/clients", "desk/documents", "desk/approvals", "desk/numbers", "desk/conflicts", "desk/supply", "desk/plan", "desk/policy",
		"desk/journal", "desk/who-asked", "desk/limits", "desk/watch", "desk/notices", "desk/audit", "desk/staff", "messages", "security",
	},
	"staff, reviewer":  {"desk/home", "desk/entities", "desk/documents", "desk/conflicts", "desk/supply", "desk/limits", "desk/watch"},
	"staff, auditor":   {"desk/home", "desk/entities", "desk/approvals", "desk/supply", "desk/audit", "desk/notices"},
	"bank, admin":      {"home", "overview", "keys", "webhooks", "files", "requests", "journal", "corrections", "documents", "team", "profile"},
	"bank, member":     {"home", "overview", "journal", "corrections"},
	"operator, admin":  {"home", "supply", "client", "documents", "team", "profile"},
	"operator, member": {"home", "supply"},
}

// In the small nation of demo --full everything moves: answers, events, checkpoints that
// two witnesses have signed, the feed, webhooks and the verdict of the monitor. Everybody
// who is listed can log in, and finds no empty page. It ends at once when it is interrupted,
// and goes on when it is started again.
//
// LINEPROOF_E2E_NATION is how many lines it has.
func TestDemoFullMoves(t *testing.T) {
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

	again := startProcess(t, n.settings, n.args)
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
func TestDemoFullRefusesForeignData(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	log := must(os.Create(filepath.Join(t.TempDir(), "nation.log")))(t)
	p := launch(t, log, []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()}, "demo", "--full", "--listen", "127.0.0.1:0")
	p.wait(t)
	if p.ExitCode() != 5 || !strings.Contains(p.output(t), "the database is not empty") {
		t.Errorf("exit code %d: %s", p.ExitCode(), p.output(t))
	}
}

// smallNation is a running demo --full.
type smallNation struct {
	*instance

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
	args := []string{"demo", "--full", "--json", "--listen", "127.0.0.1:0", "--lines", strconv.Itoa(lines)}
	began := time.Now()
	n := startProcess(t, settings, args)
	n.waitReady(t)
	for _, l := range n.lines(t) {
		if l.Step != "" {
			t.Logf("%-70s %6.1f s", l.Step, float64(l.Milliseconds)/1000)
		}
	}
	t.Logf("everything runs after %s", time.Since(began).Round(100*time.Millisecond))
	return n
}

func startProcess(t *testing.T, settings, args []string) *smallNation {
	t.Helper()
	log := must(os.Create(filepath.Join(t.TempDir(), "nation.log")))(t)
	return &smallNation{instance: launch(t, log, settings, args...), settings: settings, args: args, accounts: map[string]client.LoginRequest{}}
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
	api := &client.Client{BaseURL: n.base}
	for role, pages := range menuOf {
		login, there := n.accounts[role]
		if !there {
			t.Errorf("there is no account for %s", role)
			continue
		}
		session := must(api.Login(t.Context(), login))(t)
		for _, page := range pages {
			n.visit(t, role, page, session.Token)
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

// visit opens a page, which must show something soon: notices about corrected answers, for
// one, take some seconds.
func (n *smallNation) visit(t *testing.T, role, page string, session client.Secret) {
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
func (n *smallNation) open(t *testing.T, page string, session client.Secret) (problem string) {
	t.Helper()
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, n.base+"/portal/"+page, http.NoBody))(t)
	req.AddCookie(&http.Cookie{Name: "__Host-lineproof", Value: string(session)})
	res, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := must(io.ReadAll(res.Body))(t)
	if res.StatusCode != http.StatusOK || !strings.HasSuffix(res.Request.URL.Path, page) {
		return "has the status " + res.Status + " at " + res.Request.URL.Path
	}
	if _, rest, empty := strings.Cut(string(body), `<p class="empty-title">`); empty {
		title, _, _ := strings.Cut(rest, "<")
		return "is empty: " + title
	}
	return ""
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
