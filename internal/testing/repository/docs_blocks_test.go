package repository_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// block is a fenced block of a page.
type block struct {
	kind, text string
	line       int
	follows    bool // directly behind the block before it
}

var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func blocksOf(page string) []block {
	var blocks []block
	end := 0
	for _, m := range fenced.FindAllStringSubmatchIndex(page, -1) {
		blocks = append(blocks, block{
			kind: page[m[2]:m[3]], text: page[m[4]:m[5]], line: 1 + strings.Count(page[:m[0]], "\n"),
			follows: strings.TrimSpace(page[end:m[0]]) == "",
		})
		end = m[1]
	}
	return blocks
}

// compare reports where what was printed differs from what the page shows. Of
// JSON the values count, and in text a line of three dots stands for any lines.
func compare(t *testing.T, page string, shown block, printed string) {
	t.Helper()
	want, got := masked(shown.text), masked(printed)
	if shown.kind == "json" {
		var wantValue, gotValue any
		if err := errors.Join(json.Unmarshal([]byte(want), &wantValue), json.Unmarshal([]byte(got), &gotValue)); err != nil {
			t.Errorf("%s:%d: %v\n%s", page, shown.line, err, got)
		}
		if diff := cmp.Diff(wantValue, gotValue); diff != "" {
			t.Errorf("%s:%d (-page +printed):\n%s", page, shown.line, diff)
		}
		return
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "\n"+regexp.QuoteMeta("...")+"\n", "\n(?s:.*)\n")
	if !regexp.MustCompile(`\A` + pattern + `\z`).MatchString(strings.TrimSpace(got)) {
		t.Errorf("%s:%d (-page +printed):\n%s", page, shown.line, cmp.Diff(want, got))
	}
}

var masks = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`lp_([a-z]+)_[0-9A-Za-z…]+`), "lp_${1}_<secret>"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`\b([0-9a-f]{64}|[0-9a-f]{32})\b`), "<hex>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`), "<time>"},
	{regexp.MustCompile(`\((\d+(\.\d+)?(ms|m|s))+\)`), "(<duration>)"},
}

// masked hides what is different each time, and what must not stand in a log.
func masked(text string) string {
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.as)
	}
	return text
}
