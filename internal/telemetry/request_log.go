package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// requestLogMetrics are registered with their first value.
type requestLogMetrics struct {
	once    sync.Once
	dropped prometheus.Counter
}

// RequestLogDropped counts refused requests that are not in the request log.
func (m *Metrics) RequestLogDropped(n int) {
	m.requestLog.once.Do(func() {
		m.requestLog.dropped = prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lineproof_request_log_dropped_total", Help: "Refused requests with an API key that are not in the request log of their organisation, because it sends too many or the database is down.",
		})
		m.registry.MustRegister(m.requestLog.dropped)
	})
	m.requestLog.dropped.Add(float64(n))
}
