package imagetest_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/testing/corpus"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// open returns the image that make image has built.
func open(t *testing.T) *image {
	t.Helper()
	archive := os.Getenv("LINEPROOF_IMAGE")
	if archive == "" {
		t.Skip("NOT CHECKED: LINEPROOF_IMAGE names no image; run make image-test as root")
	}
	if os.Geteuid() != 0 {
		t.Fatal("only root can mount and change its root")
	}
	return unpack(t, archive)
}

// The image says who runs it, where it writes and what it is, and contains nothing that could help an
// attacker: no other program, no file that its user may write, none that gives rights.
func TestImageIsSmallAndClosed(t *testing.T) {
	t.Parallel()
	i := open(t)
	if i.Config.User != "65532:65532" || !slices.Equal(i.Config.Entrypoint, []string{"/usr/bin/lineproof"}) || !slices.Equal(i.Config.Cmd, []string{"serve"}) {
		t.Errorf("user %q starts %q %q", i.Config.User, i.Config.Entrypoint, i.Config.Cmd)
	}
	for _, label := range []string{"title", "version", "revision", "created", "source", "licenses"} {
		if i.Config.Labels["org.opencontainers.image."+label] == "" {
			t.Errorf("the label %s is missing", label)
		}
	}
	for _, entry := range i.Config.Env {
		if strings.HasPrefix(entry, "LINEPROOF_") && entry != "LINEPROOF_DATA=/var/lib/lineproof" {
			t.Errorf("the image sets %s", entry)
		}
	}
	var programs, writable []string
	err := filepath.WalkDir(i.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		inside := strings.TrimPrefix(path, i.root)
		mode, owner := info.Mode(), info.Sys().(*syscall.Stat_t) //nolint:forcetypeassert // this is Linux
		if mode&0o002 != 0 || owner.Uid == i.uid || owner.Gid == i.gid {
			writable = append(writable, inside)
		}
		if mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			t.Errorf("%s gives rights", inside)
		}
		if mode.IsRegular() && mode&0o111 != 0 && strings.Contains(inside, "bin/") {
			programs = append(programs, inside)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/usr/bin/lineproof", "/usr/bin/pdfinfo", "/usr/bin/pdftoppm"}; !slices.Equal(programs, want) {
		t.Errorf("the image has the programs %q", programs)
	}
	if want := []string{"/tmp", "/var/lib/lineproof"}; !slices.Equal(writable, want) {
		t.Errorf("the user of the image can write %q", writable)
	}
}

// The root file system works as a container: it migrates a real database with the owner's login, serves with
// the service's and with the S3 server of the compose file, answers, draws a document, passes its own check, and ends when it is told to.
func TestImageRuns(t *testing.T) {
	t.Parallel()
	i := open(t)
	bucket := storage(t, i)
	i.mount(t)
	database := newDatabase(t)
	public, private := address(t), address(t)
	env := []string{
		"LINEPROOF_LISTEN=" + public, "LINEPROOF_PRIVATE_LISTEN=" + private, "LINEPROOF_LOG_FORMAT=text",
		"LINEPROOF_DATABASE_URL=" + strings.Replace(database, "postgres@", "lineproof_service@", 1),
	}
	env = append(env, bucket...)
	if out := i.output(t, []string{"LINEPROOF_DATABASE_URL=" + strings.Replace(database, "postgres@", "lineproof_migrator@", 1)}, nil, "migrate"); !strings.Contains(out, "the schema is up to date") {
		t.Fatalf("migrate: %s", out)
	}

	serve := i.command(t, env, i.Config.Cmd...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server, err := process.Run(serve, log)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	waitFor(t, "http://"+private+"/readyz", log.Name())

	bank := strings.TrimSpace(i.output(t, env, nil, "entity", "create", "--name", "Harbour Bank", "--cac", "RC123456"))
	key := strings.TrimSpace(i.output(t, env, nil, "key", "create", "--entity", bank, "--name", "app", "--test"))
	for number, want := range map[string]string{"+2347290000000": "NORMAL", "+2347290000010": "BLACKLISTED"} {
		if answer := verify(t, public, key, number); !strings.Contains(answer, `"`+want+`"`) {
			t.Errorf("verify: %s, want %s", answer, want)
		}
	}
	if out := i.output(t, env, nil, "doctor"); strings.Contains(out, "fail") || !strings.Contains(out, "ok    bucket: files can be written") {
		t.Errorf("doctor: %s", out)
	} else {
		t.Logf("doctor:\n%s", out)
	}
	documents(t, i)

	if err := server.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-server.Ended()
	if code := server.ExitCode(); code != 0 {
		text, _ := os.ReadFile(log.Name())
		t.Errorf("serve ended with %d:\n%s", code, text)
	}
}

// documents counts the pages of a PDF and draws the first, in the processes that the service starts for that.
func documents(t *testing.T, i *image) {
	t.Helper()
	for sample := range corpus.Honest() {
		if sample.MediaType != "application/pdf" {
			continue
		}
		confined := []string{"--become-a-confined-program", "805306368", "20", "32", "false"}
		if out := i.output(t, nil, sample.Data, append(confined, "/usr/bin/pdftoppm", "-l", "1", "-scale-to", "1200", "-")...); !strings.HasPrefix(out, "P6\n") || len(out) < 1000 {
			t.Errorf("%s: drawing gave %d bytes, which are no pixels", sample.Name, len(out))
		}
		if out := i.output(t, nil, sample.Data, append(confined, "/usr/bin/pdfinfo", "-")...); !strings.Contains(out, "Pages:") {
			t.Errorf("%s: pdfinfo says %q", sample.Name, out)
		}
		return
	}
	t.Error("the corpus has no PDF")
}

// newDatabase starts a PostgreSQL and creates roles, logins and database as deploy/compose does. It
// returns the connection string of the superuser.
func newDatabase(t *testing.T) string {
	t.Helper()
	cluster, err := pgtest.Start(t.Context(), pgtest.Durable) // the doctor wants that
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	secrets := t.TempDir()
	for _, name := range []string{"migrator-password", "service-password"} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte("not-a-secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := cluster.URL("lineproof")
	_, rest, _ := strings.Cut(url, "@")
	hostPort, _, _ := strings.Cut(rest, "/")
	host, port, _ := strings.Cut(hostPort, ":")
	script := exec.CommandContext(t.Context(), "sh", "../../../deploy/compose/database.sh")
	script.Env = append(os.Environ(), "SECRETS="+secrets, "PGHOST="+host, "PGPORT="+port)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("database.sh: %v: %s", err, out)
	}
	return url
}

func address(t *testing.T) string {
	t.Helper()
	port, err := process.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}

var client = &http.Client{Timeout: 10 * time.Second}

func waitFor(t *testing.T, url, log string) {
	t.Helper()
	for range 600 {
		if response, err := client.Get(url); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		pause.For(t.Context(), 100*time.Millisecond)
	}
	text, _ := os.ReadFile(log)
	t.Fatalf("it is not ready:\n%s", text)
}

func verify(t *testing.T, public, key, number string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+public+"/api/v1/phone/api/phone-numbers/verify",
		strings.NewReader(`{"phoneNumber":"`+number+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
