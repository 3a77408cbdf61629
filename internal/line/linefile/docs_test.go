package linefile_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/reference/supply-files.md")
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
	for _, k := range reportedKinds() {
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
	found := map[string]int{}
	for _, m := range regexp.MustCompile("(?ms)^```(snapshot|events)\n(.*?)^```$").FindAllStringSubmatch(page(t), -1) {
		got := readAll(t, strings.NewReader(m[2]), options(t, linefile.Kind(m[1])), 100)
		if got.err != nil || len(got.refused) > 0 || len(got.rows) != strings.Count(m[2], "\n")-1 {
			t.Errorf("the example of %s: %d rows, %v, refused %v", m[1], len(got.rows), got.err, got.refused)
		}
		found[m[1]]++
	}
	if diff := cmp.Diff(map[string]int{"snapshot": 2, "events": 4}, found); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}

// The page's examples of bare dates are what the reader makes of them.
func TestBareDatesAreDocumented(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile("(?m)^\\| `([0-9-]+)` \\| ([A-Za-z/_]+) \\| `(.+)` \\| `(.+)` \\|$").FindAllStringSubmatch(page(t), -1)
	for _, m := range found {
		o := options(t, linefile.Snapshot)
		o.Zone, o.AsOf = zone(t, m[2]), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		row, refusal := readRow(t, o, "number,state,stateSince,simChangedAt", "+2348031000001,QUARANTINED,"+m[1]+","+m[1])
		if row.Snap.StateSince != instantOf(t, m[3]) || row.Snap.SIM != instantOf(t, m[4]) || refusal.Reason != "" {
			t.Errorf("%s in %s is %v to %v %v", m[1], m[2], row.Snap.StateSince.Time(), row.Snap.SIM.Time(), refusal)
		}
	}
	if len(found) != 4 {
		t.Errorf("%d examples of bare dates", len(found))
	}
}

// The page names the columns of both kinds of file, and the limit for events in the
// future.
func TestColumnsAreDocumented(t *testing.T) {
	t.Parallel()
	for kind, heading := range map[linefile.Kind]string{linefile.Snapshot: "A snapshot", linefile.Events: "Events"} { //nolint:exhaustive // those of operators
		_, section, _ := strings.Cut(page(t), "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		var columns []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|").FindAllStringSubmatch(section, -1) {
			columns = append(columns, m[1])
		}
		got := readAll(t, strings.NewReader(strings.Join(columns, ",")+"\n"), options(t, kind), 1)
		if got.err != nil {
			t.Errorf("%s: %v", kind, got.err)
		}
		err := readAll(t, strings.NewReader("x\n"), options(t, kind), 1).err
		if err == nil || strings.Count(err.Error(), ",") < len(columns)-2 {
			t.Errorf("%s has %d columns on the page; the reader names others: %v", kind, len(columns), err)
		}
	}
	if !strings.Contains(page(t), "at most 60 seconds ahead") {
		t.Error("the page lacks how far an event may be in the future")
	}
}
