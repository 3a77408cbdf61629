package lineproof_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the pictures of the plan into the documents")

// layers names the layers from the top down, each with what it is for.
var layers = []struct {
	layer         layer
	name, purpose string
}{
	{assembly, "assembly", "reads settings, wires, starts, drains"},
	{transports, "transports", "how callers reach the service"},
	{domain, "domain", "what the service means; each package owns its tables and its SQL"},
	{infrastructure, "infrastructure", "the outside world; no table, no route"},
	{values, "values", "values and rules; no outside world"},
}

// The pictures of the layers in README and in layers.md are the plan: they show
// every package, and no other. make generate writes them.
func TestPicturesShowThePlan(t *testing.T) {
	t.Parallel()

	for page, parts := range map[string]map[string]string{
		"README.md":                  {"layers": picture()},
		"docs/explanation/layers.md": {"layers": picture(), "tables": tableOfTables()},
	} {
		text := readText(t, page)
		for name, want := range parts {
			begin, end := "<!-- "+name+" from arch_test.go: begin -->\n", "<!-- "+name+": end -->"
			before, rest, ok := strings.Cut(text, begin)
			got, after, closed := strings.Cut(rest, end)
			if !ok || !closed {
				t.Fatalf("%s has no place for %s", page, name)
			}
			if *update {
				text = before + begin + want + end + after
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s does not show the plan; run make generate (-plan +page):\n%s", page, diff)
			}
		}
		if *update {
			if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// picture draws the layers with their packages, the highest first: a package
// imports only what is behind it in its layer or in a layer below.
func picture() string {
	const width = 74 // of the list of packages
	var b strings.Builder
	b.WriteString("```\n")
	for i, l := range layers {
		if i > 0 {
			b.WriteString("       |\n")
		}
		fmt.Fprintf(&b, "  %-16s %s\n", l.name, l.purpose)
		edge := "|"
		if i == len(layers)-1 {
			edge = " "
		}
		line := ""
		for _, p := range slices.Backward(plan) {
			if p.layer != l.layer || strings.HasPrefix(p.pkg, "testing/") {
				continue
			}
			if len(line)+len(p.pkg) > width {
				fmt.Fprintf(&b, "       %s           %s\n", edge, strings.TrimSpace(line))
				line = ""
			}
			line += "  " + p.pkg
		}
		fmt.Fprintf(&b, "       %s           %s\n", edge, strings.TrimSpace(line))
	}
	return strings.TrimSuffix(b.String(), "\n") + "\n```\n"
}

// tableOfTables lists which package owns which tables, and which tables of other
// packages it reads.
func tableOfTables() string {
	list := func(tables string) string {
		var quoted []string
		for table := range strings.FieldsSeq(tables) {
			quoted = append(quoted, "`"+table+"`")
		}
		return strings.Join(quoted, ", ")
	}
	var b strings.Builder
	b.WriteString("| package | owns and writes | may also read |\n| --- | --- | --- |\n")
	for _, p := range plan {
		if p.own != "" || mayRead[p.pkg] != "" {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.pkg, list(p.own), list(mayRead[p.pkg]))
		}
	}
	return b.String()
}
