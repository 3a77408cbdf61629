package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// logMetrics are about the public log.
type logMetrics struct {
	entries, failures prometheus.Counter
	delay             prometheus.Gauge
}

func (l *logMetrics) register(r *prometheus.Registry) {
	l.entries = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lineproof_log_entries_total", Help: "Entries that this node added to the public log.",
	})
	l.failures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lineproof_log_failures_total", Help: "Attempts of this node to add to the public log that failed.",
	})
	l.delay = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_log_delay_seconds", Help: "Age of the oldest batch among those that this node added to the public log last, when it added them.",
	})
	r.MustRegister(l.entries, l.failures, l.delay)
}

// LogGrew records that entries were added to the public log.
func (m *Metrics) LogGrew(entries int, delay time.Duration) {
	m.log.entries.Add(float64(entries))
	m.log.delay.Set(delay.Seconds())
}

// LogFailed counts a failed attempt to add to the public log.
func (m *Metrics) LogFailed() { m.log.failures.Inc() }
