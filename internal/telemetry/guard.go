package telemetry

import "github.com/prometheus/client_golang/prometheus"

// guardMetrics count what the guard finds.
type guardMetrics struct{ alerts *prometheus.CounterVec }

// RegisterGuard adds the count of the guard's alerts, for each kind and level
// that there are. Every pair exists from the start, for a series that appears
// with the first alert cannot be alerted on by its increase. Call it once.
func (m *Metrics) RegisterGuard(kinds, levels []string) {
	m.guard.alerts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_guard_alerts_total", Help: "Organisations that the guard found, by what it found and what followed, as counted by the node that found it first.",
	}, []string{"kind", "level"})
	m.registry.MustRegister(m.guard.alerts)
	for _, k := range kinds {
		for _, l := range levels {
			m.guard.alerts.WithLabelValues(k, l)
		}
	}
}

// GuardAlert counts an alert.
func (m *Metrics) GuardAlert(kind, level string) { m.guard.alerts.WithLabelValues(kind, level).Inc() }
