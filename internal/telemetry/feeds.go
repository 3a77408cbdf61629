package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// feedMetrics are about what tells organisations of changes, and about their files of
// numbers. Gauges are registered with their first value: a node that has not measured yet
// reports none.
type feedMetrics struct {
	changes prometheus.Counter
	events  *prometheus.CounterVec
	notices prometheus.Counter
	jobs    *prometheus.CounterVec
	rows    *prometheus.CounterVec

	lagOnce, openOnce sync.Once
	lag               *prometheus.GaugeVec
	open, oldest      prometheus.Gauge
}

func (f *feedMetrics) register(r *prometheus.Registry) {
	f.changes = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lineproof_feed_changes_total", Help: "Changes of lines that this node read from the outbox and matched with watch-lists.",
	})
	f.events = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_feed_events_total", Help: "Events about changes of lines that this node added to feeds, by type.",
	}, []string{"type"})
	f.notices = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lineproof_impact_notices_total", Help: "Notices about past answers that this node added to feeds.",
	})
	f.jobs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_file_jobs_total", Help: "File jobs that ended on this node, by outcome: done; failed (because of the file, its key or the budget).",
	}, []string{"outcome"})
	f.rows = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_file_job_rows_total", Help: "Rows of file jobs that this node has dealt with, by outcome: answered (and recorded); rejected.",
	}, []string{"outcome"})
	f.lag = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "lineproof_outbox_lag_seconds", Help: "Age of the oldest change of a line that a reader of the outbox has not read; 0 if it has read all.",
	}, []string{"reader"})
	f.open = prometheus.NewGauge(prometheus.GaugeOpts{Name: "lineproof_file_jobs_open", Help: "File jobs that have their file and have not ended."})
	f.oldest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_file_jobs_open_seconds", Help: "How long ago the file of the oldest open file job was received; 0 if none is open.",
	})
	r.MustRegister(f.changes, f.events, f.notices, f.jobs, f.rows)
	for _, outcome := range []string{"done", "failed"} {
		f.jobs.WithLabelValues(outcome)
	}
	for _, outcome := range []string{"answered", "rejected"} {
		f.rows.WithLabelValues(outcome)
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
	m.feeds.lagOnce.Do(func() { m.registry.MustRegister(m.feeds.lag) })
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
	m.feeds.openOnce.Do(func() { m.registry.MustRegister(m.feeds.open, m.feeds.oldest) })
	m.feeds.open.Set(float64(jobs))
	m.feeds.oldest.Set(oldest.Seconds())
}
