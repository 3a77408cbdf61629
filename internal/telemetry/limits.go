package telemetry

import "github.com/prometheus/client_golang/prometheus"

// limitMetrics count requests over the rate limit. All label values exist from
// the start, so that an alert can use their increase.
type limitMetrics struct{ refused *prometheus.CounterVec }

func (l *limitMetrics) register(r *prometheus.Registry) {
	l.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_limit_refused_total", Help: "Requests refused with 429, by the kind of limit.",
	}, []string{"by"})
	for _, by := range []string{"key", "entity", "client", "session", "address", "concurrent"} {
		l.refused.WithLabelValues(by)
	}
	r.MustRegister(l.refused)
}

// LimitRefused counts a request that was refused by a kind of limit.
func (m *Metrics) LimitRefused(by string) { m.limits.refused.WithLabelValues(by).Inc() }

// RegisterLimits adds a counter of the rate-limit decisions that this node made
// by itself because Redis was unavailable. It calls local at each scrape. Call it
// once.
func (m *Metrics) RegisterLimits(local func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "lineproof_limit_local_total", Help: "Rate-limit decisions that this node made by itself, with half of the rate, because Redis was unavailable or slow.",
	}, func() float64 { return float64(local()) }))
}
