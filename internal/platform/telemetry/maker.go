package telemetry

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// maker makes metrics and registers them.
type maker struct{ promauto.Factory }

// late makes metrics that [Metrics.show] registers with their first value: a node that has not
// measured yet reports none.
var late = maker{promauto.With(nil)}

func (m maker) counter(name, help string) prometheus.Counter {
	return m.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// counters makes a counter with a label. Its known values exist from the start: a series that
// appeared only with the first failure would show no increase to alert on.
func (m maker) counters(name, help, label string, known ...string) *prometheus.CounterVec {
	c := m.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range known {
		c.WithLabelValues(value)
	}
	return c
}

func (m maker) gauge(name, help string) prometheus.Gauge {
	return m.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func (m maker) gauges(name, help, label string) *prometheus.GaugeVec {
	return m.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
}

func (m maker) histogram(name, help string, buckets []float64) prometheus.Histogram {
	return m.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

// show registers metrics that are not registered yet.
func (m *Metrics) show(metrics ...prometheus.Collector) {
	for _, c := range metrics {
		err := m.registry.Register(c)
		if _, again := errors.AsType[prometheus.AlreadyRegisteredError](err); err != nil && !again {
			panic(err) // two metrics have the same name
		}
	}
}

// number is 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
