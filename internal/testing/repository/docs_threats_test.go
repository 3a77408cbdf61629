package repository_test

import (
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
	named := namedTest.FindAllStringSubmatch(readText(t, "docs/explanation/threats.md"), -1)
	if len(named) < 20 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if name := m[1]; !defined[name] {
			t.Errorf("there is no test %s", name)
		}
	}
}
