package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

const restorePage = "../../../docs/how-to/back-up-and-restore.md"

// After the loss of a server, what the page about restoring says brings back
// every answer that was given before the chosen moment, once and as it was told,
// and none from after it; the journal's check finds nothing; and the service
// goes on under an epoch that was never used before, here or on the lost server.
func TestRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	d := newDrill(t)
	w := newFixture(t, d.lost.URL("lineproof"))
	p := start(t, w)

	// Under load, the base backup; then some more of it.
	before, after := newLedger(t), newLedger(t)
	d.load(w, p, before, func() { d.follow("pg_basebackup") })
	var moment string
	d.read(w, `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00')`, &moment)
	d.load(w, p, after, func() { <-time.After(300 * time.Millisecond) })
	// Then nodes start; more often than the counter may be ahead in the log.
	var used int64
	d.read(w, `SELECT max(nextval('journal_epoch')) FROM generate_series(1, 40)`, &used)
	d.lose(w, p)

	d.replace["2026-11-14 09:30:00.000000+00"] = moment
	said := d.follow("recovery.signal", "journal new-epoch")
	restored := *w
	restored.url = strings.Replace(w.url, ":"+d.lostPort()+"/", ":"+d.port+"/", 1)
	restored.pool = pgtest.Open(t, restored.url, "")

	told := before.read(t)
	if n := tally(told); n["verify ok"] < 20 || n["onboard ok"] == 0 {
		t.Errorf("before the moment there was no load, so this proves nothing: %v", n)
	}
	report(t, &checker{world: &restored, book: told})
	var later []string
	for _, e := range after.read(t) {
		if e.sent.Asked != nil && e.outcome() == okay {
			later = append(later, e.answered().Told.RequestID)
		}
	}
	var there int
	d.read(&restored, fmt.Sprintf(`SELECT count(*) FROM journal_entry WHERE request_id::text IN ('%s')`, strings.Join(later, "','")), &there)
	if len(later) < 10 || there != 0 {
		t.Errorf("of %d answers from after the moment %d are there", len(later), there)
	}
	var back int64
	if _, err := fmt.Sscanf(between(said, "last epoch before", "\n"), "%d", &back); err != nil || back >= used {
		t.Errorf("the counter came back at %d (%v), which is not below the %d that was used, so this proves nothing", back, err, used)
	}

	next := start(t, &restored)
	d.load(&restored, next, newLedger(t), func() { <-time.After(200 * time.Millisecond) })
	next.terminate(t)
	next.wait(t)
	var first int64
	d.read(&restored, `SELECT min(epoch) FROM journal_batch WHERE at > '`+moment+`'`, &first)
	if first <= used {
		t.Errorf("the service goes on in epoch %d, and the lost server had used up to %d", first, used)
	}
	r := must((&journal.Checker{Pool: restored.pool, Limit: 5}).Check(t.Context(), time.Time{}, time.Time{}))(t)
	if !r.OK() || r.Entries == 0 {
		t.Errorf("after the restore and some more answers: %+v", r)
	}
	t.Logf("restored to %s: %v before it, %d answers after it", moment, tally(told), len(later))
}

// drill follows the page, with its directory and its port replaced.
type drill struct {
	t       *testing.T
	page    string
	dir     string // instead of /srv
	port    string // instead of 5433
	lost    *pgtest.Cluster
	replace map[string]string
	as      *syscall.SysProcAttr // the user of the server
}

