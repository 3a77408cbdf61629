package httpapi

import (
	"context"
	"net/http"
)

// Gate returns what happens to a request before its handler serves: where it
// comes from, who is calling, and whether they may. It is there to measure what
// that costs.
func (a *API) Gate(path string, r *http.Request) func(http.ResponseWriter) error {
	var rt route
	for _, one := range a.routes() {
		if one.path == path {
			rt = one
		}
	}
	n := &notes{}
	r = r.WithContext(context.WithValue(r.Context(), notesKey{}, n))
	return func(w http.ResponseWriter) error {
		n.from = a.from(r)
		if err := a.checkAddress(rt, r); err != nil {
			return err
		}
		who, err := a.admit(r.Context(), rt, r)
		if err = a.withinLimits(w, r, &who, err); err != nil {
			return err
		}
		n.who = &who
		return nil
	}
}
