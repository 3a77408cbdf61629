package telemetry

import "github.com/prometheus/client_golang/prometheus"

// LimitRefused counts a request that was refused by a kind of limit.
func (m *Metrics) LimitRefused(by string) { m.limitRefused.WithLabelValues(by).Inc() }

// RegisterLimits adds a counter of the rate-limit decisions that this node made
// by itself because Redis was unavailable. It calls local at each scrape. Call it
// once.
func (m *Metrics) RegisterLimits(local func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "lineproof_limit_local_total", Help: "Rate-limit decisions that this node made by itself, with half of the rate, because Redis was unavailable or slow.",
	}, func() float64 { return float64(local()) }))
}
