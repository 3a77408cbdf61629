package repository_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lineproof/lineproof"

// district is a part of the house: packages with one purpose, and the districts that they
// may import. What its packages may import one by one is in their rows.
type district struct {
	name, purpose string
	mayImport     []string
	packages      []*part
}

// part is a package of the plan. Its name is the path inside the module, without "internal/".
type part struct {
	pkg, district        string
	imports, owns, reads []string
	tests                []string // what its tests import from higher districts
}

// plan is the plan of the packages, from the bottom up. A package that is not on it may not
// exist. A row names only packages that stand above it in internal/plan.txt, so that the file
// can be read from top to bottom and there is no way back.
var plan []*district

// parsePlan reads "district: purpose" and, indented by four, "may import" and the packages
// with their rows below them: what a package imports, the tables that it owns and reads, and
// what its tests import from higher districts.
func parsePlan(text string) (all []*district) {
	var d *district
	var p *part
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
		case len(words) == 0:
		case indent == 0:
			name, purpose, _ := strings.Cut(strings.TrimSpace(line), ": ")
			d = &district{name: name, purpose: purpose}
			all = append(all, d)
		case indent == 4 && words[0] == "may":
			d.mayImport = slices.DeleteFunc(words[2:], func(name string) bool { return name == "nothing" })
		case indent == 4:
			p = &part{pkg: words[0], district: d.name}
			d.packages = append(d.packages, p)
		default:
			list := map[string]*[]string{"imports": &p.imports, "owns": &p.owns, "reads": &p.reads, "tests": &p.tests}[words[0]]
			*list = append(*list, words[1:]...)
		}
	}
	return all
}

// parts returns the packages of a plan in its order.
func parts(districts []*district) (all []*part) {
	for _, d := range districts {
		all = append(all, d.packages...)
	}
	return all
}

func planned(pkg string) (*part, bool) {
	all := parts(plan)
	i := slices.IndexFunc(all, func(p *part) bool { return p.pkg == pkg })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// rank returns how high the district of a package stands. A package of tests stands as high
// as the highest that it imports.
func rank(p *part) int {
	if p.district != forTests {
		return slices.IndexFunc(plan, func(d *district) bool { return d.name == p.district })
	}
	highest := 0
	for _, name := range p.imports {
		if dep, ok := planned(name); ok {
			highest = max(highest, rank(dep))
		}
	}
	return highest
}

// The districts that are not of the service.
const (
	forTests = "testing"
	programs = "programs"
	public   = "public"
)

// owners maps each table on the plan to the package that may write it.
func owners() map[string]string {
	tables := map[string]string{}
	for _, p := range parts(plan) {
		for _, table := range p.owns {
			tables[table] = p.pkg
		}
	}
	return tables
}

// inPlan turns an import path into a name of the plan; ok is false for paths
// outside the module.
func inPlan(path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path, module+"/")
	return strings.TrimPrefix(name, "internal/"), ok
}

// The plan itself keeps its promise: a district, a row and a read name only what stands above
// them and what their district may import, and a table has one owner.
func TestPlanGoesDownwards(t *testing.T) {
	t.Parallel()

	report(t, badPlan(plan))
}

func badPlan(districts []*district) (violations []string) {
	add := func(format string, args ...any) { violations = append(violations, fmt.Sprintf(format, args...)) }
	above, owner, home := map[string]bool{}, map[string]string{}, map[string]string{}
	for _, d := range districts {
		unused := slices.Clone(d.mayImport)
		allowed := func(name string) bool {
			from := home[name]
			unused = slices.DeleteFunc(unused, func(u string) bool { return u == from })
			return from == d.name || slices.Contains(d.mayImport, from)
		}
		for _, name := range d.mayImport {
			if !above[name] {
				add("district %s may import %s, which does not stand above it", d.name, name)
			}
		}
		for _, p := range d.packages {
			for _, name := range p.imports {
				if !allowed(name) {
					add("the plan lets %s import %s, which does not stand above it in a district that %s may import", p.pkg, name, d.name)
				}
			}
			for _, table := range p.reads {
				if !allowed(owner[table]) {
					add("the plan lets %s read table %s, whose owner does not stand above it in a district that %s may import", p.pkg, table, d.name)
				}
			}
			for _, table := range p.owns {
				if first, taken := owner[table]; taken {
					add("table %s has two owners, %s and %s", table, first, p.pkg)
				}
				owner[table] = p.pkg
			}
			home[p.pkg] = d.name
		}
		for _, name := range unused {
			add("district %s may import %s, and none of its packages does", d.name, name)
		}
		above[d.name] = true
	}
	return violations
}

// A district is a folder: where a package stands in the plan is where it stands in internal.
func TestDistrictsAreFolders(t *testing.T) {
	t.Parallel()

	report(t, misplaced(plan))
}

func misplaced(districts []*district) (violations []string) {
	for _, d := range districts {
		folder := d.name + "/"
		switch d.name {
		case public:
			continue // what others import stands at the top
		case programs:
			folder = "cmd/"
		}
		for _, p := range d.packages {
			if !strings.HasPrefix(p.pkg+"/", folder) {
				violations = append(violations, fmt.Sprintf("package %s of district %s does not stand in %s", p.pkg, d.name, folder))
			}
		}
	}
	return violations
}

