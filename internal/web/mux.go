package web

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// Mux matches requests to routes by method and path. A request with another
// method for a known path is passed to NotAllowed, with the Allow header set.
type Mux struct {
	http.ServeMux

	NotAllowed http.HandlerFunc

	methods map[string][]string // by pattern, sorted
}

// Route adds a route.
func (m *Mux) Route(method, pattern string, h http.Handler) {
	if m.methods == nil {
		m.methods = make(map[string][]string)
	}
	if m.methods[pattern] == nil {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(m.methods[pattern], ", "))
			m.NotAllowed(w, r)
		})
	}
	m.methods[pattern] = append(m.methods[pattern], method)
	slices.Sort(m.methods[pattern])
	m.Handle(method+" "+pattern, h)
}

// IsClean reports whether a path is in its clean form. Only paths below pages may end with
// a slash.
func IsClean(at, pages string) bool {
	if strings.HasPrefix(at, pages) {
		at = strings.TrimSuffix(at, "/")
	}
	return at != "" && at[0] == '/' && path.Clean(at) == at
}
