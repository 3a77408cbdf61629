package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
)

// Every command says in short and at length what it does, and shows how it is
// called.
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
	walk((&app{}).root())
}

// A secret is never the value of a flag, for other users of the machine can
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

// Every number that the demonstration prints has the status that it is printed
// for, and it is refused a second time.
func TestDemoNumbersHaveTheStatusThatTheyStandFor(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var out, complaints bytes.Buffer
	env := Env{
		Args: []string{"demo", "--json"}, Environ: []string{"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_DATA=" + t.TempDir()},
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints,
	}
	if code := Main(t.Context(), env); code != exitOK {
		t.Fatalf("demo ended with %d: %s", code, complaints.String())
	}
	var made demo
	if err := json.Unmarshal(out.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	pool, lines := pgtest.Open(t, url, ""), &line.Almanac{}
	for _, want := range line.Statuses {
		n, err := region.ParseMobile(made.Numbers[string(want)])
		if err != nil {
			t.Fatalf("%s has no number: %v", want, err)
		}
		look, err := lines.Look(t.Context(), pool, n, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := look.View(time.Now()).Status; got != want {
			t.Errorf("the number for %s is %s", want, got)
		}
	}
	if code := Main(t.Context(), env); code != exitRefused {
		t.Errorf("a second demo ended with %d, want %d", code, exitRefused)
	}
}
