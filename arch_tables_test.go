package lineproof_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayRead names, for a package, the tables of other packages that its SQL may
// read. The owner of such a table stands above the reader in the plan, so that
// reads go in the same direction as imports: a package that read a table of one
// that imports it would depend on it without the compiler knowing.
var mayRead = map[string]string{
	"auditchain":  "audit",
	"access":      "account entity entity_limit",
	"people":      "account client entity",
	"document":    "entity",
	"linestore":   "numbering_plan policy",
	"share":       "network_lines",
	"supply":      "line_event line_now line_open network_lines supply_coverage",
	"order":       "client",
	"verify":      "line_event supply_import",
	"guard":       "client document document_move entity",
	"tally":       "journal_entry",
	"filejob":     "journal_entry journal_erased journal_erased_day",
	"journalgap":  "journal_epoch_end journal_epoch_start",
	"logreceipt":  "journal_entry",
	"publiclog":   "journal_archive journal_batch",
	"entitylimit": "entity",
	"impact":      "entity",
	"feedarchive": "feed_entry feed_head",
	"webhook":     "entity feed_head",
}

// source is a file that people write: Go or SQL.
type source struct {
	path string
	text []byte
}

// sources returns the files whose SQL the plan binds. Tests and proofs plant
// rows, and migrations create the tables.
func sources(t *testing.T) (all []source) {
	t.Helper()
	eachFile(t, func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/migrations/") {
			return
		}
		if p, ok := planned(packageOf(path)); ok && (p.layer == proofs || strings.HasPrefix(packageOf(path), "testing/")) {
			return
		}
		all = append(all, source{path, text})
	})
	return all
}

// packageOf returns the package of a file, as the plan names it.
func packageOf(path string) string {
	pkg, _ := inPlan(module + "/" + filepath.ToSlash(filepath.Dir(path)))
	return pkg
}

// literals returns the parts of a file that can hold SQL or messages: the string
// literals of Go, or an SQL file without its comments.
func (s source) literals() string {
	if strings.HasSuffix(s.path, ".sql") {
		return regexp.MustCompile(`--[^\n]*`).ReplaceAllString(string(s.text), "")
	}
	var literals strings.Builder
	var sc scanner.Scanner
	files := token.NewFileSet()
	sc.Init(files.AddFile(s.path, -1, len(s.text)), s.text, nil, 0)
	for {
		_, tok, text := sc.Scan()
		switch tok {
		case token.EOF:
			return literals.String()
		case token.STRING:
			literals.WriteString(strings.Trim(text, "`\""))
			literals.WriteString("\n|\n") // so that two literals do not make one phrase
		default:
		}
	}
}

// What writes to a table, in SQL and in pgx. An UPDATE is told from the word in
// a comment by the SET that follows.
var writes = regexp.MustCompile(`(?i)\b(?:insert\s+into|merge\s+into|delete\s+from|truncate(?:\s+table)?)\s+(?:only\s+)?(?:public\.)?"?([a-z_]+)` +
	`|\bupdate\s+(?:only\s+)?(?:public\.)?"?([a-z_]+)"?(?:\s+(?:as\s+)?[a-z_]+)?\s+set\b` +
	`|pgx\.Identifier\{"([a-z_]+)"`)

// A domain package writes only its own tables, and nobody else writes any.
func TestPackagesWriteOnlyTheirOwnTables(t *testing.T) {
	t.Parallel()

	report(t, badWrites(sources(t)))
}

func badWrites(files []source) (violations []string) {
	tables := owners()
	for _, f := range files {
		for _, m := range writes.FindAllSubmatch(f.text, -1) {
			table := strings.ToLower(string(slices.Concat(m[1], m[2], m[3])))
			if owner, known := tables[table]; known && owner != packageOf(f.path) {
				violations = append(violations, fmt.Sprintf("%s writes table %s, which belongs to %s", f.path, table, owner))
			}
		}
	}
	return violations
}

// What names tables to read. Keywords of SQL are in capitals in this module,
// which tells them from the same words in a message. A list may follow.
var (
	reads     = regexp.MustCompile(`\b(?:FROM|JOIN|USING)\s+((?:(?:ONLY|LATERAL)\s+)?[a-z_.]+(?:\s+(?:AS\s+)?[a-z_]+)?(?:\s*,\s*[a-z_.]+(?:\s+(?:AS\s+)?[a-z_]+)?)*)`)
	tableName = regexp.MustCompile(`^(?:(?:ONLY|LATERAL)\s+)?(?:public\.)?([a-z_]+)`)
)

