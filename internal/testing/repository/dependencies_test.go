package repository_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const dependenciesPage = "docs/dependencies.md"

// The page of dependencies names exactly what go.mod requires directly, and the
// tools are those of the modules of tools.
func TestDependenciesAreDocumented(t *testing.T) {
	t.Parallel()

	page := readText(t, dependenciesPage)
	documented := slices.Sorted(slices.Values(slices.Concat(
		documentedUnder(page, "In the program"), documentedUnder(page, "In tests only"))))
	if diff := cmp.Diff(directRequires(readText(t, "go.mod")), documented); diff != "" {
		t.Errorf("%s does not list what go.mod requires (-go.mod +page):\n%s", dependenciesPage, diff)
	}
	tools := slices.Sorted(slices.Values(slices.Concat(
		toolLines(readText(t, "tools/go.mod")), toolLines(readText(t, "tools/s3/go.mod")), toolLines(readText(t, "tools/helm/go.mod")), toolLines(readText(t, "tools/dist/go.mod")), toolLines(readText(t, "tools/vuln/go.mod")))))
	if diff := cmp.Diff(tools, documentedUnder(page, "Tools")); diff != "" {
		t.Errorf("%s does not list the tools of tools/go.mod, tools/s3/go.mod, tools/helm/go.mod, tools/dist/go.mod and tools/vuln/go.mod (-modules +page):\n%s", dependenciesPage, diff)
	}
}

// So do the parts about modules of their own: the programs of others that read the public log, and the
// tests of packages, of the chart and of the compose file.
func TestModulesOfTestsAreDocumented(t *testing.T) {
	t.Parallel()

	for heading, gomod := range map[string]string{
		"In the tests with programs of others":              "internal/testing/e2e/testdata/foreign/go.mod",
		"In the tests of packages":                          "cmd/dist/testdata/schema/go.mod",
		"In the tests of the chart and of the compose file": "deploy/testdata/check/go.mod",
	} {
		documented := documentedUnder(readText(t, dependenciesPage), heading)
		if diff := cmp.Diff(directRequires(readText(t, gomod)), documented); diff != "" {
			t.Errorf("%s does not list what %s requires (-go.mod +page):\n%s", dependenciesPage, gomod, diff)
		}
	}
}

// The page names what the tests with a browser need, too, and each is pinned to
// one version.
func TestBrowserDependenciesAreDocumented(t *testing.T) {
	t.Parallel()

	var wants struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(readText(t, "internal/testing/browser/package.json")), &wants); err != nil {
		t.Fatal(err)
	}
	documented := documentedUnder(readText(t, dependenciesPage), "In the tests with a browser")
	if diff := cmp.Diff(slices.Sorted(maps.Keys(wants.Dependencies)), documented); diff != "" {
		t.Errorf("%s does not list what the scripts need (-package.json +page):\n%s", dependenciesPage, diff)
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for name, version := range wants.Dependencies {
		if !exact.MatchString(version) {
			t.Errorf("%s is not pinned: %s", name, version)
		}
	}
}

// What is listed for tests only is not linked into the program or the client.
func TestTestDependenciesAreNotLinked(t *testing.T) {
	t.Parallel()

	linked := strings.Fields(goList(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/...", "./client/..."))
	for _, path := range documentedUnder(readText(t, dependenciesPage), "In tests only") {
		if slices.Contains(linked, path) {
			t.Errorf("%s is listed for tests only and is linked into the program", path)
		}
	}
}

var firstCell = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// documentedUnder returns the names in the first column of the table under a
// heading, in the order of the page.
func documentedUnder(page, heading string) []string {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for _, m := range firstCell.FindAllStringSubmatch(section, -1) {
		names = append(names, m[1])
	}
	return names
}

// directRequires returns the modules that a go.mod requires and does not mark
// as indirect, sorted.
func directRequires(gomod string) []string {
	var paths []string
	for _, line := range blockLines(gomod, "require") {
		if fields := strings.Fields(line); !strings.Contains(line, "// indirect") && len(fields) >= 2 {
			paths = append(paths, fields[0])
		}
	}
	return slices.Sorted(slices.Values(paths))
}

func toolLines(gomod string) []string {
	return slices.Sorted(slices.Values(blockLines(gomod, "tool")))
}

// blockLines returns what stands behind a word of go.mod, on its line or in
// its block.
func blockLines(gomod, word string) []string {
	var lines []string
	inside := false
	for line := range strings.Lines(gomod) {
		line = strings.TrimSpace(line)
		rest, begins := strings.CutPrefix(line, word+" ")
		switch {
		case begins && rest == "(":
			inside = true
		case begins:
			lines = append(lines, rest)
		case line == ")":
			inside = false
		case inside && line != "":
			lines = append(lines, line)
		}
	}
	return lines
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(whole(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
