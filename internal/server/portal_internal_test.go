package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lineproof/lineproof/internal/web/portal"
)

// A browser at the root is led to the portal, and a program to the reference of the API.
// Everything else that is not below the portal's path is the API's.
func TestPortalStandsBesideTheAPI(t *testing.T) {
	t.Parallel()
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "api") })
	pages := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "portal") })
	h := besideAPI(api, pages)
	for _, c := range []struct{ method, path, accept, want string }{
		{http.MethodGet, "/", "text/html,application/xhtml+xml", portal.Path},
		{http.MethodGet, "/", "*/*", "/docs"},
		{http.MethodPost, "/", "text/html", "api"},
		{http.MethodGet, "/portal", "", "portal"},
		{http.MethodGet, "/portal/", "", "portal"},
		{http.MethodPost, "/portal/sign-in", "", "portal"},
		{http.MethodGet, "/portals", "text/html", "api"},
		{http.MethodGet, "/docs", "text/html", "api"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody)
		r.Header.Set("Accept", c.accept)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		got := rec.Body.String()
		if to := rec.Header().Get("Location"); to != "" {
			got = to
		}
		if got != c.want {
			t.Errorf("%s %s for %s: %q, want %q", c.method, c.path, c.accept, got, c.want)
		}
	}
}
