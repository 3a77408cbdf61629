package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// RegisterGuard adds a counter of the guard's alerts by kind and level. Every
// pair exists from the start: a series that appeared only with the first alert
// would show no increase to alert on. Call it once.
func (m *Metrics) RegisterGuard(kinds, levels []string) {
	m.guardAlerts = promauto.With(m.registry).NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_guard_alerts_total", Help: "Alerts of the guard about an organisation, by kind and by level (what followed); counted by the node that found it first.",
	}, []string{"kind", "level"})
	for _, k := range kinds {
		for _, l := range levels {
			m.guardAlerts.WithLabelValues(k, l)
		}
	}
}

// GuardAlert counts an alert.
func (m *Metrics) GuardAlert(kind, level string) { m.guardAlerts.WithLabelValues(kind, level).Inc() }
