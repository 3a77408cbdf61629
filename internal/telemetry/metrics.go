package telemetry

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// latencyBuckets are the upper bounds of response times in seconds: fine in the
// range of a verification, and up to the slowest upload.
var latencyBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}

// Metrics are all metrics of the service. The methods take plain values, so that
// packages that may not import this one can be given them as functions.
type Metrics struct {
	registry *prometheus.Registry

	requests    *prometheus.CounterVec
	requestTime *prometheus.HistogramVec
	inFlight    prometheus.Gauge
	entries     *prometheus.CounterVec
	writeTime   prometheus.Histogram
	batchSize   prometheus.Histogram
	daysAhead   prometheus.Gauge
	panics      prometheus.Counter
	graceUses   prometheus.Counter
	rowsRefused *prometheus.CounterVec
	doors       doorMetrics
	database    databaseMetrics
	log         logMetrics
	webhooks    webhookMetrics
	feeds       feedMetrics
	jobs        jobMetrics

	supply supplyMetrics
	disk   diskMetrics
	guard  guardMetrics
	limits limitMetrics

	documents  documentMetrics
	tally      tallyMetrics
	requestLog requestLogMetrics

	certificate     prometheus.Gauge
	certificateOnce sync.Once
}

// NewMetrics returns metrics on a registry of their own, including those of the
// Go runtime and of the process.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lineproof_http_requests_total", Help: "Requests answered on the public listener, by route and HTTP status.",
		}, []string{"route", "status"}),
		requestTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lineproof_http_request_seconds", Help: "Time from the header of a request to the end of its response, by route.", Buckets: latencyBuckets,
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_http_in_flight", Help: "Requests that are being answered on the public listener.",
		}),
		entries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lineproof_journal_entries_total",
			Help: "Journal entries by outcome: written; refused (certainly not written); unknown (the database did not confirm).",
		}, []string{"outcome"}),
		writeTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lineproof_journal_write_seconds", Help: "Duration of a write to the journal until it was committed.", Buckets: latencyBuckets,
		}),
		batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lineproof_journal_batch_entries", Help: "Journal entries per commit.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000},
		}),
		daysAhead: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_days_ahead", Help: "Days after today for which the journal has partitions.",
		}),
		certificate: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_certificate_expiry_timestamp_seconds", Help: "When the certificate of the public listener expires, in seconds since 1970; absent without TLS.",
		}),
		database: newDatabaseMetrics(),
		graceUses: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lineproof_access_graced_total", Help: "Requests whose credential was accepted from the cache because the database did not answer.",
		}),
		rowsRefused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lineproof_rows_refused_total", Help: "Rows that were not accepted because the service had not written them, by table.",
		}, []string{"table"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lineproof_panics_total", Help: "Panics in handlers that were caught; the response was an internal error.",
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_build_info", Help: "Always 1; the labels have the running version.",
		ConstLabels: prometheus.Labels{"version": Version(), "go_version": runtime.Version()},
	})
	build.Set(1)
	m.limits.register(m.registry)
	m.documents.register(m.registry)
	m.doors.register(m.registry)
	m.log.register(m.registry)
	m.webhooks.register(m.registry)
	m.feeds.register(m.registry)
	m.jobs.register(m.registry)
	m.registry.MustRegister(
		m.requests, m.requestTime, m.inFlight, m.entries, m.writeTime, m.batchSize, m.daysAhead, m.panics, m.graceUses, m.rowsRefused, build,
		m.database.away, m.database.outages, m.database.outagesTime,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	// All outcomes exist from the start: a series that appeared only with the first
	// failure would show no increase to alert on.
	for _, outcome := range []string{"written", "refused", "unknown"} {
		m.entries.WithLabelValues(outcome)
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
	m.certificateOnce.Do(func() { m.registry.MustRegister(m.certificate) })
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
