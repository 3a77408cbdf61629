// Package apidocs serves the API reference: a searchable page at /docs, and the
// contract as /openapi.yaml and /openapi.json.
//
// The page loads nothing from other servers. The viewer is vendored into assets,
// with its licence and hash, and the page's content security policy forbids
// everything else. Without scripts the page still lists the operations.
package apidocs

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"

	"github.com/lineproof/lineproof/api"
	"github.com/lineproof/lineproof/internal/web/static"
)

// policy lets the page load only what this service serves. The viewer needs
// inline styles; inline scripts are forbidden.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; report-to csp"

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
	mux.Handle("GET /docs", static.File("text/html; charset=utf-8", html))
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	mux.Handle("GET /docs/docs.css", static.File("text/css; charset=utf-8", style))
	mux.Handle("GET /docs/docs.js", static.File("text/javascript; charset=utf-8", script))
	mux.Handle("GET /docs/scalar.js", static.Packed("text/javascript; charset=utf-8", viewer))
	mux.Handle("GET /openapi.yaml", static.File("application/yaml", api.OpenAPI))
	mux.Handle("GET /openapi.json", static.File("application/json", contractJSON))
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
