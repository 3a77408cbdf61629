// Package apidocs serves the reference of the API to people: a page at /docs
// that can be searched, and the contract behind it as /openapi.yaml and
// /openapi.json.
//
// It promises that a reader's browser asks this service and no other for
// anything on the page. The viewer is vendored into assets, its licence and
// hash beside it, and the page's content security policy forbids the rest.
// Without scripts the page still lists the operations.
package apidocs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/lineproof/lineproof/api"
)

// policy lets the page load what this service serves. Inline styles are the
// viewer's own; inline scripts are nobody's.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

var (
	//go:embed assets/scalar.js.gz
	viewer []byte
	//go:embed assets/docs.js
	script []byte
	//go:embed assets/docs.css
	style []byte
	//go:embed page.html
	pageHTML string
)

// Handler serves /docs and what lies below it, /openapi.yaml and /openapi.json.
// What it serves is part of the binary, so it panics where that is broken: no
// setting and no request can make it so.
func Handler() http.Handler {
	html, err := renderPage()
	if err != nil {
		panic(err)
	}
	contractJSON, err := toJSON(api.OpenAPI)
	if err != nil {
		panic(err)
	}

	mux := http.NewServeMux()
	mux.Handle("GET /docs", static("text/html; charset=utf-8", html))
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	mux.Handle("GET /docs/docs.css", static("text/css; charset=utf-8", style))
	mux.Handle("GET /docs/docs.js", static("text/javascript; charset=utf-8", script))
	mux.Handle("GET /docs/scalar.js", compressed("text/javascript; charset=utf-8", viewer))
	mux.Handle("GET /openapi.yaml", static("application/yaml", api.OpenAPI))
	mux.Handle("GET /openapi.json", static("application/json", contractJSON))
	return guarded(mux)
}

func renderPage() ([]byte, error) {
	p, err := readPage(api.OpenAPI)
	if err != nil {
		return nil, err
	}
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, fmt.Errorf("apidocs: parse page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("apidocs: render page: %w", err)
	}
	return b.Bytes(), nil
}

// guarded sets the headers that every answer carries, also those for addresses
// that do not exist.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// static serves content. Browsers keep it but ask each time whether it is still
// the same, so that a new release shows at once.
func static(contentType string, content []byte) http.Handler {
	tag := entityTag(content, "")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// compressed serves content that is stored with gzip: as it is to those who
// take it so, unpacked to the others.
func compressed(contentType string, packed []byte) http.Handler {
	asIs := static(contentType, packed)
	plainTag := entityTag(packed, "plain")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
			r.Header.Del("Range") // a part of a compressed file is of no use
			asIs.ServeHTTP(w, r)
			return
		}
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", plainTag)
		if r.Header.Get("If-None-Match") == plainTag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if r.Method == http.MethodHead {
			return
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			http.Error(w, "The file cannot be read.", http.StatusInternalServerError)
			return
		}
		_, _ = io.Copy(w, unpacked) //nolint:gosec // the size is that of our own asset, not of anything sent
	})
}

func entityTag(content []byte, variant string) string {
	sum := sha256.Sum256(content)
	return `"` + hex.EncodeToString(sum[:8]) + variant + `"`
}

// acceptsGzip reports whether the reader takes gzip. A weight of zero refuses it.
func acceptsGzip(r *http.Request) bool {
	for offer := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(offer, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			weight = strings.ReplaceAll(weight, " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
