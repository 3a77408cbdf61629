package repository_test

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The words of the field are kept: none of the phrases that were replaced by
// plain ones comes back in a page, a message, an e-mail, the contract or a
// document. Only the changelog may quote them.
func TestRetiredPhrasesStayAway(t *testing.T) {
	t.Parallel()

	list := retiredPhrases(t)
	for path, text := range visibleTexts(t) {
		for _, phrase := range foundPhrases(list, text) {
			t.Errorf("%s says %q, which internal/testing/repository/testdata/retired-phrases.txt has replaced", path, phrase)
		}
	}
}

// The check finds a phrase in any case, across a line break, and only as whole
// words.
func TestARetiredPhraseIsFound(t *testing.T) {
	t.Parallel()

	list := []string{"Let it in", "in force"}
	for text, want := range map[string]int{
		"Press let it\n    in to go on.": 1, "The key is IN FORCE.": 1, "in forceful terms": 0, "Add organisation": 0,
	} {
		if got := foundPhrases(list, text); len(got) != want {
			t.Errorf("%q: found %q, want %d", text, got, want)
		}
	}
}

func foundPhrases(list []string, text string) (found []string) {
	text = " " + strings.ToLower(strings.Join(strings.Fields(text), " ")) + " "
	for _, phrase := range list {
		low := strings.ToLower(phrase)
		if !strings.Contains(text, low) {
			continue // cheaper than the expression
		}
		if regexp.MustCompile(`(^|[^\pL\pN])` + regexp.QuoteMeta(low) + `($|[^\pL\pN])`).MatchString(text) {
			found = append(found, phrase)
		}
	}
	return found
}

func retiredPhrases(t *testing.T) (list []string) {
	t.Helper()
	for line := range strings.Lines(readText(t, "internal/testing/repository/testdata/retired-phrases.txt")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	if len(list) < 50 {
		t.Fatalf("the list has %d phrases; is it whole?", len(list))
	}
	return list
}

// visibleTexts returns what people read, by path: documents, templates of pages
// and e-mails, the contract, and the string literals of production code.
func visibleTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := fs.WalkDir(checkout, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "assets" || path == "bin"):
			return filepath.SkipDir
		case d.IsDir(), path == "CHANGELOG.md", strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, "_templ.go"):
			return nil
		}
		text, err := fs.ReadFile(checkout, path)
		switch {
		case filepath.Ext(path) == ".go":
			texts[path] = source{filepath.ToSlash(path), text}.literals()
		case slices.Contains([]string{".md", ".templ", ".yaml", ".tmpl", ".html", ".txt"}, filepath.Ext(path)):
			texts[path] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// An error names the package in which it was made, or a folder above it, so that a reader of
// the log finds the place. A command speaks to a person and names none.
func TestErrorsNameTheirPackage(t *testing.T) {
	t.Parallel()

	found := 0
	err := fs.WalkDir(checkout, "internal", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "internal/cli/") || strings.HasPrefix(path, "internal/testing/") {
			return err
		}
		for _, m := range errorPrefix.FindAllStringSubmatch(readText(t, path), -1) {
			found++
			if m[1] != "panic" && !slices.Contains(strings.Split(path, "/"), m[1]) {
				t.Errorf("%s makes an error that begins with %q", path, m[1])
			}
		}
		return nil
	})
	if err != nil || found < 500 {
		t.Errorf("%d errors were looked at: %v", found, err)
	}
}

var errorPrefix = regexp.MustCompile(`(?:fmt\.Errorf|errors\.New)\("([a-z]+): `)

// A comment that sends its reader to a package names one that exists: one of the plan, or one
// that some file imports.
func TestCommentsNamePackagesThatExist(t *testing.T) {
	t.Parallel()

	files := sources(t)
	exist := map[string]bool{}
	for _, p := range parts(plan) {
		exist[path.Base(p.pkg)] = true
	}
	for _, f := range files {
		for _, m := range importedPath.FindAllSubmatch(f.text, -1) {
			exist[path.Base(string(m[1]))] = true
		}
	}
	found := 0
	for _, f := range files {
		for _, m := range namedPackage.FindAllSubmatch(f.text, -1) {
			found++
			if name := string(m[1]); !exist[name] {
				t.Errorf("%s sends its reader to package %s, which does not exist", f.path, name)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d packages are named", found)
	}
}

var (
	importedPath = regexp.MustCompile(`(?m)^\s*(?:import )?(?:[a-z_.]\w* )?"([\w./-]+)"$`)
	namedPackage = regexp.MustCompile(`//.*\b(?:[Ss]ee|as|by|of|in|from|with|and) package ([a-z]\w*)`)
)
