package httpapi

import (
	"context"
	"net/http"

	"github.com/lineproof/lineproof/internal/web"
)

// Gate returns the work that is done before a handler serves: finding the
// client's address, authenticating the caller and checking the limits. It exists
// to measure what that costs.
func (a *API) Gate(path string, r *http.Request) func(http.ResponseWriter) error {
	var rt route
	for _, one := range a.routes() {
		if one.path == path {
			rt = one
		}
	}
	l := &requestLog{}
	r = r.WithContext(context.WithValue(r.Context(), requestLogKey{}, l))
	return func(w http.ResponseWriter) error {
		l.From = web.ClientAddr(r, a.Proxies)
		if err := a.checkAddress(rt, r); err != nil {
			return err
		}
		who, err := a.authenticate(r.Context(), rt, r)
		if err = a.withinLimits(w, r, &who, err); err != nil {
			return err
		}
		l.who = &who
		return nil
	}
}
