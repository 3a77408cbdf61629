package telemetry

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// latencyBuckets are the upper bounds of response times in seconds: fine in the
// range of a verification, and up to the slowest upload.
var latencyBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}

// Metrics are all metrics of the service. The methods take plain values, so that
// packages that may not import this one can be given them as functions.
type Metrics struct {
	registry *prometheus.Registry

	requests        *prometheus.CounterVec
	requestTime     *prometheus.HistogramVec
	inFlight        prometheus.Gauge
	limitRefused    *prometheus.CounterVec
	requestsDropped prometheus.Counter
	dropping        sync.Once
	panics          prometheus.Counter
	certificate     prometheus.Gauge

	entries      *prometheus.CounterVec
	writeTime    prometheus.Histogram
	batchSize    prometheus.Histogram
	daysAhead    prometheus.Gauge
	tallySettled prometheus.Gauge

	graceUses   prometheus.Counter
	rowsRefused *prometheus.CounterVec
	guardAlerts *prometheus.CounterVec // nil before [Metrics.RegisterGuard]
	jobs        *prometheus.CounterVec

	doors     doorMetrics
	database  databaseMetrics
	disk      diskMetrics
	documents documentMetrics
	supply    supplyMetrics
	feeds     feedMetrics
	webhooks  webhookMetrics
	log       logMetrics
}

// NewMetrics returns metrics on a registry of their own, including those of the
// Go runtime and of the process.
func NewMetrics() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	now := maker{promauto.With(registry)}
	now.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_build_info", Help: "Always 1; the labels have the running version.",
		ConstLabels: prometheus.Labels{"version": Version(), "go_version": runtime.Version()},
	}).Set(1)
	m := &Metrics{
		registry: registry,

		requests: now.NewCounterVec(prometheus.CounterOpts{
			Name: "lineproof_http_requests_total", Help: "Requests answered on the public listener, by route and HTTP status.",
		}, []string{"route", "status"}),
		requestTime: now.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lineproof_http_request_seconds", Help: "Time from the header of a request to the end of its response, by route.", Buckets: latencyBuckets,
		}, []string{"route"}),
		inFlight: now.gauge("lineproof_http_in_flight", "Requests that are being answered on the public listener."),
		limitRefused: now.counters("lineproof_limit_refused_total", "Requests refused with 429, by the kind of limit.",
			"by", "key", "entity", "client", "session", "address", "concurrent"),
		requestsDropped: late.counter("lineproof_request_log_dropped_total",
			"Refused requests with an API key that are not in the request log of their organisation, because it sends too many or the database is down."),
		panics: now.counter("lineproof_panics_total", "Panics in handlers that were caught; the response was an internal error."),
		certificate: late.gauge("lineproof_certificate_expiry_timestamp_seconds",
			"When the certificate of the public listener expires, in seconds since 1970; absent without TLS."),

		entries: now.counters("lineproof_journal_entries_total",
			"Journal entries by outcome: written; refused (certainly not written); unknown (the database did not confirm).", "outcome", "written", "refused", "unknown"),
		writeTime: now.histogram("lineproof_journal_write_seconds",
			"Duration of a write to the journal until it was committed.", latencyBuckets),
		batchSize: now.histogram("lineproof_journal_batch_entries",
			"Journal entries per commit.", []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000}),
		daysAhead: now.gauge("lineproof_journal_days_ahead", "Days after today for which the journal has partitions."),
		tallySettled: late.gauge("lineproof_tally_settled_timestamp_seconds",
			"Time up to which the counts of the answers in the journal are final, as this node last found, in seconds since 1970."),

		graceUses: now.counter("lineproof_access_graced_total",
			"Requests whose credential was accepted from the cache because the database did not answer."),
		rowsRefused: now.counters("lineproof_rows_refused_total",
			"Rows that were not accepted because the service had not written them, by table.", "table"),
		jobs: now.NewCounterVec(prometheus.CounterOpts{
			Name: "lineproof_jobs_total", Help: "Attempts of jobs that ended on this node, by kind and outcome: done; failed (tried again later).",
		}, []string{"kind", "outcome"}),

		doors: newDoorMetrics(now), database: newDatabaseMetrics(now), disk: newDiskMetrics(), documents: newDocumentMetrics(now), supply: newSupplyMetrics(),
		feeds: newFeedMetrics(now), webhooks: newWebhookMetrics(now), log: newLogMetrics(now),
	}
	m.RegisterRoute(noRoute)
	return m
}

// Handler serves all metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Panicked counts a panic that was caught.
func (m *Metrics) Panicked() { m.panics.Inc() }

// JournalWritten counts entries that one write has committed.
func (m *Metrics) JournalWritten(entries int, took time.Duration) {
	m.entries.WithLabelValues("written").Add(float64(entries))
	m.writeTime.Observe(took.Seconds())
	m.batchSize.Observe(float64(entries))
}

// JournalRefused counts entries that are certainly not in the journal.
func (m *Metrics) JournalRefused(entries int) {
	m.entries.WithLabelValues("refused").Add(float64(entries))
}

// JournalUnknown counts entries for which it is unknown whether they are in the
// journal.
func (m *Metrics) JournalUnknown(entries int) {
	m.entries.WithLabelValues("unknown").Add(float64(entries))
}

// JournalDaysAhead records for how many days the journal has partitions.
func (m *Metrics) JournalDaysAhead(days int) { m.daysAhead.Set(float64(days)) }

// CertificateExpires records when the certificate of the public listener expires.
// The metric exists only with TLS: without a certificate no alert must fire.
func (m *Metrics) CertificateExpires(at time.Time) {
	m.show(m.certificate)
	m.certificate.Set(float64(at.Unix()))
}

// RegisterWaiting adds a gauge of the verify requests that wait for a commit. It
// calls waiting at each scrape. Call it once.
func (m *Metrics) RegisterWaiting(waiting func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lineproof_verify_waiting", Help: "Verify requests that wait for a commit.",
	}, func() float64 { return float64(waiting()) }))
}

// RegisterPasswords adds a gauge of the password hashes in flight. It calls
// inFlight at each scrape. Call it once.
func (m *Metrics) RegisterPasswords(inFlight func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lineproof_password_hashes_in_flight", Help: "Passwords that are being hashed.",
	}, func() float64 { return float64(inFlight()) }))
}
