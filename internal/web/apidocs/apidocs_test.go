package apidocs_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/lineproof/lineproof/api"
	"github.com/lineproof/lineproof/internal/web/apidocs"
)

// Every path of the reference has its content type and the headers that keep a
// browser from loading anything from other servers.
func TestReferenceIsServedUnderAStrictPolicy(t *testing.T) {
	t.Parallel()

	for path, contentType := range map[string]string{
		"/docs":           "text/html; charset=utf-8",
		"/docs/docs.css":  "text/css; charset=utf-8",
		"/docs/docs.js":   "text/javascript; charset=utf-8",
		"/docs/scalar.js": "text/javascript; charset=utf-8",
		"/openapi.yaml":   "application/yaml",
		"/openapi.json":   "application/json",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()

			res := get(t, path, nil)
			if res.Code != http.StatusOK || res.Body.Len() == 0 {
				t.Errorf("status %d, %d bytes", res.Code, res.Body.Len())
			}
			want := map[string]string{
				"Content-Type":           contentType,
				"Referrer-Policy":        "no-referrer",
				"X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
					"img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; report-to csp",
			}
			got := map[string]string{}
			for name := range want {
				got[name] = res.Header().Get(name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// Nothing on the page loads from other servers, the page has no inline script,
// features that call the vendor are off, and the search is on.
func TestPageLoadsNothingFromOtherServers(t *testing.T) {
	t.Parallel()

	page := get(t, "/docs", nil).Body.String()
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "/") && m[1] != "data:," || strings.HasPrefix(m[1], "//") {
			t.Errorf("the page refers to %s", m[1])
		}
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(page) {
		t.Error("the page has an inline script, which its policy forbids")
	}
	script := get(t, "/docs/docs.js", nil).Body.String()
	for _, setting := range []string{
		`url: "/openapi.yaml"`, "agent: { disabled: true }", "mcp: { disabled: true }", "telemetry: false",
		"withDefaultFonts: false", `showDeveloperTools: "never"`, "hideClientButton: true", "persistAuth: false",
	} {
		if !strings.Contains(script, setting) {
			t.Errorf("docs.js does not set %s", setting)
		}
	}
	if strings.Contains(script, "hideSearch") {
		t.Error("docs.js says whether the viewer's search is hidden; left alone, it is shown")
	}
	if style := get(t, "/docs/docs.css", nil).Body.String(); strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("docs.css loads something")
	}
}

// A reader without scripts finds every operation on the page.
func TestPageListsOperationsWithoutScripts(t *testing.T) {
	t.Parallel()

	page := get(t, "/docs", nil).Body.String()
	_, rest, _ := strings.Cut(page, "<noscript>")
	plain, _, _ := strings.Cut(rest, "</noscript>")
	var doc struct {
		Paths map[string]map[string]struct{ Summary string }
	}
	if err := yaml.Unmarshal(api.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths {
		for method, o := range item {
			if !strings.Contains(plain, strings.ToUpper(method)+" "+path) || !strings.Contains(plain, o.Summary) {
				t.Errorf("%s %s is not listed", method, path)
			}
		}
	}
}

// The contract is the same in YAML and in JSON, in the same order.
func TestContractIsServedInBothForms(t *testing.T) {
	t.Parallel()

	if !bytes.Equal(get(t, "/openapi.yaml", nil).Body.Bytes(), api.OpenAPI) {
		t.Error("/openapi.yaml is not the contract")
	}
	text := get(t, "/openapi.json", nil).Body.Bytes()
	var fromJSON, fromYAML any
	if err := json.Unmarshal(text, &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(api.OpenAPI, &fromYAML); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(plain, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, fromJSON); diff != "" {
		t.Errorf("/openapi.json differs from the contract (-want +got):\n%s", diff)
	}
	if !regexp.MustCompile(`(?s)^\{\s*"openapi".*"info".*"servers".*"tags".*"paths".*"components"`).Match(text) {
		t.Error("/openapi.json has lost the order of the contract")
	}
}

// The viewer is sent compressed to clients that accept gzip and decompressed to
// others; both are the same script.
func TestViewerIsCompressedOnlyForClientsThatAcceptIt(t *testing.T) {
	t.Parallel()

	for accept, wantPacked := range map[string]bool{
		"": false, "br": false, "gzip;q=0": false, "gzip; q=0.000, br": false,
		"gzip": true, "br, GZIP": true, "gzip;q=0.5": true,
	} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()

			res := get(t, "/docs/scalar.js", http.Header{"Accept-Encoding": {accept}})
			packed := res.Header().Get("Content-Encoding") == "gzip"
			if packed != wantPacked {
				t.Fatalf("compressed is %t, want %t", packed, wantPacked)
			}
			if res.Header().Get("Vary") != "Accept-Encoding" {
				t.Error("a cache would mix the two up: no Vary")
			}
			script := res.Body.Bytes()
			if packed {
				script = unpack(t, script)
			}
			if got := hash(script); got != manifest(t)[0].SourceSHA256 {
				t.Errorf("the script has the hash %s, not that of the package", got)
			}
		})
	}
}

// A browser that has the file already gets 304, compressed or not.
func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	t.Parallel()

	for _, path := range []string{"/docs", "/openapi.yaml", "/openapi.json", "/docs/docs.js", "/docs/scalar.js"} {
		for _, accept := range []string{"gzip", ""} {
			tag := get(t, path, http.Header{"Accept-Encoding": {accept}}).Header().Get("ETag")
			res := get(t, path, http.Header{"Accept-Encoding": {accept}, "If-None-Match": {tag}})
			if tag == "" || res.Code != http.StatusNotModified || res.Body.Len() > 0 {
				t.Errorf("%s (%q): status %d, %d bytes, tag %s", path, accept, res.Code, res.Body.Len(), tag)
			}
		}
	}
}

