package e2e_test

import (
	"context"
	"encoding/json"
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

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

const (
	restorePage = "../../../docs/how-to/back-up-and-restore.md"
	restoreConf = "../../../deploy/ha/pgbackrest.conf"
)

// drill follows the page about restoring, with its directories and its port replaced.
type drill struct {
	t       *testing.T
	page    string
	dir     string
	lost    *pgtest.Node
	replace map[string]string
	as      *syscall.SysProcAttr // the user of the server
}

func newDrill(t *testing.T) *drill {
	t.Helper()
	d := &drill{t: t, page: string(must(os.ReadFile(restorePage))(t))}
	d.dir = must(os.MkdirTemp("", "lineproof-restore-"))(t) //nolint:usetesting // into the test's own directories the user of the server would not get
	// The restored server must not outlive the test, however that ends.
	done := must(process.AtExit(`server=$(head -1 "$0/restored/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$server" && for i in 1 2 3 4 5 6 7 8 9 10; do
		[ -e "$0/restored/data/postmaster.pid" ] || break; sleep 0.2; done; rm -rf "$0"`, d.dir))(t)
	t.Cleanup(done)
	d.replace = map[string]string{
		"pgbackrest --stanza": "pgbackrest --config=" + filepath.Join(d.dir, "pgbackrest.conf") + " --stanza",
		"/srv/backup":         filepath.Join(d.dir, "backup"),
		"/var/lib/pgbackrest": filepath.Join(d.dir, "repository"),
	}
	d.install()
	settings := strings.Split(strings.TrimSpace(d.words(between(d.page, "```ini\n", "```"))), "\n")
	settings = append(settings, "unix_socket_directories = '"+d.dir+"'") // which the restored server has, too
	d.lost = must(pgtest.StartNode(context.Background(), filepath.Join(d.dir, "lost"), settings...))(t)
	t.Cleanup(d.lost.Stop)
	d.configure("lost")
	d.follow(d.as, nil, "stanza-create")
	if err := d.lost.Admin(t.Context(), "CREATE DATABASE lineproof TEMPLATE lineproof_template"); err != nil {
		t.Fatal(err)
	}
	return d
}

// data returns the directory of the lost or the restored server.
func (d *drill) data(server string) string { return filepath.Join(d.dir, server, "data") }

// configure writes the file of deploy/ha for the lost or the restored server.
func (d *drill) configure(server string) {
	d.t.Helper()
	d.replace["/var/lib/postgresql/15/lineproof"] = d.data(server)
	text := d.words(string(must(os.ReadFile(restoreConf))(d.t)))
	// So that other instances on this machine have nothing to do with it.
	text = strings.Replace(text, "[global]", fmt.Sprintf("[global]\nlock-path=%[1]s/lock\nlog-path=%[1]s", d.dir), 1)
	text = strings.Replace(text, "pg1-port=5432", fmt.Sprintf("pg1-port=%d", d.lost.Port()), 1)
	if err := os.WriteFile(filepath.Join(d.dir, "pgbackrest.conf"), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// newMachine prepares what the page asks for before a restore.
func (d *drill) newMachine() {
	d.t.Helper()
	d.configure("restored")
	d.makeDirs("restored", "restored/data", "files")
}

// makeDirs creates directories, of the user of the server.
func (d *drill) makeDirs(names ...string) {
	d.t.Helper()
	for _, name := range names {
		dir := filepath.Join(d.dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			d.t.Fatal(err)
		}
		if d.as != nil {
			if err := os.Chown(dir, int(d.as.Credential.Uid), int(d.as.Credential.Gid)); err != nil {
				d.t.Fatal(err)
			}
		}
	}
}

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
	if os.Getuid() == 0 { // otherwise the server runs as whoever tests
		u := must(user.Lookup("postgres"))(d.t)
		uid, gid := must(strconv.Atoi(u.Uid))(d.t), must(strconv.Atoi(u.Gid))(d.t)
		d.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(d.dir, uid, gid); err != nil {
			d.t.Fatal(err)
		}
	}
	d.makeDirs("lost", "repository", "lock")
}

// words puts what is true here in the place of what the page says.
func (d *drill) words(text string) string {
	for from, to := range d.replace {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// follow runs the first block of the page that contains a word, and
// compares what it prints with what the page shows behind it.
// Numbers may be others.
func (d *drill) follow(as *syscall.SysProcAttr, env []string, word string) string {
	d.t.Helper()
	script, shown := "", ""
	for _, m := range regexp.MustCompile("(?ms)^```bash\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?").FindAllStringSubmatch(d.page, -1) {
		if strings.Contains(m[1], word) {
			script, shown = d.words(m[1]), m[2]
			break
		}
	}
	if script == "" {
		d.t.Fatalf("the page has no commands with %q", word)
	}
	said := d.run(as, env, script)
	number := regexp.MustCompile(`\d+`)
	pattern := number.ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(shown)), `\d+`)
	pattern = regexp.MustCompile(` +`).ReplaceAllString(pattern, ` +`)
	if !regexp.MustCompile(`(?s)` + pattern + `\s*\z`).MatchString(said) {
		d.t.Errorf("the page shows\n%s\nand the commands print\n%s", shown, said)
	}
	return said
}

// run runs commands in a shell, as a user.
func (d *drill) run(as *syscall.SysProcAttr, env []string, script string) string {
	d.t.Helper()
	programs := must(filepath.Glob("/usr/lib/postgresql/*/bin"))(d.t)
	cmd := exec.CommandContext(d.t.Context(), "bash", "-c", "set -euo pipefail\n"+script)
	cmd.Dir, cmd.SysProcAttr = d.dir, as
	cmd.Env = append([]string{
		"PATH=" + filepath.Join(d.dir, "bin") + ":" + strings.Join(programs[max(0, len(programs)-1):], "") + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"PGHOST=127.0.0.1", "PGUSER=postgres", "PGPORT=" + strconv.Itoa(d.lost.Port()),
		"LINEPROOF_PEPPERS=" + pepper,
	}, env...)
	var said, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaints
	if err := cmd.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(d.data("restored"), "restore.log"))
		d.t.Fatalf("the commands of the page: %v\n%s\n%s\n%s", err, said.String(), complaints.String(), log)
	}
	return said.String()
}

// sizes returns what the newest backup is of, and what it takes in the repository.
func (d *drill) sizes() string {
	d.t.Helper()
	var stanzas []struct {
		Backup []struct {
			Label string
			Info  struct {
				Size, Delta int64
				Repository  struct{ Delta int64 }
			}
		}
	}
	text := d.run(d.as, nil, d.words("pgbackrest --stanza=lineproof info --output=json"))
	if err := json.Unmarshal([]byte(text), &stanzas); err != nil || len(stanzas) == 0 || len(stanzas[0].Backup) == 0 {
		d.t.Fatalf("the list of backups: %v\n%s", err, text)
	}
	b := stanzas[0].Backup[len(stanzas[0].Backup)-1]
	return fmt.Sprintf("%s, database %d MB, copied %d MB, %d MB in the repository", b.Label, b.Info.Size/1e6, b.Info.Delta/1e6, b.Info.Repository.Delta/1e6)
}
