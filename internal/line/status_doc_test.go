package line_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// The page has a row for each status, in the order of precedence, with its meaning,
// what sets it and what ends it.
func TestEveryStatusIsDocumented(t *testing.T) {
	t.Parallel()

	const shortestCell = 7 // characters; less cannot describe anything
	page := statusPage(t)
	var documented []line.Status
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| (.*) \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(page, -1) {
		documented = append(documented, line.Status(row[1]))
		for _, cell := range row[2:] {
			if len(strings.TrimSpace(cell)) < shortestCell {
				t.Errorf("%s has the cell %q", row[1], cell)
			}
		}
	}
	if diff := cmp.Diff(line.Statuses, documented); diff != "" {
		t.Errorf("the statuses, by precedence (-code +page):\n%s", diff)
	}
}

// The page has the default of each policy field that it names, and names every field
// that a status depends on.
func TestStatusPageNamesTheDefaults(t *testing.T) {
	t.Parallel()

	page := statusPage(t)
	defaults := map[string]int{}
	for _, f := range policy.Fields {
		defaults[f.Name] = f.Default
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-zA-Z]+(?:Days|Hours))`(?: \\((\\d+)\\))?").FindAllStringSubmatch(page, -1) {
		named[m[1]] = true
		if _, ok := defaults[m[1]]; !ok {
			t.Errorf("the page names %s, which the policy does not have", m[1])
		}
		if want := strconv.Itoa(defaults[m[1]]); m[2] != "" && m[2] != want {
			t.Errorf("the page has %s for %s, but the default is %s", m[2], m[1], want)
		}
	}
	for _, field := range []string{
		"recycledDays", "swappedHours", "portedHours", "flaggedDays", "noticeDays", "quarantineDays", "lifecycleFreshnessHours", "simFreshnessHours",
		"portFreshnessHours", "simReportHours", "portReportHours",
	} {
		if !named[field] {
			t.Errorf("the page does not name %s", field)
		}
	}
}

// The page has a row for each reason, those of UNKNOWN in the order in which they apply,
// and one for each topic.
func TestEveryReasonAndTopicIsDocumented(t *testing.T) {
	t.Parallel()

	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([^|]{20,}) \\|$").FindAllStringSubmatch(statusPage(t), -1) {
		rows = append(rows, row[1])
	}
	want := []string{
		string(line.ReasonRange), string(line.ReasonNumber), // of UNALLOCATED
		string(line.ReasonRange), string(line.ReasonNoSupply), string(line.ReasonStale), string(line.ReasonDisputed),
		line.TopicLifecycle.String(), line.TopicSIM.String(), line.TopicPort.String(),
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("the reasons and topics (-code +page):\n%s", diff)
	}
}

func statusPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/line-status.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
