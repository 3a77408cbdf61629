package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// diskMetrics are registered with their first value: a node that has not measured
// yet reports none.
type diskMetrics struct {
	once, leftOnce   sync.Once
	bytes, day, left prometheus.Gauge
}

// JournalDiskBytes records how many bytes the journal uses, and by how many it
// grows in a day.
func (m *Metrics) JournalDiskBytes(bytes, day int64) {
	m.disk.once.Do(func() {
		m.disk.bytes = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_bytes", Help: "Bytes that the journal uses in the database, with its indexes.",
		})
		m.disk.day = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_bytes_per_day", Help: "Bytes by which the journal grows in a day.",
		})
		m.registry.MustRegister(m.disk.bytes, m.disk.day)
	})
	m.disk.bytes.Set(float64(bytes))
	m.disk.day.Set(float64(day))
}

// JournalDaysLeft records for how many days the disk space lasts. The metric
// exists only if the size of the disk is configured.
func (m *Metrics) JournalDaysLeft(days float64) {
	m.disk.leftOnce.Do(func() {
		m.disk.left = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_disk_days_left", Help: "Days for which the disk space of the database lasts if the journal keeps growing as it does; absent without LINEPROOF_JOURNAL_DISK_BYTES.",
		})
		m.registry.MustRegister(m.disk.left)
	})
	m.disk.left.Set(days)
}