// Reads follow the plan as imports do: a package reads its own tables and those
// that mayRead names.
func TestPackagesReadOnlyWhatThePlanAllows(t *testing.T) {
	t.Parallel()

	report(t, badReads(sources(t)))
}

func badReads(files []source) (violations []string) {
	tables, used := owners(), map[string]bool{}
	for _, f := range files {
		pkg := packageOf(f.path)
		for _, m := range reads.FindAllStringSubmatch(f.literals(), -1) {
			for item := range strings.SplitSeq(m[1], ",") {
				name := tableName.FindStringSubmatch(strings.TrimSpace(item))
				if name == nil {
					continue
				}
				owner, known := tables[name[1]]
				switch {
				case !known || owner == pkg:
				case slices.Contains(strings.Fields(mayRead[pkg]), name[1]):
					used[pkg+" "+name[1]] = true
				default:
					violations = append(violations, fmt.Sprintf("%s reads table %s of %s, which mayRead does not allow", f.path, name[1], owner))
				}
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(mayRead)) {
		for table := range strings.FieldsSeq(mayRead[pkg]) {
			if !used[pkg+" "+table] {
				violations = append(violations, fmt.Sprintf("mayRead lets %s read table %s, and it does not", pkg, table))
			}
		}
	}
	return violations
}

// mayRead itself keeps the direction: the owner of a table stands above whoever
// reads it.
func TestReadsGoDownwards(t *testing.T) {
	t.Parallel()

	report(t, upwardReads(mayRead))
}

func upwardReads(allowed map[string]string) (violations []string) {
	place := map[string]int{}
	for i, p := range plan {
		place[p.pkg] = i
	}
	tables := owners()
	for _, pkg := range slices.Sorted(maps.Keys(allowed)) {
		for table := range strings.FieldsSeq(allowed[pkg]) {
			owner, known := tables[table]
			if !known || place[owner] >= place[pkg] {
				violations = append(violations, fmt.Sprintf("mayRead lets %s read table %s, whose owner %q does not stand above it", pkg, table, owner))
			}
		}
	}
	return violations
}

// The checks of the plan find what they are there to find: each reports a
// violation that is planted here, and nothing where there is none.
func TestThePlanFindsPlantedViolations(t *testing.T) {
	t.Parallel()

	goFile := func(path, statement string) []source {
		return []source{{path, []byte("package x\n\nconst q = `" + statement + "`\n")}}
	}
	cases := map[string]struct {
		violations []string
		want       string // part of a violation
	}{
		"an import upwards": {
			badImports([]listed{{name: "line", imports: []string{"supply"}}}), "line imports supply",
		},
		"a package that is not on the plan": {
			badImports([]listed{{name: "helpers"}}), "helpers is not on the plan",
		},
		"a test that imports a higher layer": {
			badImports([]listed{{name: "line", testImports: []string{"httpapi"}}}), "tests of package line import httpapi",
		},
		"a write to a table of another package": {
			badWrites(goFile("internal/line/x.go", "UPDATE api_key SET name = ''")), "writes table api_key",
		},
		"a write by a transport": {
			badWrites(goFile("internal/httpapi/x.go", "DELETE FROM session")), "writes table session",
		},
		"a read that mayRead does not allow": {
			badReads(goFile("internal/registry/x.go", "SELECT FROM entity e JOIN api_key k ON true")), "reads table api_key",
		},
		"a read behind a comma": {
			badReads([]source{{"internal/journal/queries.sql", []byte("SELECT 1 FROM journal_entry j, line_now l;")}}), "reads table line_now",
		},
		"a read that is allowed and not made": {
			badReads(nil), "mayRead lets verify read table line_event, and it does not",
		},
		"a read upwards": {
			upwardReads(map[string]string{"line": "supply_import"}), "line read table supply_import",
		},
	}
	for name, c := range cases {
		if !slices.ContainsFunc(c.violations, func(v string) bool { return strings.Contains(v, c.want) }) {
			t.Errorf("%s: not found, only %q", name, c.violations)
		}
	}
	for _, v := range badWrites(goFile("internal/access/x.go", "UPDATE api_key SET name = ''")) {
		t.Errorf("a package may not write its own table: %s", v)
	}
	for _, v := range badReads(goFile("internal/access/x.go", "SELECT 1 FROM api_key k, entity e")) {
		if strings.HasPrefix(v, "internal/access/x.go") {
			t.Errorf("a read that is allowed is reported: %s", v)
		}
	}
}
