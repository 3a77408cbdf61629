package audit_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every action on the list is written by some production code: an action that
// no code writes is a change without an entry. No two have the same value.
func TestEveryActionIsWritten(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("action.go")
	if err != nil {
		t.Fatal(err)
	}
	written, use := map[string]bool{}, regexp.MustCompile(`\baudit\.[A-Z]\w+`)
	err = filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../regulator/audit/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range use.FindAllString(string(text), -1) {
			written[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +Action = "([a-z_.]+)"`).FindAllStringSubmatch(string(list), -1) {
		if first, taken := words[m[2]]; taken {
			t.Errorf("%s and %s are both %s", first, m[1], m[2])
		}
		words[m[2]] = m[1]
		if !written["audit."+m[1]] {
			t.Errorf("nothing writes audit.%s", m[1])
		}
	}
	if len(words) < 40 {
		t.Errorf("only %d actions were found: is this still how they are written down?", len(words))
	}
}
