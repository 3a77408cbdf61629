package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// tallyMetrics are registered with their first value: only the node that runs the
// counting job reports them.
type tallyMetrics struct {
	once    sync.Once
	settled prometheus.Gauge
}

// TallySettled records up to which time the counts of the journal are final.
func (m *Metrics) TallySettled(settled time.Time) {
	m.tally.once.Do(func() {
		m.tally.settled = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_tally_settled_timestamp_seconds", Help: "Time up to which the counts of the answers in the journal are final, as this node last found, in seconds since 1970.",
		})
		m.registry.MustRegister(m.tally.settled)
	})
	m.tally.settled.Set(float64(settled.Unix()))
}
