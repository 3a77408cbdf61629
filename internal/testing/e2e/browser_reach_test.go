package e2e_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wholeCrawl is how many pages each role may open in a run that must reach every page.
const wholeCrawl = 150

// notCrawled are the GET routes of the portal that a crawl opens as no page, and why.
var notCrawled = map[string]string{
	"/portal/":                                         "leads to a home",
	"/portal/messages/{message}":                       "leads to what the message is about",
	"/portal/assets/":                                  "files that pages load",
	"/portal/export/receipts/{request}":                "a file",
	"/portal/export/verify-receipt.html":               "a file, which TestBrowserReceipts opens",
	"/portal/export/journal.csv":                       "a file",
	"/portal/export/journal.ndjson":                    "a file",
	"/portal/export/usage.csv":                         "a file",
	"/portal/export/audit.csv":                         "a file",
	"/portal/export/plan.csv":                          "a file",
	"/portal/documents/{document}/content":             "a file",
	"/portal/desk/documents/{document}/content":        "a file",
	"/portal/desk/documents/{document}/pages/{page}":   "a picture",
	"/portal/files/{job}/result.csv":                   "a file",
	"/portal/supply/imports/{import}/refused.csv":      "a file",
	"/portal/supply/imports/{import}/receipt":          "a file",
	"/portal/desk/supply/imports/{import}/refused.csv": "a file",
	"/portal/files/{job}/progress":                     "a part of a page, by which a script refreshes it",
	"/portal/supply/imports/{import}/progress":         "a part of a page, by which a script refreshes it",
	"/portal/desk/supply/imports/{import}/progress":    "a part of a page, by which a script refreshes it",
	"/portal/desk/accept-topic/{network}/{topic}":      "a form that is linked only while a topic is disbelieved, which TestStaffAcceptATopicAgain opens",
}

// routeOfPage finds the GET routes of the portal among the metrics of a server: it lists
// every route there from its start.
var routeOfPage = regexp.MustCompile(`lineproof_http_requests_total\{route="GET (/portal/[^"]*)"`)

// wantEveryPage fails the test for each page of the portal that nobody opened. The routes
// are those of the running server, so that a page that no link leads to is missed, too.
func wantEveryPage(t *testing.T, p *instance, most int, results []seen) {
	t.Helper()
	if most < wholeCrawl {
		t.Logf("a short run: at most %d pages for each role, so not every page was opened", most)
		return
	}
	var pages []string
	for _, r := range results {
		pages = append(pages, r.Pages...)
	}
	opened, wrong := judgeReach(metricsOf(t, p), notCrawled, pages)
	if opened < 100 {
		t.Errorf("only %d routes were opened: this proves nothing", opened)
	}
	for _, w := range wrong {
		t.Error(w)
	}
	t.Logf("%d routes were opened as pages, %d are none", opened, len(notCrawled))
}

// judgeReach compares the GET routes of the portal with the pages that were opened, whose
// ids are left out. It returns how many routes were opened, and what is wrong.
func judgeReach(metrics string, except map[string]string, pages []string) (opened int, wrong []string) {
	mux, routes := &http.ServeMux{}, map[string]bool{} // by route: whether it was opened
	for _, m := range routeOfPage.FindAllStringSubmatch(metrics, -1) {
		if _, known := routes[m[1]]; !known {
			routes[m[1]] = false
			mux.Handle(exactly(m[1]), http.NotFoundHandler())
		}
	}
	for _, page := range pages {
		path, _, _ := strings.Cut(page, "?")
		_, pattern := mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}})
		if route := strings.TrimSuffix(pattern, "{$}"); route != "" {
			routes[route] = true
		} else {
			wrong = append(wrong, path+" was opened, and the server has no route for it")
		}
	}
	for route, was := range routes {
		switch why := except[route]; {
		case was && why != "":
			wrong = append(wrong, route+" was opened as a page, and is listed as none: "+why)
		case was:
			opened++
		case why == "":
			wrong = append(wrong, "nobody opened "+route+": plant what leads to it, or say in notCrawled why it is no page")
		}
	}
	for route := range except {
		if _, known := routes[route]; !known {
			wrong = append(wrong, "notCrawled lists "+route+", which the server does not have")
		}
	}
	slices.Sort(wrong)
	return opened, wrong
}

// exactly is the pattern that serves a route alone, and not what is below it.
func exactly(route string) string {
	if strings.HasSuffix(route, "/") {
		return route + "{$}"
	}
	return route
}

// The check of the crawls finds a page that nobody opened, a page that is listed as none,
// and an entry of the list that outlived its route; and it tells a page from the one above it.
func TestReachFindsWhatWasNotOpened(t *testing.T) {
	t.Parallel()
	var metrics strings.Builder
	for _, route := range []string{"GET /portal/", "GET /portal/keys", "POST /portal/keys", "GET /portal/keys/{key}", "GET /portal/keys/{key}/roll", "GET /portal/keys/new", "GET /portal/export/a.csv", "POST /api/auth/token"} {
		metrics.WriteString(`lineproof_http_requests_total{route="` + route + `",status="500"} 0` + "\n")
	}
	file := map[string]string{"/portal/": "leads to a home", "/portal/export/a.csv": "a file"}
	gone := map[string]string{"/portal/": "leads to a home", "/portal/export/a.csv": "a file", "/portal/gone": "a file"}
	every := []string{"/portal/keys", "/portal/keys?after&sort", "/portal/keys/{id}", "/portal/keys/{id}/roll", "/portal/keys/new"}
	for name, tc := range map[string]struct {
		except map[string]string
		pages  []string
		opened int
		wrong  []string
	}{
		"every page":         {file, every, 4, nil},
		"a page is missing":  {file, every[:4], 3, []string{"nobody opened /portal/keys/new"}},
		"a file is a page":   {file, append(every[:5:5], "/portal/export/a.csv"), 4, []string{"/portal/export/a.csv was opened as a page"}},
		"no such route":      {file, append(every[:5:5], "/portal/keys/{id}/gone"), 4, []string{"/portal/keys/{id}/gone was opened, and the server has no route"}},
		"an outlived excuse": {gone, every, 4, []string{"notCrawled lists /portal/gone"}},
	} {
		opened, wrong := judgeReach(metrics.String(), tc.except, tc.pages)
		same := slices.EqualFunc(wrong, tc.wrong, strings.HasPrefix)
		if opened != tc.opened || !same {
			t.Errorf("%s: %d opened, %q; want %d, %q", name, opened, wrong, tc.opened, tc.wrong)
		}
	}
}
