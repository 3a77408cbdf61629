package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// tallyMetrics are registered with the first count: only the node that counts
// has something to say.
type tallyMetrics struct {
	once    sync.Once
	settled prometheus.Gauge
}

// TallySettled records up to when the journal is counted for good.
func (m *Metrics) TallySettled(settled time.Time) {
	m.tally.once.Do(func() {
		m.tally.settled = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_tally_settled_timestamp_seconds", Help: "Up to when this node has found the answers of the journal to be counted for good, in seconds since 1970.",
		})
		m.registry.MustRegister(m.tally.settled)
	})
	m.tally.settled.Set(float64(settled.Unix()))
}
