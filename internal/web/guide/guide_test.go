package guide_test

import (
	"bytes"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lineproof/lineproof/docs"
	"github.com/lineproof/lineproof/internal/web/guide"
)

var handler = sync.OnceValue(func() http.Handler {
	return guide.Handler(guide.Options{Portal: true, PublicURL: "https://lineproof.example"})
})

func get(t *testing.T, method, target string, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, http.NoBody)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	handler().ServeHTTP(w, r)
	return w
}

var (
	hrefs = regexp.MustCompile(`\s(?:href|src|action)="([^"]*)"`)
	ids   = regexp.MustCompile(`\sid="([^"]*)"`)
)

// beyond are paths of the service outside the guide that its pages may link to.
var beyond = []string{"/docs", "/openapi.yaml", "/portal/", "/portal/guide/answers", "/portal/receipts", "/portal/theme", "/guide/search"}

var crawled = map[string]string{}

var crawling sync.Once

// crawl opens every page that can be reached from the landing page.
func crawl(t *testing.T) map[string]string {
	t.Helper()
	crawling.Do(func() { crawled = follow(t) })
	return crawled
}

func follow(t *testing.T) map[string]string {
	t.Helper()
	pages, next := map[string]string{}, []string{guide.Root}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if _, seen := pages[at]; seen {
			continue
		}
		res := get(t, http.MethodGet, at, nil)
		pages[at] = res.Body.String()
		if res.Code != http.StatusOK {
			t.Errorf("%s answers %d", at, res.Code)
		}
		if !strings.HasPrefix(res.Header().Get("Content-Type"), "text/html") {
			continue
		}
		for _, m := range hrefs.FindAllStringSubmatch(pages[at], -1) {
			if to := target(t, at, m[1]); strings.HasPrefix(to.Path, guide.Root) && to.Scheme == "" {
				next = append(next, (&url.URL{Path: to.Path, RawQuery: to.RawQuery}).String())
			}
		}
	}
	return pages
}

func target(t *testing.T, from, link string) *url.URL {
	t.Helper()
	base, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	to, err := base.Parse(html.UnescapeString(link))
	if err != nil {
		t.Fatalf("%s links to %q: %v", from, link, err)
	}
	return to
}

// Every link and every anchor of every page leads to something that is there, and every
// document can be reached from the landing page.
func TestNoLinkIsDead(t *testing.T) {
	t.Parallel()
	pages := crawl(t)
	anchors := map[string]map[string]bool{}
	for at, content := range pages {
		anchors[at] = map[string]bool{}
		for _, id := range ids.FindAllStringSubmatch(content, -1) {
			anchors[at][html.UnescapeString(id[1])] = true
		}
	}
	for at, content := range pages {
		if !strings.Contains(content, "<html") {
			continue
		}
		for _, m := range hrefs.FindAllStringSubmatch(content, -1) {
			to := target(t, at, m[1])
			if to.Scheme != "" || slices.Contains(beyond, to.Path) {
				continue
			}
			if _, ok := pages[to.Path]; !ok {
				t.Errorf("%s links to %s, which is not there", at, m[1])
			} else if to.Fragment != "" && !anchors[to.Path][to.Fragment] {
				t.Errorf("%s links to %s, and that page has no such part", at, m[1])
			}
		}
	}
	count := 0
	err := fs.WalkDir(docs.Files, ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			count++
			if res := get(t, http.MethodGet, guide.Root+name, nil); res.Code != http.StatusMovedPermanently || pages[res.Header().Get("Location")] == "" {
				t.Errorf("%s cannot be reached: %d %s", name, res.Code, res.Header().Get("Location"))
			}
		}
		return err
	})
	if err != nil || count < 100 {
		t.Errorf("%d documents: %v", count, err)
	}
}

// A page has no id twice, loads nothing from another server, and has neither inline
// scripts nor inline styles, which its policy forbids.
func TestPagesKeepToTheirPolicy(t *testing.T) {
	t.Parallel()
	for at, content := range crawl(t) {
		if !strings.Contains(content, "<html") {
			continue
		}
		seen := map[string]bool{}
		for _, id := range ids.FindAllStringSubmatch(content, -1) {
			if seen[id[1]] {
				t.Errorf("%s has the id %q twice", at, id[1])
			}
			seen[id[1]] = true
		}
		if regexp.MustCompile(`<script[^>]*>[^<]|\sstyle="|<style|\son\w+="|\ssrc="(https?:)?//`).MatchString(content) {
			t.Errorf("%s has something inline, or from another server", at)
		}
		if regexp.MustCompile(`<th[^>]*></th>`).MatchString(content) {
			t.Errorf("%s has a heading of a column without text", at)
		}
		policy := get(t, http.MethodGet, at, nil).Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", at, policy)
		}
	}
}

