package repository_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/platform/inspect"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

// tableOf returns the rows of the first table below a heading of a page, cell by
// cell.
func tableOf(t *testing.T, page, heading string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut("\n"+page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("there is no heading %q", heading)
	}
	var rows [][]string
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("there is no table below %q", heading)
	}
	return rows[2:]
}

var quoted = regexp.MustCompile("`([a-z_]+)`")

// wordsIn returns the words of a cell that stand in quotes.
func wordsIn(cell string) []string {
	var words []string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		words = append(words, m[1])
	}
	return words
}

// The page of document states is what the code does: every state and whether it
// is shown, every move, and every reason of a refusal with its words.
func TestDocumentStatesAreDocumented(t *testing.T) {
	t.Parallel()
	page := readText(t, "docs/reference/document-states.md")

	shown, states := map[document.State]bool{}, []document.State{}
	for _, row := range tableOf(t, page, "# States of a document") {
		state := document.State(wordsIn(row[0])[0])
		states = append(states, state)
		shown[state] = row[2] == "yes"
	}
	if diff := cmp.Diff(document.States, states); diff != "" {
		t.Errorf("states (-code +page):\n%s", diff)
	}
	moves := map[document.State][]document.State{}
	for _, row := range tableOf(t, page, "## Moves") {
		from := document.State(wordsIn(row[0])[0])
		for _, to := range wordsIn(row[1]) {
			moves[from] = append(moves[from], document.State(to))
		}
	}
	for _, s := range document.States {
		if shown[s] != s.Open() {
			t.Errorf("%s: the page says shown %v, and the code %v", s, shown[s], s.Open())
		}
		want, got := s.Next(), moves[s]
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("from %s the page leads to %v, and the code to %v", s, got, want)
		}
	}

	var coded, told [][]string
	for _, r := range inspect.Reasons {
		coded = append(coded, []string{"`" + r.Code + "`", r.Message})
	}
	told = append(told, tableOf(t, page, "## Reasons of a refusal")...)
	if diff := cmp.Diff(coded, told); diff != "" {
		t.Errorf("reasons (-code +page):\n%s", diff)
	}

	var requirements []string
	for _, row := range tableOf(t, page, "## Requirements") {
		requirements = append(requirements, wordsIn(row[0])...)
	}
	want := []string{document.RequirementMissing, document.RequirementWaiting, document.RequirementAccepted, document.RequirementRejected}
	if diff := cmp.Diff(want, requirements); diff != "" {
		t.Errorf("states of a requirement (-code +page):\n%s", diff)
	}
	for _, reason := range []string{document.Virus, document.Retention} {
		if !strings.Contains(page, "`reason` is `"+reason+"`") && !strings.Contains(page, "`reason` is then `"+reason+"`") {
			t.Errorf("the page does not name the reason %s", reason)
		}
	}
}

// README says of how many operations its table shows the main ones.
func TestReadmeCountsTheOperations(t *testing.T) {
	t.Parallel()

	want := fmt.Sprintf("its %d operations", strings.Count(readText(t, "api/openapi.yaml"), "operationId: "))
	if !strings.Contains(readText(t, "README.md"), want) {
		t.Errorf("README.md does not say %q", want)
	}
}
