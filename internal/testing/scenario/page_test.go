package scenario_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/reference/scenarios.md")

// The page has every scenario that the product fulfils.
func TestPage(t *testing.T) {
	t.Parallel()

	path := "../../../docs/reference/scenarios.md"
	if *update {
		if err := os.WriteFile(path, []byte(page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page(), string(committed)); diff != "" {
		t.Errorf("run go test ./internal/testing/scenario -run Page -update (-table +page):\n%s", diff)
	}
}

// Every row of the issue has at least five scenarios, titles are unique within a group,
// and every question has an answer.
func TestTable(t *testing.T) {
	t.Parallel()

	count := map[string]int{}
	total := 0
	for _, g := range groups {
		titles := map[string]bool{}
		for _, r := range g.rows {
			if titles[r.title] {
				t.Errorf("%s has %q twice", g.name, r.title)
			}
			titles[r.title] = true
			rule, _, _ := strings.Cut(g.name, ",")
			count[rule]++
			total++
			for _, s := range r.steps {
				if a, ok := s.(*ask); ok && a.want.status == "" {
					t.Errorf("%s, %s: a question without a status", g.name, r.title)
				}
			}
		}
	}
	for i := 1; i <= 13; i++ {
		if name := fmt.Sprint("P", i); count[name] < 5 {
			t.Errorf("%s has %d scenarios, want at least five", name, count[name])
		}
	}
	if total < 150 {
		t.Errorf("the table has %d scenarios, want at least 150", total)
	}
	t.Logf("%d scenarios: %v", total, count)
}

const preamble = `# Scenarios of lines

Generated from the table in ` + "`internal/testing/scenario`" + ` by ` + "`go test ./internal/testing/scenario -run Page -update`" + `; do not edit. The same test reports every message and asks every question of this page.

Each row shows [the rules of lines](../explanation/lines.md) at work: what is given, what the service was told, what was asked, and what it answered.

- Days are counted from day 0, and a day without a time is its noon (UTC). The policy has its defaults, with the time zone Africa/Lagos, unless a row says otherwise. *The date of day 2* is a bare date.
- Where MTN has had the line since 2018, its SIM never changed: so MTN's first snapshot has it. MTN, AIRTEL and GLO sent their first snapshots as of day −200, unless nobody has supplied anything yet. The number is in MTN's range. Before each question the networks assure that everything up to then was reported.
- A message is reported at the time at which the line begins; *of day 3* says when it took effect, if that was another time. Without an arrow it is applied. [The events](line-events.md) and [the statuses](line-status.md) are described elsewhere.
- *Staff see* is the list of open events: those that are stored and do not count, or that contradict another. Where a row does not mention it, it is empty.
- A question *about day 5, on day 8* is what the answer of day 5 would have been with everything that is known on day 8.
`

// page returns the text of docs/reference/scenarios.md.
func page() string {
	var b strings.Builder
	b.WriteString(preamble)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s: %s\n\n| scenario | given | told | asked | answered |\n| --- | --- | --- | --- | --- |\n", g.name, g.title)
		for _, r := range g.rows {
			b.WriteString(r.line())
		}
	}
	return b.String()
}

// line returns the row of a scenario.
func (r *row) line() string {
	var told, asked, answered []string
	for _, s := range r.steps {
		if a, ok := s.(*ask); ok {
			asked, answered = append(asked, a.question()), append(answered, a.answered())
		} else {
			told = append(told, s.told())
		}
	}
	if len(asked) > 1 {
		for i := range asked {
			asked[i], answered[i] = fmt.Sprintf("%d. %s", i+1, asked[i]), fmt.Sprintf("%d. %s", i+1, answered[i])
		}
	}
	given := strings.Join(r.given, " ")
	if r.number == theLine && !r.bare {
		given = strings.TrimSpace("MTN has had the line since 2018. " + given)
	}
	cells := []string{r.title, given, strings.Join(told, "<br>"), strings.Join(asked, "<br>"), strings.Join(answered, "<br>")}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
