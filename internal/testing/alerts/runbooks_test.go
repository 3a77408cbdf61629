package alerts_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// block is a fenced block of a runbook.
type block struct{ page, kind, text string }

func runbookBlocks(t *testing.T) (all []block) {
	t.Helper()
	pages, err := filepath.Glob(bookDir + "/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no runbooks: %v", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)\n```$").FindAllStringSubmatch(string(text), -1) {
			all = append(all, block{filepath.Base(page), m[1], m[2]})
		}
	}
	return all
}

// The commands of runbooks work on a real node as they stand: those in blocks of the kind sh run,
// those of lineproof in blocks of the kind console exist with their flags, and PostgreSQL accepts
// the SQL.
func TestCommandsOfRunbooksWork(t *testing.T) { //nolint:paralleltest // the tests share one site
	s := sharedSite(t)
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	done := map[string]bool{}
	for _, b := range runbookBlocks(t) {
		for command := range strings.SplitSeq(b.text, "\n") {
			command, prompted := strings.CutPrefix(command, "$ ")
			if done[b.kind+command] {
				continue
			}
			done[b.kind+command] = true
			switch {
			case b.kind == "sh":
				err = s.shell(t, command)
			case b.kind == "console" && !prompted:
				err = errors.New("a command needs a prompt")
			case b.kind == "console" && strings.HasPrefix(command, "lineproof "):
				err = s.exists(t, command)
			case b.kind == "console", b.kind == "sql", b.kind == "promql":
				err = nil // other programs; the next lines; the next test
			default:
				err = fmt.Errorf("a block of the kind %q", b.kind)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", b.page, command, err)
			}
		}
		if b.kind == "sql" && !done["sql"+b.text+";"] {
			done["sql"+b.text+";"] = true
			if _, err := conn.Exec(t.Context(), b.text); err != nil {
				t.Errorf("%s: %v\n%s", b.page, err, b.text)
			}
		}
	}
}

// shell runs a command line with the settings of the service. doctor may find something to say
// about this small machine, and exits with 6 then.
func (s *site) shell(t *testing.T, command string) error {
	t.Helper()
	command = strings.ReplaceAll(command, "127.0.0.1:8081", s.private)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `lineproof() { "$0" "$@"; }; `+command, program)
	cmd.Env, cmd.Dir = environment(asCommand, s.settings), s.dir
	out, err := cmd.CombinedOutput()
	if e, failed := errors.AsType[*exec.ExitError](err); failed && e.ExitCode() == 6 && strings.HasPrefix(command, "lineproof doctor") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// exists fails unless a command of lineproof exists and has the flags of the command line.
func (s *site) exists(t *testing.T, command string) error {
	t.Helper()
	words := strings.Fields(command)[1:]
	path := words[:slices.IndexFunc(append(slices.Clone(words), "-"), func(w string) bool { return !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(w) })]
	help, err := s.command(t.Context(), append(slices.Clone(path), "--help")...)
	if err != nil {
		return err
	}
	if !strings.Contains(help, "lineproof "+strings.Join(path, " ")) {
		return fmt.Errorf("the help is that of another command:\n%s", help)
	}
	for _, w := range words {
		if strings.HasPrefix(w, "--") && !regexp.MustCompile(regexp.QuoteMeta(w)+`\b`).MatchString(help) {
			return fmt.Errorf("it has no flag %s", w)
		}
	}
	return nil
}

// Prometheus can parse every expression of the runbooks.
func TestExpressionsOfRunbooksAreValid(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: runbooks\n    rules:\n")
	n := 0
	for _, b := range runbookBlocks(t) {
		if b.kind == "promql" {
			n++
			fmt.Fprintf(&rules, "      - record: runbook:expression:%d\n        expr: %q\n        labels: {page: %s}\n", n, b.text, b.page)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "check", "rules", "rules.yml")
}
