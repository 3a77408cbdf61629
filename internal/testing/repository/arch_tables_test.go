package repository_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// source is a file of Go, or of templ, that people write.
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
		if p, ok := planned(packageOf(path)); ok && (p.district == programs || p.district == forTests) {
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

// literals returns the parts of a file that can hold SQL or messages: its string literals.
func (s source) literals() string {
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
// that its row names.
func TestPackagesReadOnlyWhatThePlanAllows(t *testing.T) {
	t.Parallel()

	report(t, badReads(sources(t)))
}

func badReads(files []source) (violations []string) {
	tables, used := owners(), map[string]bool{}
	may := map[string][]string{}
	for _, p := range parts(plan) {
		may[p.pkg] = p.reads
	}
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
				case slices.Contains(may[pkg], name[1]):
					used[pkg+" "+name[1]] = true
				default:
					violations = append(violations, fmt.Sprintf("%s reads table %s of %s, which the plan does not allow", f.path, name[1], owner))
				}
			}
		}
	}
	for _, p := range parts(plan) {
		for _, table := range p.reads {
			if !used[p.pkg+" "+table] {
				violations = append(violations, fmt.Sprintf("the plan lets %s read table %s, and it does not", p.pkg, table))
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
			badImports([]listed{{name: "line", imports: []string{"line/supply"}}}), "line imports line/supply",
		},
		"a package that is not on the plan": {
			badImports([]listed{{name: "helpers"}}), "helpers is not on the plan",
		},
		"an import that is allowed and not made": {
			badImports([]listed{{name: "platform/hashing"}}), "lets package platform/hashing import values/secret, and it does not",
		},
		"a test that imports a higher district": {
			badImports([]listed{{name: "line", testImports: []string{"web/httpapi"}}}), "tests of package line import web/httpapi",
		},
		"a write to a table of another package": {
			badWrites(goFile("internal/line/x.go", "UPDATE api_key SET name = ''")), "writes table api_key",
		},
		"a write by a transport": {
			badWrites(goFile("internal/web/httpapi/x.go", "DELETE FROM session")), "writes table session",
		},
		"a read that the plan does not allow": {
			badReads(goFile("internal/regulator/registry/x.go", "SELECT FROM entity e JOIN api_key k ON true")), "reads table api_key",
		},
		"a read behind a comma": {
			badReads(goFile("internal/evidence/journal/x.go", "SELECT 1 FROM journal_entry j, line_now l")), "reads table line_now",
		},
		"a read that is allowed and not made": {
			badReads(nil), "the plan lets answer/verify read table line_event, and it does not",
		},
		"a row that imports upwards": {
			badPlan(parsePlan("low: a\n    may import nothing\n    one\n        imports two\n    two\n")), "lets one import two", //nolint:dupword // a plan
		},
		"a row that imports a district which its own may not": {
			badPlan(parsePlan("low: a\n    may import nothing\n    one\nhigh: b\n    may import nothing\n    two\n        imports one\n")), "lets two import one",
		},
		"a district that may import one above it": {
			badPlan(parsePlan("low: a\n    may import high\n    one\nhigh: b\n    may import low\n    two\n        imports one\n")), "district low may import high",
		},
		"a district that imports less than it may": {
			badPlan(parsePlan("low: a\n    may import nothing\n    one\nhigh: b\n    may import low\n    two\n")), "high may import low, and none",
		},
		"a package outside the folder of its district": {
			misplaced(parsePlan("low: a\n    may import nothing\n    high/one\n")), "high/one of district low does not stand in low/",
		},
		"a table with two owners": {
			badPlan(parsePlan("low: a\n    may import nothing\n    one\n        owns t\n    two\n        owns t\n")), "t has two owners, one and two",
		},
		"a read upwards": {
			badPlan(parsePlan("low: a\n    may import nothing\n    one\n        reads t\n    two\n        owns t\n")), "lets one read table t",
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
