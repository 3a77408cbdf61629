package linefile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "supply-files.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page has every reason with its meaning, and no others.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(page(t), "\n## Reasons of rejected rows\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var want, got []string
	for _, r := range linefile.Reasons() {
		want = append(want, fmt.Sprintf("| `%s` | %s |", r.Reason, r.Meaning))
	}
	for row := range strings.Lines(table) {
		if strings.HasPrefix(row, "| `") {
			got = append(got, strings.TrimSpace(row))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/reference/supply-files.md (-code +page):\n%s", diff)
	}
}

// The page has every value that a column takes.
func TestValuesAreDocumented(t *testing.T) {
	t.Parallel()
	var types, states []string
	for _, k := range line.Kinds() {
		types = append(types, k.String())
	}
	for s := line.StateActive; s <= line.StateBarred; s++ {
		states = append(states, s.String())
	}
	for column, words := range map[string][]string{"type": types, "state": states} {
		row := regexp.MustCompile("(?m)^\\| `" + column + "` \\| (.+) \\|$").FindString(page(t))
		for _, word := range words {
			if !strings.Contains(row, "`"+word+"`") {
				t.Errorf("the page's column %s lacks %s", column, word)
			}
		}
		if n := strings.Count(row, "`")/2 - 1; n != len(words) {
			t.Errorf("the page's column %s has %d values, want %d", column, n, len(words))
		}
	}
}

// The page's examples are valid files.
func TestExamplesOfThePageAreValid(t *testing.T) {
	t.Parallel()
	found := 0
	for _, m := range regexp.MustCompile("(?ms)^```(snapshot|events)\n(.*?)^```$").FindAllStringSubmatch(page(t), -1) {
		got := readAll(t, strings.NewReader(m[2]), options(t, linefile.Kind(m[1])), 100)
		if got.err != nil || len(got.refused) > 0 || len(got.rows) != strings.Count(m[2], "\n")-1 {
			t.Errorf("the example of %s: %d rows, %v, refused %v", m[1], len(got.rows), got.err, got.refused)
		}
		found++
	}
	if found != 2 {
		t.Errorf("%d examples", found)
	}
}
