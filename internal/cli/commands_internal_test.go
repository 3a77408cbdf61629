package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/line"
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

// The demonstration's lines are the same every time, no number comes twice, and
// every status is among them.
func TestDemoLinesAreFixedAndComplete(t *testing.T) {
	t.Parallel()
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	records, err := demoLines(region)
	if err != nil {
		t.Fatal(err)
	}
	again, err := demoLines(region)
	if err != nil {
		t.Fatal(err)
	}
	numbers, statuses := map[phone.Number]bool{}, map[line.Status]int{}
	for i, r := range records {
		if r != again[i] {
			t.Fatalf("line %d differs the second time", i)
		}
		numbers[r.Number] = true
		statuses[r.Status]++
	}
	if len(numbers) != len(records) {
		t.Errorf("%d lines have %d numbers", len(records), len(numbers))
	}
	for _, s := range demoStatuses {
		if statuses[s] == 0 {
			t.Errorf("no line is %s", s)
		}
	}
	if statuses[line.Normal]*2 < len(records) {
		t.Errorf("%d of %d lines are NORMAL, want most", statuses[line.Normal], len(records))
	}
}
