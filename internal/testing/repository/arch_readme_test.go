package repository_test

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const maxReadme = 25 // lines

var (
	goFile           = regexp.MustCompile("`([a-z_/]+\\.go)`")
	packagesOfReadme = regexp.MustCompile(`(?m)^\| (\x60.*?) \| `)
	inBackticks      = regexp.MustCompile("`([a-z_/]+)`")
)

// Each district has a README that names every package of it and no other, what its rule is, and files to
// begin with that exist. It is short, so that it is read.
func TestDistrictsHaveAReadme(t *testing.T) {
	t.Parallel()

	for _, d := range plan {
		if slices.Contains([]string{public, forTests, programs}, d.name) {
			continue
		}
		folder := "internal/" + d.name + "/"
		text := readText(t, folder+"README.md")
		if n := strings.Count(text, "\n"); n > maxReadme {
			t.Errorf("%sREADME.md has %d lines", folder, n)
		}
		for _, p := range d.packages {
			name := strings.TrimPrefix(p.pkg, d.name+"/")
			if !strings.Contains(text, "`"+name+"`") && !below(text, name) {
				t.Errorf("%sREADME.md does not name %s", folder, name)
			}
		}
		for _, row := range packagesOfReadme.FindAllStringSubmatch(text, -1) {
			for _, m := range inBackticks.FindAllStringSubmatch(row[1], -1) {
				if found, err := fs.Glob(checkout, folder+m[1]+"/*.go"); err != nil || len(found) == 0 && m[1] != d.name {
					t.Errorf("%sREADME.md lists %s, which is no package", folder, m[1])
				}
			}
		}
		for _, m := range goFile.FindAllStringSubmatch(text, -1) {
			if _, err := fs.Stat(checkout, folder+m[1]); err != nil {
				t.Errorf("%sREADME.md begins with %s: %v", folder, m[1], err)
			}
		}
		for _, want := range []string{"\nThe rule: ", "\nBegin with "} {
			if !strings.Contains(text, want) {
				t.Errorf("%sREADME.md has no line %q", folder, strings.TrimSpace(want))
			}
		}
	}
}

// below reports whether a README names a folder "and below" that has a package.
func below(text, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if strings.Contains(text, "`"+dir+"` and below") {
			return true
		}
	}
	return false
}
