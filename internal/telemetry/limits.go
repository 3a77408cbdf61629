package telemetry

import "github.com/prometheus/client_golang/prometheus"

// limitMetrics count requests that came too fast. All of their values exist from
// the start, so that an increase can be alerted on.
type limitMetrics struct{ refused *prometheus.CounterVec }

func (l *limitMetrics) register(r *prometheus.Registry) {
	l.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_limit_refused_total", Help: "Requests that were refused because they came too fast, by whose rate it was: key, entity or address.",
	}, []string{"by"})
	for _, by := range []string{"key", "entity", "address"} {
		l.refused.WithLabelValues(by)
	}
	r.MustRegister(l.refused)
}

// LimitRefused counts a request that came too fast for a key, an entity or an
// address.
func (m *Metrics) LimitRefused(by string) { m.limits.refused.WithLabelValues(by).Inc() }

// RegisterLimits adds the number of decisions about rates that this node made by
// itself because Redis was away, which local tells at each scrape. Call it once.
func (m *Metrics) RegisterLimits(local func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "lineproof_limit_local_total", Help: "Decisions about rates that this node made by itself, with half of the rate, because Redis was away or slow.",
	}, func() float64 { return float64(local()) }))
}
