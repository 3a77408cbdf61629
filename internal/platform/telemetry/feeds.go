package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// feedMetrics are about what tells organisations of changes, and about their files of
// numbers.
type feedMetrics struct {
	changes prometheus.Counter
	events  *prometheus.CounterVec
	notices prometheus.Counter
	jobs    *prometheus.CounterVec
	rows    *prometheus.CounterVec

	lag          *prometheus.GaugeVec
	open, oldest prometheus.Gauge
}

func newFeedMetrics(m maker) feedMetrics {
	return feedMetrics{
		changes: m.counter("lineproof_feed_changes_total",
			"Changes of lines that this node read from the outbox and matched with watch-lists."),
		events:  m.counters("lineproof_feed_events_total", "Events about changes of lines that this node added to feeds, by type.", "type"),
		notices: m.counter("lineproof_impact_notices_total", "Notices about past answers that this node added to feeds."),
		jobs: m.counters("lineproof_file_jobs_total",
			"File jobs that ended on this node, by outcome: done; failed (because of the file, its key or the budget).", "outcome", "done", "failed"),
		rows: m.counters("lineproof_file_job_rows_total",
			"Rows of file jobs that this node has dealt with, by outcome: answered (and recorded); rejected.", "outcome", "answered", "rejected"),
		lag: late.gauges("lineproof_outbox_lag_seconds",
			"Age of the oldest change of a line that a reader of the outbox has not read; 0 if it has read all.", "reader"),
		open: late.gauge("lineproof_file_jobs_open", "File jobs that have their file and have not ended."),
		oldest: late.gauge("lineproof_file_jobs_open_seconds",
			"How long ago the file of the oldest open file job was received; 0 if none is open."),
	}
}

// ChangesDistributed counts changes that were matched with watch-lists, and the events that
// they became, by type.
func (m *Metrics) ChangesDistributed(changes int, events map[string]int) {
	m.feeds.changes.Add(float64(changes))
	for kind, n := range events {
		m.feeds.events.WithLabelValues(kind).Add(float64(n))
	}
}

// NoticesTold counts notices about past answers.
func (m *Metrics) NoticesTold(notices int) { m.feeds.notices.Add(float64(notices)) }

// OutboxLag records how old the oldest change is that each reader has not read.
func (m *Metrics) OutboxLag(lag map[string]time.Duration) {
	m.show(m.feeds.lag)
	for reader, age := range lag {
		m.feeds.lag.WithLabelValues(reader).Set(age.Seconds())
	}
}

// FileJobEnded counts a file job.
func (m *Metrics) FileJobEnded(outcome string) { m.feeds.jobs.WithLabelValues(outcome).Inc() }

// FileJobRows counts rows of file jobs.
func (m *Metrics) FileJobRows(answered, rejected int64) {
	m.feeds.rows.WithLabelValues("answered").Add(float64(answered))
	m.feeds.rows.WithLabelValues("rejected").Add(float64(rejected))
}

// FileJobsOpen records how many file jobs are open, and for how long the oldest has been.
func (m *Metrics) FileJobsOpen(jobs int64, oldest time.Duration) {
	m.show(m.feeds.open, m.feeds.oldest)
	m.feeds.open.Set(float64(jobs))
	m.feeds.oldest.Set(oldest.Seconds())
}
