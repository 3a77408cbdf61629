package lineproof_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	definedTest = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
)

// Every test that the page of threats names exists.
func TestThreatsNameTestsThatExist(t *testing.T) {
	t.Parallel()

	defined := map[string]bool{}
	eachFile(t, func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range definedTest.FindAllSubmatch(text, -1) {
				defined[string(m[1])] = true
			}
		}
	})
	page, err := os.ReadFile(filepath.FromSlash("docs/explanation/threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := namedTest.FindAllSubmatch(page, -1)
	if len(named) < 20 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if name := string(m[1]); !defined[name] {
			t.Errorf("there is no test %s", name)
		}
	}
}
