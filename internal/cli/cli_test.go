package cli_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

var update = flag.Bool("update", false, "rewrite docs/reference/cli.md")

func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	hashing.Main()
	testscript.Main(m, map[string]func(){
		"lineproof": func() {
			os.Exit(cli.Main(context.Background(), cli.Env{
				Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			}))
		},
	})
}

// Each script in testdata/script is a terminal session; its comments state what
// it tests.
func TestScripts(t *testing.T) {
	t.Parallel()
	durable := sync.OnceValues(func() (*pgtest.Cluster, error) {
		c, err := pgtest.Start(t.Context(), pgtest.Durable)
		if err == nil {
			t.Cleanup(c.Stop)
		}
		return c, err
	})
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("LINEPROOF_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("LINEPROOF_ARGON2_MEMORY_KIB", "64")
			env.Setenv("LINEPROOF_ARGON2_TIME", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a program built with the race detector would sleep a second before it exits
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// database KIND sets LINEPROOF_DATABASE_URL to a database of this
			// script's own: migrated, empty, or on a fresh cluster that is durable.
			"database": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv("LINEPROOF_DATABASE_URL", database(t, ts, args[0], durable))
			},
			"exits": exits,
			// capture NAME LABEL puts the rest of the first line of standard output that
			// begins with LABEL into a variable.
			"capture": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], captured(ts, args[1]))
			},
		},
	})
}

func database(t *testing.T, ts *testscript.TestScript, kind string, durable func() (*pgtest.Cluster, error)) string {
	t.Helper()
	switch kind {
	case "migrated":
		return pgtest.URL(t)
	case "empty":
		return pgtest.Empty(t)
	case "durable":
		c, err := durable()
		ts.Check(err)
		return c.URL("postgres")
	}
	ts.Fatalf("unknown kind of database %q", kind)
	return ""
}

// exits CODE COMMAND... runs a command that must return that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func captured(ts *testscript.TestScript, label string) string {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if value, ok := strings.CutPrefix(line, label); ok {
			return strings.TrimSpace(value)
		}
	}
	ts.Fatalf("no line of the output begins with %q", label)
	return ""
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A failed write to standard output is an error: it may have been a secret that
// is shown once.
func TestFailedOutputIsAnError(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	code := cli.Main(t.Context(), cli.Env{Args: []string{"version"}, Stdout: full{}, Stderr: &stderr})
	if code != 1 || !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

// The committed reference matches the commands.
func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	path := "../../docs/reference/cli.md"
	if *update {
		if err := os.WriteFile(path, []byte(cli.Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cli.Reference(), string(committed)); diff != "" {
		t.Errorf("run go test ./internal/cli -run Reference -update (-code +committed):\n%s", diff)
	}
}
