package telemetry

import "github.com/prometheus/client_golang/prometheus"

// diskMetrics are about the journal's use of the disk.
type diskMetrics struct{ bytes, day, left prometheus.Gauge }

func newDiskMetrics() diskMetrics {
	return diskMetrics{
		bytes: late.gauge("lineproof_journal_bytes", "Bytes that the journal uses in the database, with its indexes."),
		day:   late.gauge("lineproof_journal_bytes_per_day", "Bytes by which the journal grows in a day."),
		left: late.gauge("lineproof_journal_disk_days_left",
			"Days for which the disk space of the database lasts if the journal keeps growing as it does; absent without LINEPROOF_JOURNAL_DISK_BYTES."),
	}
}

// JournalDiskBytes records how many bytes the journal uses, and by how many it
// grows in a day.
func (m *Metrics) JournalDiskBytes(bytes, day int64) {
	m.show(m.disk.bytes, m.disk.day)
	m.disk.bytes.Set(float64(bytes))
	m.disk.day.Set(float64(day))
}

// JournalDaysLeft records for how many days the disk space lasts. The metric
// exists only if the size of the disk is configured.
func (m *Metrics) JournalDaysLeft(days float64) {
	m.show(m.disk.left)
	m.disk.left.Set(days)
}
