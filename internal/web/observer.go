package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// Observer counts requests in the metrics and turns panics into error responses.
type Observer struct {
	Metrics *telemetry.Metrics
	Fail    func(http.ResponseWriter, *http.Request, error) // sends the response for an error
}

// Serve lets next serve the request that l describes. It returns the status of
// the response and how long the request took, counted from l.Init. A panic
// becomes an internal error, unless the response has started.
func (o *Observer) Serve(w http.ResponseWriter, r *http.Request, l *RequestLog, next http.Handler) (status int, took time.Duration) {
	sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	sw.Header()["X-Request-Id"] = []string{l.ID.String()}
	o.Metrics.RequestBegan()
	defer func() {
		if cause := recover(); cause != nil {
			o.Metrics.Panicked()
			l.Add(slog.String("stack", string(debug.Stack())))
			if err := fmt.Errorf("panic: %v", cause); sw.wrote {
				l.Add(slog.String("error", err.Error()))
			} else {
				o.Fail(sw, r, err)
			}
		}
		status, took = sw.status, time.Since(l.start)
		o.Metrics.RequestEnded(l.Route(), status, l.expected, took)
	}()
	next.ServeHTTP(sw, r)
	return 0, 0 // set by the deferred function, which also runs after a panic
}

// statusWriter records the status of a response and whether it has started.
type statusWriter struct {
	http.ResponseWriter

	status int
	wrote  bool
}

func (w *statusWriter) WriteHeader(status int) {
	w.status, w.wrote = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the underlying writer.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