func newDrill(t *testing.T) *drill {
	t.Helper()
	d := &drill{t: t, page: string(must(os.ReadFile(restorePage))(t))}
	d.dir = must(os.MkdirTemp("", "lineproof-restore-"))(t) //nolint:usetesting // into the test's own directories the user of the server would not get
	// The restored server must not outlive the test, however that ends.
	done := must(process.AtExit(`server=$(head -1 "$0/restored/postmaster.pid" 2>/dev/null) && kill -QUIT "$server" && for i in 1 2 3 4 5 6 7 8 9 10; do
		[ -e "$0/restored/postmaster.pid" ] || break; sleep 0.2; done; rm -rf "$0"`, d.dir))(t)
	t.Cleanup(done)
	d.port = strconv.Itoa(must(process.FreePort(t.Context()))(t))
	d.replace = map[string]string{"/srv": d.dir, "5433": d.port}
	if err := os.MkdirAll(filepath.Join(d.dir, "backup", "wal"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.install()
	settings := strings.Split(strings.TrimSpace(d.words(between(d.page, "```ini\n", "```"))), "\n")
	settings = append(settings, "unix_socket_directories = '"+d.dir+"'") // which the restored server has, too
	d.lost = must(pgtest.Start(context.Background(), pgtest.Durable, settings...))(t)
	t.Cleanup(d.lost.Stop)
	if err := d.lost.MakeTemplate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.lost.Admin(t.Context(), "CREATE DATABASE lineproof TEMPLATE lineproof_template"); err != nil {
		t.Fatal(err)
	}
	return d
}

// lostPort returns the port of the server that will be lost.
func (d *drill) lostPort() string { return between(d.lost.URL("x"), "127.0.0.1:", "/") }

// install puts the command where the user of the server can reach it, and gives
// that user the directory.
func (d *drill) install() {
	d.t.Helper()
	bin := filepath.Join(d.dir, "bin")
	program := must(os.ReadFile(must(os.Executable())(d.t)))(d.t)
	script := "#!/bin/sh\nexport " + childSwitch + "='" + modeReadsInput + "'\nexec " + bin + "/e2e.test \"$@\"\n"
	for _, err := range []error{
		os.Chmod(d.dir, 0o755), os.Mkdir(bin, 0o755),
		os.WriteFile(filepath.Join(bin, "e2e.test"), program, 0o755), os.WriteFile(filepath.Join(bin, "lineproof"), []byte(script), 0o755),
	} {
		if err != nil {
			d.t.Fatal(err)
		}
	}
	if os.Getuid() != 0 {
		return // the server runs as whoever tests
	}
	u := must(user.Lookup("postgres"))(d.t)
	uid, gid := must(strconv.Atoi(u.Uid))(d.t), must(strconv.Atoi(u.Gid))(d.t)
	d.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	for _, name := range []string{"", "backup", "backup/wal"} {
		if err := os.Chown(filepath.Join(d.dir, name), uid, gid); err != nil {
			d.t.Fatal(err)
		}
	}
}

// words puts what is true here in the place of what the page says.
func (d *drill) words(text string) string {
	for from, to := range d.replace {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// follow runs the blocks of the page that contain these words, in one shell, and
// compares what they print with what the page shows behind the last of them.
// Numbers may be others.
func (d *drill) follow(words ...string) string {
	d.t.Helper()
	script, shown := "set -euo pipefail\n", ""
	for _, word := range words {
		for _, m := range regexp.MustCompile("(?ms)^```bash\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?").FindAllStringSubmatch(d.page, -1) {
			if strings.Contains(m[1], word) {
				script, shown = script+d.words(m[1]), m[2]
				break
			}
		}
		if !strings.Contains(script, word) {
			d.t.Fatalf("the page has no commands with %q", word)
		}
	}
	programs := must(filepath.Glob("/usr/lib/postgresql/*/bin"))(d.t)
	cmd := exec.CommandContext(d.t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.SysProcAttr = d.dir, d.as
	cmd.Env = []string{
		"PATH=" + filepath.Join(d.dir, "bin") + ":" + strings.Join(programs[max(0, len(programs)-1):], "") + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"PGHOST=127.0.0.1", "PGUSER=postgres", "PGPORT=" + d.lostPort(),
		"LINEPROOF_PEPPERS=" + pepper, "LINEPROOF_DATA=" + filepath.Join(d.dir, "data"),
	}
	var said, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaints
	if err := cmd.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(d.dir, "restored", "log"))
		d.t.Fatalf("the commands of the page: %v\n%s\n%s\n%s", err, said.String(), complaints.String(), log)
	}
	number := regexp.MustCompile(`\d+`)
	pattern := number.ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(shown)), `\d+`)
	pattern = regexp.MustCompile(` +`).ReplaceAllString(pattern, ` +`)
	if !regexp.MustCompile(`(?s)` + pattern + `\s*\z`).MatchString(said.String()) {
		d.t.Errorf("the page shows\n%s\nand the commands print\n%s", shown, said.String())
	}
	return said.String()
}

// load puts load on the service while something is done, and for a while after.
func (d *drill) load(w *fixture, p *instance, l *ledger, meanwhile func()) {
	d.t.Helper()
	stop := make(chan struct{})
	wait := rush(d.t, w, p.public, l, 8, stop)
	meanwhile()
	<-time.After(300 * time.Millisecond)
	close(stop)
	wait()
}

// lose ends the service and the server, once the log of everything is archived.
func (d *drill) lose(w *fixture, p *instance) {
	d.t.Helper()
	var last string
	d.read(w, `SELECT pg_walfile_name(pg_switch_wal())`, &last)
	until(d.t, "the log is archived", func() bool {
		_, err := os.Stat(filepath.Join(d.dir, "backup", "wal", last))
		return err == nil
	})
	p.Kill()
	w.pool.Close()
	d.lost.Stop()
}

func (d *drill) read(w *fixture, sql string, into any) {
	d.t.Helper()
	if err := w.pool.QueryRow(d.t.Context(), sql).Scan(into); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

// between returns what stands between two words.
func between(text, first, second string) string {
	_, rest, _ := strings.Cut(text, first)
	found, _, _ := strings.Cut(rest, second)
	return found
}
