package nation_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/nation"
)

// What lineproof-nation says of itself is what is written down, and a wrong command line says where to find it.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/help.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"--help"}, console.ExitOK, string(want), ""},
		{[]string{"--lines", "5"}, console.ExitUsage, "", "lineproof-nation: --lines must be at least 20000, --rate 1 to 1000, and --for not negative\nFor help run: lineproof-nation --help\n"},
		{[]string{"twice"}, console.ExitUsage, "", "lineproof-nation: unknown command \"twice\" for \"lineproof-nation\"\nFor help run: lineproof-nation --help\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := nation.Main(t.Context(), console.Env{Args: c.args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		if diff := cmp.Diff(c.stdout+c.stderr, stdout.String()+stderr.String()); diff != "" || code != c.code {
			t.Errorf("%q: exit code %d (-want +got):\n%s", c.args, code, diff)
		}
	}
}
