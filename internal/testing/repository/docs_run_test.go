package repository_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// On a machine with Go and PostgreSQL, the five commands of the front page lead
// from a clone to an answered question.
func TestReadmeStartsTheService(t *testing.T) {
	t.Parallel()

	before, section, _ := strings.Cut(readText(t, "README.md"), "\n## Start in five commands\n")
	blocks := blocksOf(strings.Repeat("\n", strings.Count(before, "\n")+2) + section) // the lines keep their numbers
	commands := strings.Split(strings.TrimSpace(blocks[0].text), "\n")
	if len(commands) != 5 || blocks[0].kind != "sh" {
		t.Fatalf("the start is not five commands: %q", commands)
	}
	r := newReader(t, clone(t))

	var demo string
	for _, command := range commands[:4] {
		demo = r.output(t, command)
	}
	service := r.command(t, "exec "+commands[4])
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	service.Stdout, service.Stderr = log, log
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	r.waitReady(t)

	lines := strings.Split(strings.TrimSpace(demo), "\n")
	curl := lines[len(lines)-1]
	if shown := strings.TrimSpace(blocks[1].text); masked(shown) != masked(r.asWritten(curl)) {
		t.Errorf("the page shows\n%s\nand demo printed\n%s", masked(shown), masked(r.asWritten(curl)))
	}
	compare(t, "README.md", blocks[2], r.output(t, curl))

	if err := service.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := service.Wait(); err != nil {
		t.Errorf("the service did not end well: %v\n%s", err, readText(t, log.Name()))
	}
}

// Each tutorial can be followed to the letter: its commands work in its order in
// one shell, and what it shows is what comes.
func TestTutorialsCanBeFollowed(t *testing.T) {
	t.Parallel()

	found, err := fs.Glob(checkout, "docs/tutorial/*.md")
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no tutorial: %v", err)
	}
	for _, page := range found {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			newReader(t, clone(t)).follow(t, page)
		})
	}
}

// In the tutorial about the life of a line every status is answered by verify.
// That it is so, each line of this form finds out when the page is followed.
func TestTutorialReachesEveryStatus(t *testing.T) {
	t.Parallel()

	page := readText(t, "docs/tutorial/the-history-of-a-line.md")
	for _, s := range line.Statuses {
		if !regexp.MustCompile(`(?m)^status \d{11} ` + string(s) + `$`).MatchString(page) {
			t.Errorf("no number becomes %s", s)
		}
	}
}

// The commands of the how-to pages work, each page by itself, where the service
// runs on a database that was migrated. What needs root, or a machine that a
// test does not have, stands in blocks of another kind than sh.
func TestHowToPagesCanBeFollowed(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", bin, "./cmd/lineproof")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	found, err := fs.Glob(checkout, "docs/how-to/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range found {
		if !strings.Contains(readText(t, page), "```sh\n") {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			r := newReader(t, t.TempDir())
			r.before = `PATH="` + bin + `:$PATH"; createdb lineproof; lineproof migrate; lineproof serve >serve.log & ` +
				"until curl -fs http://127.0.0.1:8081/readyz; do sleep 0.2; done"
			r.follow(t, page)
		})
	}
}

// reader is somebody with a clone, a database server and a terminal.
type reader struct {
	dir             string
	env             []string
	public, private string    // where the service listens, instead of at the usual ports
	others          [3]string // two witnesses and a monitor
	before          string    // what was done before the page is begun
}

func newReader(t *testing.T, dir string) *reader {
	t.Helper()
	cluster, err := pgtest.Start(t.Context(), pgtest.Durable) // the doctor would complain of the other kind
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	server, err := url.Parse(cluster.URL("lineproof"))
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{dir: dir, public: freeAddress(t), private: freeAddress(t), others: [3]string{freeAddress(t), freeAddress(t), freeAddress(t)}}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "PG") && !strings.HasPrefix(entry, "LINEPROOF_") {
			r.env = append(r.env, entry)
		}
	}
	r.env = append(r.env, "PGHOST="+server.Hostname(), "PGPORT="+server.Port(), "PGUSER="+server.User.Username(), "PGDATABASE=lineproof",
		"LINEPROOF_DATABASE_URL="+server.String(), "LINEPROOF_LISTEN="+r.public, "LINEPROOF_PRIVATE_LISTEN="+r.private,
		"LINEPROOF_API_URL=http://"+r.public, "TMPDIR="+t.TempDir(),
		// Several pages at once, each with its own cluster, may keep the disk busy
		// for longer than the second that a verification has.
		"LINEPROOF_VERIFY_TIMEOUT=8s",
		// Built as by make build, a clone finds the packages that were compiled before.
		"CGO_ENABLED=0", "GOFLAGS=-trimpath")
	return r
}

// clone copies what a clone of this tree would hold.
func clone(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(whole(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// command returns a command of the reader's shell. It and everything that it
// started end with the test.
func (r *reader) command(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	t.Cleanup(func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually nothing is left
		}
	})
	return cmd
}

// output runs one command line and returns what it says on standard output.
func (r *reader) output(t *testing.T, line string) string {
	t.Helper()
	cmd := r.command(t, line)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", masked(line), err, complaints.String())
	}
	return string(out)
}

func (r *reader) waitReady(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	patience := time.After(time.Minute)
	for {
		answer, err := (&http.Client{Timeout: 5 * time.Second}).Get("http://" + r.private + "/readyz")
		if err == nil {
			_ = answer.Body.Close() // its status says it all
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-patience:
			t.Fatalf("the service did not become ready: %v", err)
		}
	}
}

// here puts the reader's addresses in the place of the usual ones, which may be
// taken on this machine; asWritten puts them back.
func (r *reader) here(text string) string {
	return strings.NewReplacer("127.0.0.1:8080", r.public, "127.0.0.1:8081", r.private,
		"127.0.0.1:7380", r.others[0], "127.0.0.1:7381", r.others[1], "127.0.0.1:7382", r.others[2]).Replace(text)
}

func (r *reader) asWritten(text string) string {
	return strings.NewReplacer(r.public, "127.0.0.1:8080", r.private, "127.0.0.1:8081").Replace(text)
}

// follow runs the sh blocks of a page one after the other in one shell and
// compares what they print with the json or text block that comes next.
func (r *reader) follow(t *testing.T, page string) {
	t.Helper()
	blocks := blocksOf(readText(t, page))
	var script strings.Builder
	fmt.Fprintf(&script, "set -euo pipefail\n%s\n", r.here(r.before))
	for i, b := range blocks {
		if b.kind == "sh" {
			fmt.Fprintf(&script, "printf '\\036%d\\n'\n%s", i, r.here(b.text))
		}
	}
	script.WriteString("printf '\\036end\\n'\n")

	cmd := r.command(t, script.String())
	out, err := os.Create(filepath.Join(t.TempDir(), "output")) // not a pipe: what runs in the background would hold it open
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", page, err, masked(readText(t, out.Name())))
	}
	for part := range strings.SplitSeq(readText(t, out.Name()), "\x1e") {
		var i int
		number, printed, _ := strings.Cut(part, "\n")
		if _, err := fmt.Sscan(number, &i); err == nil && i+1 < len(blocks) && blocks[i+1].kind != "sh" && blocks[i+1].follows {
			compare(t, page, blocks[i+1], r.asWritten(printed))
		}
	}
}