// The pages are what the documents of this commit say: rendered from the files on disk
// they are the same bytes as those of the binary, and the same again when made twice.
func TestPagesAreFresh(t *testing.T) {
	t.Parallel()
	fromDisk, err := guide.Build(os.DirFS("../../../docs"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := guide.Build(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	for at, content := range crawl(t) {
		for _, h := range []http.Handler{fromDisk, again} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, http.NoBody))
			if w.Body.String() != content {
				t.Errorf("%s is different when rendered again", at)
			}
		}
	}
}

// A browser gets a page compressed, and nothing when it has the page already; HEAD has
// the headers alone.
func TestPagesAreCached(t *testing.T) {
	t.Parallel()
	for _, at := range []string{guide.Root, "/guide/reference/cli", "/guide/assets/guide.css", "/guide/tutorial/pictures/answer.png"} {
		plain := get(t, http.MethodGet, at, nil)
		if plain.Header().Get("Cache-Control") != "no-cache" || plain.Header().Get("Etag") == "" {
			t.Errorf("%s: headers %v", at, plain.Header())
		}
		if again := get(t, http.MethodGet, at, map[string]string{"If-None-Match": plain.Header().Get("Etag")}); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: %d with %d bytes", at, again.Code, again.Body.Len())
		}
		if head := get(t, http.MethodHead, at, nil); head.Code != http.StatusOK || head.Body.Len() > 0 || head.Header().Get("Etag") != plain.Header().Get("Etag") {
			t.Errorf("HEAD %s: %d with %d bytes, %v", at, head.Code, head.Body.Len(), head.Header())
		}
		if strings.HasSuffix(at, ".png") {
			continue
		}
		packed := get(t, http.MethodGet, at, map[string]string{"Accept-Encoding": "gzip"})
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len()*2 > plain.Body.Len() || packed.Header().Get("Etag") == plain.Header().Get("Etag") {
			t.Errorf("%s: %d bytes, with gzip %d", at, plain.Body.Len(), packed.Body.Len())
		}
	}
}

// The theme that a visitor has chosen in the portal holds here, too.
func TestThemeIsThatOfThePortal(t *testing.T) {
	t.Parallel()
	for _, at := range []string{guide.Root, "/guide/how-to/deploy", "/guide/search?q=key", "/guide/none"} {
		if dark := get(t, http.MethodGet, at, map[string]string{"Cookie": "__Host-lineproof-theme=dark"}).Body.String(); !strings.Contains(dark, `data-theme="dark"`) {
			t.Errorf("%s is not dark", at)
		}
		if system := get(t, http.MethodGet, at, map[string]string{"Cookie": "__Host-lineproof-theme=evil"}).Body.String(); !strings.Contains(system, `data-theme=""`) {
			t.Errorf("%s has another theme", at)
		}
	}
}

// What is not there says so, with the menu and the search; nothing but reading is allowed;
// a query is text and nothing else.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	for at, status := range map[string]int{
		"/guide": http.StatusMovedPermanently, "/guide/how-to": http.StatusMovedPermanently, "/guide/none": http.StatusNotFound, "/guide/none.md": http.StatusNotFound,
		"/guide/assets/": http.StatusNotFound, "/guide/../etc/passwd": http.StatusNotFound, "/guide/search": http.StatusOK, "/guide/search?q=%ff%fe": http.StatusOK,
		"/guide/search?q=" + strings.Repeat("key+", 5000): http.StatusOK, "/guide/search?q=zzzyqx": http.StatusOK,
	} {
		if res := get(t, http.MethodGet, at, nil); res.Code != status {
			t.Errorf("%.60s: %d, want %d", at, res.Code, status)
		}
	}
	if res := get(t, http.MethodPost, guide.Root, nil); res.Code != http.StatusMethodNotAllowed || res.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", res.Code)
	}
	hostile := get(t, http.MethodGet, "/guide/search?q="+url.QueryEscape(`"><script>alert(1)</script> key`), nil).Body.Bytes()
	if bytes.Contains(hostile, []byte("<script>alert")) {
		t.Error("a query becomes HTML")
	}
}

// Without a portal no page links to it.
func TestWithoutAPortal(t *testing.T) {
	t.Parallel()
	h := guide.Handler(guide.Options{PublicURL: "https://lineproof.example"})
	for _, at := range []string{guide.Root, "/guide/how-to/deploy", "/guide/search?q=key"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, http.NoBody))
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), `="/portal/`) {
			t.Errorf("%s: %d, and links to the portal: %v", at, w.Code, strings.Contains(w.Body.String(), `="/portal/`))
		}
	}
}

// BenchmarkBuild measures what the first request of the guide waits for.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		if _, err := guide.Build(docs.Files); err != nil {
			b.Fatal(err)
		}
	}
}
