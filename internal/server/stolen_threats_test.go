package server_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// threatRows returns the rows of the table of unsigned rows in the page about threats, each
// with its cells.
func threatRows(t *testing.T) (rows [][]string) {
	t.Helper()
	page := string(value(os.ReadFile("../../docs/explanation/threats.md"))(t))
	_, page, found := strings.Cut(page, "| rows | what changing them allows | gains that are accepted |\n| --- | --- | --- |\n")
	if !found {
		t.Fatal("the page has no table of unsigned rows")
	}
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		rows = append(rows, strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"))
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// named returns what a cell names as code.
func named(cell string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, m[1])
	}
	return names
}

// The gains of a stolen service login that nothing finds and that are accepted are those that
// the page about threats names, in the row of what has to be changed for them.
func TestAcceptedGainsAreThreats(t *testing.T) {
	t.Parallel()
	var told []string
	for _, row := range threatRows(t) {
		told = append(told, named(row[2])...)
	}
	slices.Sort(told)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(thiefKnown)), told); diff != "" {
		t.Errorf("docs/explanation/threats.md names other gains (-accepted +told):\n%s", diff)
	}
}

// undecided are the tables that the service may write and that decide nothing: what changing
// them does is only that a number on a page is wrong.
var undecided = map[string]string{
	"audit": "append-only, chained by the hour", "audit_hour": "append-only, compared by audit check",
	"journal_batch": "append-only, its hashes are in receipts and log", "journal_entry": "as above",
	"journal_checked": "when a day was last checked", "journal_day": "counts for pages", "journal_minute": "counts for pages",
	"idempotency": "an answer is replayed only if it was stored for that request", "network_lines": "counts for pages",
	"pepper_check": "which peppers there are; a node with others does not start", "refused_request": "a list for the caller",
	"rehearsal_clock": "the clock of a test key, about test numbers", "row_signed": "append-only, each is signed",
	"supply_coverage_history": "past coverage, for replays", "supply_day": "counts for pages", "supply_example": "examples of a held file, for whoever decides about it",
	"supply_reach": "counts for pages", "supply_refused": "refused lines of a file", "supply_refused_value": "as above", "tally_mark": "up to when counts were made",
	"usage_key": "counts for pages", "usage_pace": "counts for pages",
}

// Every table that the service may write is signed, named by the page about threats, or
// decides nothing.
func TestWritableTablesAreSignedOrThreats(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, row := range threatRows(t) {
		for _, name := range named(row[0]) {
			table, _, _ := strings.Cut(name, ".")
			told[table] = true
		}
	}
	writable := map[string]bool{}
	for line := range strings.Lines(string(value(os.ReadFile("../platform/pg/rights.txt"))(t))) {
		what, rights, ok := strings.Cut(strings.TrimSpace(line), ": lineproof_serve may ")
		if table, _, _ := strings.Cut(what, "."); ok && regexp.MustCompile(`INSERT|UPDATE|DELETE`).MatchString(rights) {
			writable[table] = true
		}
	}
	if len(writable) < 50 {
		t.Fatalf("only %d tables are writable", len(writable))
	}
	for table := range writable {
		switch signed := slices.Contains(pg.SignedTables, table); {
		case !signed && !told[table] && undecided[table] == "":
			t.Errorf("%s is writable by the service: sign it, or say in docs/explanation/threats.md what changing it allows", table)
		case undecided[table] != "" && (signed || told[table]):
			t.Errorf("%s is said to decide nothing", table)
		}
	}
	for _, list := range []map[string]bool{told, boolsOf(undecided)} {
		for table := range list {
			if !writable[table] {
				t.Errorf("%s is not writable by the service", table)
			}
		}
	}
}

func boolsOf(m map[string]string) map[string]bool {
	b := make(map[string]bool, len(m))
	for k := range m {
		b[k] = true
	}
	return b
}
