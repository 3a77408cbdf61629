package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Every command has a short and a long description and an example.
func TestEveryCommandIsDocumented(t *testing.T) {
	t.Parallel()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Long == "" {
			t.Errorf("%s has no Short or no Long", cmd.CommandPath())
		}
		if cmd.Runnable() && !strings.HasPrefix(cmd.Example, "  ") {
			t.Errorf("%s has no indented Example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&app{console.New(Env{})}).root())
}

// The page about commands names each command that can be run, once, and no other.
func TestEveryCommandHasItsRow(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			got = append(got, strings.Trim(name, "`"))
		}
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() {
			want = append(want, strings.TrimPrefix(cmd.CommandPath(), "lineproof "))
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(Root())
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-commands +page):\n%s", diff)
	}
}

// A secret is never the value of a flag, because other users of the machine can
// read the arguments of a process.
func TestNoFlagTakesASecret(t *testing.T) {
	t.Parallel()
	for text := range strings.Lines(Reference()) {
		flag, ok := strings.CutPrefix(strings.TrimSpace(text), "--")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(flag, " ")
		for _, word := range []string{"password", "secret", "token", "key"} {
			if strings.Contains(name, word) && !strings.HasSuffix(name, "-file") && name != "idempotency-key" {
				t.Errorf("--%s would put a secret on the command line", name)
			}
		}
	}
}

// Every number that demo prints has the printed status, and a second demo on the
// same database is refused.
func TestDemoNumbersHaveTheirStatus(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var stdout, stderr bytes.Buffer
	env := Env{
		Args: []string{"demo", "--json"}, Environ: []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()},
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
	}
	if code := Main(t.Context(), env); code != console.ExitOK {
		t.Fatalf("demo: exit code %d: %s", code, stderr.String())
	}
	var created struct {
		Numbers map[string]string `json:"numbers"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &created); err != nil {
		t.Fatal(err)
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	pool, lines := pgtest.Open(t, url, ""), &linestore.Resolver{}
	for _, want := range line.Statuses {
		n, err := region.ParseMobile(created.Numbers[string(want)])
		if err != nil {
			t.Fatalf("%s has no number: %v", want, err)
		}
		found, err := lines.Lookup(t.Context(), pool, n, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := found.View(time.Now()).Status; got != want {
			t.Errorf("the number for %s is %s", want, got)
		}
	}
	if code := Main(t.Context(), env); code != console.ExitRefused {
		t.Errorf("second demo: exit code %d, want %d", code, console.ExitRefused)
	}
}