// Every package is on the plan, every row of the plan is a package, and
// packages import only what their row allows. Tests may import their own district
// and what is below it, so that they can use the real parts, and what their row names.
func TestImportsFollowThePlan(t *testing.T) {
	t.Parallel()

	report(t, badImports(listPackages(t)))
}

func badImports(packages []listed) (violations []string) {
	add := func(format string, args ...any) { violations = append(violations, fmt.Sprintf(format, args...)) }
	made := map[string][]string{}
	for _, pkg := range packages {
		p, ok := planned(pkg.name)
		if !ok {
			add("package %s is not on the plan", pkg.name)
			continue
		}
		made[p.pkg] = pkg.imports
		for _, dep := range pkg.imports {
			if !slices.Contains(p.imports, dep) {
				add("package %s imports %s, which the plan does not allow", p.pkg, dep)
			}
		}
		for _, dep := range pkg.testImports {
			if d, ok := planned(dep); !ok || rank(d) > rank(p) && p.district != forTests && !slices.Contains(p.tests, dep) {
				add("the tests of package %s import %s, which is in a higher district", p.pkg, dep)
			}
		}
	}
	for _, p := range parts(plan) {
		imports, exists := made[p.pkg]
		if !exists {
			add("package %s is on the plan and does not exist", p.pkg)
			continue
		}
		for _, dep := range p.imports {
			if !slices.Contains(imports, dep) {
				add("the plan lets package %s import %s, and it does not", p.pkg, dep)
			}
		}
	}
	return violations
}

// report fails the test with each violation.
func report(t *testing.T, violations []string) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

// listed is a package as the go command sees it, with the packages of this
// module that it imports.
type listed struct {
	name                 string
	imports, testImports []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	const format = `{{.ImportPath}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`
	var all []listed
	for line := range strings.Lines(goList(t, "-f", format, "./...")) {
		columns := strings.Split(line, "|")
		name, inside := inPlan(columns[0])
		if !inside {
			continue // the package of this file
		}
		ours := func(paths string) []string {
			var deps []string
			for path := range strings.FieldsSeq(paths) {
				if dep, ok := inPlan(path); ok && dep != name {
					deps = append(deps, dep)
				}
			}
			return deps
		}
		all = append(all, listed{name, ours(columns[1]), ours(columns[2])})
	}
	return all
}

// goList runs go list and fails the test with what the command complained of.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaints.String())
	}
	return string(out)
}

var creates = regexp.MustCompile(`(?im)^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?([a-z_]+)\s*\(`)

// Every table that the migrations make has an owner, and every table on the
// plan is made.
func TestEveryTableHasAnOwner(t *testing.T) {
	t.Parallel()

	tables := owners()
	made := map[string]bool{}
	eachFile(t, func(path string, text []byte) {
		if !strings.Contains(path, "/migrations/") {
			return
		}
		for _, m := range creates.FindAllSubmatch(text, -1) {
			table := strings.ToLower(string(m[1]))
			made[table] = true
			if tables[table] == "" {
				t.Errorf("%s makes table %s, which no package on the plan owns", path, table)
			}
		}
	})
	for table, owner := range tables {
		if !made[table] {
			t.Errorf("the plan gives table %s to %s, and no migration makes it", table, owner)
		}
	}
}

// A file that is longer has more than one subject. Split it by subject.
const (
	maxLines     = 400
	maxTestLines = 500
)

// Files stay short enough to be read in one sitting.
func TestFilesAreShort(t *testing.T) {
	t.Parallel()

	eachFile(t, func(path string, text []byte) {
		limit := maxLines
		if strings.HasSuffix(path, "_test.go") {
			limit = maxTestLines
		}
		if n := bytes.Count(text, []byte("\n")); n > limit {
			t.Errorf("%s has %d lines, more than %d", path, n, limit)
		}
	})
}

// largePackage is the size above which a reviewer asks whether a package has two subjects.
// It is reported and fails nothing: a limit that fails is met to the line, and its overflow
// becomes packages that are no subject.
const largePackage = 3_500

// The largest packages are listed with -v.
func TestLargePackagesAreReported(t *testing.T) {
	t.Parallel()

	lines := map[string]int{}
	eachFile(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "/migrations/") {
			lines[packageOf(path)] += bytes.Count(text, []byte("\n"))
		}
	})
	if len(lines) < 50 {
		t.Errorf("only %d packages are counted", len(lines))
	}
	for _, pkg := range slices.Sorted(maps.Keys(lines)) {
		if lines[pkg] > largePackage {
			t.Logf("package %s has %d lines: has it two subjects?", pkg, lines[pkg])
		}
	}
}

// eachFile calls fn for every Go, SQL and templ file of the module that people write.
func eachFile(t *testing.T, fn func(path string, text []byte)) {
	t.Helper()
	err := fs.WalkDir(checkout, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || path == "tools"):
			return filepath.SkipDir
		case d.IsDir(), path == "schema.sql", !slices.Contains([]string{".go", ".sql", ".templ"}, filepath.Ext(path)):
			return nil
		}
		text, err := fs.ReadFile(checkout, path)
		if err == nil && !bytes.HasPrefix(text, []byte("// Code generated")) {
			fn(filepath.ToSlash(path), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
