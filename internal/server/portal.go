package server

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/portal"
)

// besideAPI puts the pages for people beside the API. A browser that comes to
// the root is led to them; whoever else comes there hears what the API says.
func besideAPI(api, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path+"/" == portal.Path || strings.HasPrefix(r.URL.Path, portal.Path):
			pages.ServeHTTP(w, r)
		case r.URL.Path == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, portal.Path, http.StatusSeeOther)
		default:
			api.ServeHTTP(w, r)
		}
	})
}
