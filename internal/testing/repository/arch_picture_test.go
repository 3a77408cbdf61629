package repository_test

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

// The pictures in README and in structure.md are the plan: they show every district and every
// package, and no other. make generate writes them.
func TestPicturesShowThePlan(t *testing.T) {
	t.Parallel()

	for page, parts := range map[string]map[string]string{
		"README.md":                     {"districts": picture()},
		"docs/explanation/structure.md": {"districts": picture(), "packages": packages(), "tables": tableOfTables()},
	} {
		text := readText(t, page)
		for name, want := range parts {
			begin, end := "<!-- "+name+" from internal/plan.txt: begin -->\n", "<!-- "+name+": end -->"
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
			if err := os.WriteFile(whole(page), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// picture lists the districts of the service, the highest first, each with its purpose: a
// package imports only its own district and those below.
func picture() string {
	var b strings.Builder
	b.WriteString("```\n")
	for _, d := range slices.Backward(plan) {
		if !slices.Contains([]string{public, forTests, programs}, d.name) {
			fmt.Fprintf(&b, "  %-11s %s\n", d.name, d.purpose)
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// packages lists the districts with what they may import and their packages.
func packages() string {
	var b strings.Builder
	b.WriteString("| district | may import | packages |\n| --- | --- | --- |\n")
	for _, d := range slices.Backward(plan) {
		var names []string
		for _, p := range d.packages {
			names = append(names, "`"+p.pkg+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", d.name, strings.Join(d.mayImport, ", "), strings.Join(names, ", "))
	}
	return b.String()
}

// tableOfTables lists which package owns which tables, and which tables of other
// packages it reads.
func tableOfTables() string {
	list := func(tables []string) string {
		var quoted []string
		for _, table := range tables {
			quoted = append(quoted, "`"+table+"`")
		}
		return strings.Join(quoted, ", ")
	}
	var b strings.Builder
	b.WriteString("| package | owns and writes | may also read |\n| --- | --- | --- |\n")
	for _, p := range parts(plan) {
		if len(p.owns)+len(p.reads) > 0 {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.pkg, list(p.owns), list(p.reads))
		}
	}
	return b.String()
}
