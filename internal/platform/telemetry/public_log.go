package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// logMetrics are about the public log.
type logMetrics struct {
	entries, failures prometheus.Counter
	delay             prometheus.Gauge

	unpublished prometheus.Gauge
	witnessed   *prometheus.GaugeVec
}

func newLogMetrics(m maker) logMetrics {
	return logMetrics{
		entries:  m.counter("lineproof_log_entries_total", "Entries that this node added to the public log."),
		failures: m.counter("lineproof_log_failures_total", "Attempts of this node to add to the public log that failed."),
		delay: m.gauge("lineproof_log_delay_seconds",
			"Age of the oldest batch among those that this node added to the public log last, when it added them."),
		unpublished: late.gauge("lineproof_log_unpublished_seconds",
			"Age of the oldest entry of the public log that no published checkpoint covers; 0 if all are published."),
		witnessed: late.gauges("lineproof_log_witness_timestamp_seconds",
			"When the newest checkpoint that each witness signed was published, as far as this node has seen, in seconds since 1970; 0 for none.", "witness"),
	}
}

// LogGrew records that entries were added to the public log.
func (m *Metrics) LogGrew(entries int, delay time.Duration) {
	m.log.entries.Add(float64(entries))
	m.log.delay.Set(delay.Seconds())
}

// LogFailed counts a failed attempt to add to the public log.
func (m *Metrics) LogFailed() { m.log.failures.Inc() }

// LogState records how old the oldest entry is that is not published, and when the newest
// checkpoint that each witness signed was published; the zero time for none.
func (m *Metrics) LogState(unpublished time.Duration, witnessed map[string]time.Time) {
	m.show(m.log.unpublished, m.log.witnessed)
	m.log.unpublished.Set(unpublished.Seconds())
	for witness, at := range witnessed {
		seconds := 0.0
		if !at.IsZero() {
			seconds = float64(at.UnixMilli()) / 1000
		}
		m.log.witnessed.WithLabelValues(witness).Set(seconds)
	}
}
