package guide_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"
)

// What people type, and the page that answers it. The first ten are those that the site
// was asked for; the others were written down before the ranking was tuned.
var wanted = []struct{ query, page string }{
	{"get a key", "how-to/get-an-api-key"},
	{"test numbers", "reference/test-numbers"},
	{"what does UNKNOWN mean", "reference/line-status"},
	{"supply a file", "how-to/supply-lines"},
	{"rejected rows", "reference/supply-files"},
	{"receive webhooks", "how-to/receive-webhooks"},
	{"prove an answer", "tutorial/prove-an-answer"},
	{"fail over", "how-to/high-availability"},
	{"restore a backup", "how-to/back-up-and-restore"},
	{"rotate the pepper", "how-to/rotate-the-pepper"},

	{"sim swap", "tutorial/hear-of-a-swap"},
	{"error codes", "reference/errors"},
	{"environment variables", "reference/configuration"},
	{"load balancer", "how-to/proxy"},
	{"lost password", "how-to/recover-an-account"},
	{"rate limit 429", "explanation/limits"},
	{"prometheus metrics", "reference/metrics"},
	{"delete personal data", "how-to/erase-records"},
	{"who asked about my number", "how-to/answer-who-asked"},
	{"bulk check numbers csv", "how-to/verify-a-file"},
	{"upload a watch-list", "how-to/keep-a-watch-list"},
}

var firstResult = regexp.MustCompile(`<ol class="results">\s*<li>\s*<h2><a href="/guide/([^"]*)"`)

// The page that answers a question comes first.
func TestSearchFindsTheRightPageFirst(t *testing.T) {
	t.Parallel()
	for _, tc := range wanted {
		res := get(t, http.MethodGet, "/guide/search?q="+url.QueryEscape(tc.query), nil)
		first := firstResult.FindStringSubmatch(res.Body.String())
		if first == nil || first[1] != tc.page {
			t.Errorf("%q finds %q first, want %s", tc.query, first, tc.page)
		}
	}
}

// A word and its forms find the same page, wherever the words of the query stand.
func TestSearchTakesFormsOfWords(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"rotating pepper", "PEPPER ROTATION rotate", "how do I rotate the peppers?", "replace a pepper"} {
		res := get(t, http.MethodGet, "/guide/search?q="+url.QueryEscape(query), nil)
		if first := firstResult.FindStringSubmatch(res.Body.String()); first == nil || first[1] != "how-to/rotate-the-pepper" {
			t.Errorf("%q finds %q first", query, first)
		}
	}
}
