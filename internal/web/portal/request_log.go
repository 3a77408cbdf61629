package portal

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/web"
)

// withRequestLog gives the request its id, sets the security headers, counts the
// request in the metrics, and writes its log line. A panic becomes an internal
// error.
func (p *Portal) withRequestLog(next http.Handler) http.Handler {
	observer := web.Observer{Metrics: p.Metrics, Fail: p.showError}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &Visit{}
		v.Init(r, p.Proxies)
		r = withVisit(r, v)
		web.SetPageHeaders(w.Header())
		status, took := observer.Serve(w, r, &v.RequestLog, next)
		v.Write(r.Context(), p.Log, v.Level(status), status, took)
	})
}
