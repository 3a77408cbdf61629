// Package apidocs serves the API reference: a searchable page at /docs, and the
// contract as /openapi.yaml and /openapi.json.
//
// The page loads nothing from other servers. The viewer is vendored into assets,
// with its licence and hash, and the page's content security policy forbids
// everything else. Without scripts the page still lists the operations.
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

// policy lets the page load only what this service serves. The viewer needs
// inline styles; inline scripts are forbidden.
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

// Handler serves /docs with its assets, /openapi.yaml and /openapi.json. All of it
// is part of the binary, so Handler panics if it is broken: no setting and no
// request can cause that.
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
	mux.Handle("GET /docs/scalar.js", packedOnly("text/javascript; charset=utf-8", viewer))
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

// guarded sets the security headers of every response, including those for
// unknown paths.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// static serves content: compressed, once for all requests, to clients that accept gzip.
func static(contentType string, content []byte) http.Handler {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = zip.Write(content)
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		panic(err) // nothing can fail in memory
	}
	asIs, compressed := file(contentType, content), file(contentType, packed.Bytes())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			sendPacked(w, r, compressed)
			return
		}
		asIs.ServeHTTP(w, r)
	})
}

func sendPacked(w http.ResponseWriter, r *http.Request, packed http.Handler) {
	w.Header().Set("Content-Encoding", "gzip")
	r.Header.Del("Range") // a range of a compressed file cannot be decompressed
	packed.ServeHTTP(w, r)
}

// file serves content. Browsers cache it but revalidate it each time, so that a
// new release shows at once.
func file(contentType string, content []byte) http.Handler {
	tag := entityTag(content, "")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// packedOnly serves content that is stored with gzip: as it is to clients that
// accept gzip, decompressed to others.
func packedOnly(contentType string, packed []byte) http.Handler {
	asIs := file(contentType, packed)
	plainTag := entityTag(packed, "plain")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			sendPacked(w, r, asIs)
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
			http.Error(w, "Internal error: the file cannot be read.", http.StatusInternalServerError)
			return
		}
		_, _ = io.Copy(w, unpacked) //nolint:gosec // the size is that of a vendored asset, not of anything sent
	})
}

func entityTag(content []byte, variant string) string {
	sum := sha256.Sum256(content)
	return `"` + hex.EncodeToString(sum[:8]) + variant + `"`
}

// acceptsGzip reports whether the client accepts gzip. A weight of zero means that
// it does not.
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
