package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// roomMetrics are registered with the first look: a node that has not looked yet
// says nothing.
type roomMetrics struct {
	once, leftOnce   sync.Once
	bytes, day, left prometheus.Gauge
}

// JournalRoom records how many bytes the journal takes, and how many more in a
// day.
func (m *Metrics) JournalRoom(bytes, day int64) {
	m.room.once.Do(func() {
		m.room.bytes = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_bytes", Help: "Bytes that the journal takes in the database, with its indexes.",
		})
		m.room.day = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_bytes_per_day", Help: "Bytes by which the journal grows in a day.",
		})
		m.registry.MustRegister(m.room.bytes, m.room.day)
	})
	m.room.bytes.Set(float64(bytes))
	m.room.day.Set(float64(day))
}

// JournalDaysLeft records for how many days the database has room. The metric
// exists only where somebody has said how much room there is.
func (m *Metrics) JournalDaysLeft(days float64) {
	m.room.leftOnce.Do(func() {
		m.room.left = prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_disk_days_left", Help: "Days for which the database has room if the journal goes on to grow as it does; absent without LINEPROOF_JOURNAL_DISK_BYTES.",
		})
		m.registry.MustRegister(m.room.left)
	})
	m.room.left.Set(days)
}