// vendored is one row of the manifest.
type vendored struct {
	File         string
	SHA256       string
	Package      string
	Version      string
	Licence      string
	LicenceFile  string
	Source       string
	SourceSHA256 string
}

// The vendored files match the manifest byte for byte, and their licences are
// included.
func TestVendoredFilesMatchTheManifest(t *testing.T) {
	t.Parallel()

	rows := manifest(t)
	listed := map[string]bool{}
	for _, row := range rows {
		listed[row.File] = true
		packed, err := os.ReadFile(filepath.Join("assets", row.File))
		if err != nil {
			t.Fatal(err)
		}
		if got := hash(packed); got != row.SHA256 {
			t.Errorf("%s has the hash %s, not %s", row.File, got, row.SHA256)
		}
		if got := hash(unpack(t, packed)); got != row.SourceSHA256 {
			t.Errorf("%s unpacked has the hash %s, not %s", row.File, got, row.SourceSHA256)
		}
		licence, err := os.ReadFile(filepath.Join("assets", row.LicenceFile))
		if err != nil || !strings.HasPrefix(string(licence), row.Licence+" License") {
			t.Errorf("%s: the licence %s is not in %s (%v)", row.File, row.Licence, row.LicenceFile, err)
		}
		if row.Package == "" || row.Version == "" || row.Source == "" {
			t.Errorf("%s: the manifest does not say where it is from", row.File)
		}
	}
	files, err := filepath.Glob("assets/*.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !listed[filepath.Base(file)] {
			t.Errorf("%s is not in the manifest", file)
		}
	}
}

// handler is created once: it has no state, and hashing its files takes a while
// under the race detector.
var handler = sync.OnceValue(apidocs.Handler)

func get(t *testing.T, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()

	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	maps.Copy(req.Header, header)
	res := httptest.NewRecorder()
	handler().ServeHTTP(res, req)
	return res
}

func manifest(t *testing.T) []vendored {
	t.Helper()

	text, err := os.ReadFile("assets/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []vendored
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) == 0 {
		t.Fatalf("the manifest has %d rows: %v", len(rows), err)
	}
	return rows
}

func unpack(t *testing.T, packed []byte) []byte {
	t.Helper()

	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// The contract is compressed once, at the start, and sent as it is.
func TestContractIsCompressed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/docs"} {
		plain, packed := get(t, path, nil), get(t, path, http.Header{"Accept-Encoding": {"gzip"}})
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len()*3 > plain.Body.Len() {
			t.Errorf("%s: %d bytes, and %d with gzip", path, plain.Body.Len(), packed.Body.Len())
		}
		if !bytes.Equal(unpack(t, packed.Body.Bytes()), plain.Body.Bytes()) {
			t.Errorf("%s: another content with gzip", path)
		}
	}
}
