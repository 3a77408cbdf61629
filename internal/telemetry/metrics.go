package telemetry

import (
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// answerBuckets are the upper bounds of answer times in seconds: fine where a
// verification lies, and reaching to the slowest upload.
var answerBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}

// Metrics is everything that the service counts. Its methods take plain values,
// so that packages which may not import this one can be given them as functions.
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
	graced      prometheus.Counter

	supply supplyMetrics
	room   roomMetrics
	guard  guardMetrics
	limits limitMetrics

	documents documentMetrics
	tally     tallyMetrics

	certificate     prometheus.Gauge
	certificateOnce sync.Once
}

// NewMetrics returns metrics on a registry of their own, the Go runtime's and
// the process's among them.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lineproof_http_requests_total", Help: "Requests answered on the public listener, by route and HTTP status.",
		}, []string{"route", "status"}),
		requestTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lineproof_http_request_seconds", Help: "Time from the head of a request to the end of its answer, by route.", Buckets: answerBuckets,
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_http_in_flight", Help: "Requests that are being answered on the public listener.",
		}),
		entries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lineproof_journal_entries_total",
			Help: "Journal entries by outcome: written; refused (surely not written); unknown (the database did not say).",
		}, []string{"outcome"}),
		writeTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lineproof_journal_write_seconds", Help: "Time that one write to the journal took until it was committed.", Buckets: answerBuckets,
		}),
		batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lineproof_journal_batch_entries", Help: "Entries that one commit recorded.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000},
		}),
		daysAhead: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_journal_days_ahead", Help: "Days from now on for which the journal has partitions.",
		}),
		certificate: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lineproof_certificate_expiry_timestamp_seconds", Help: "When the certificate of the public listener ends, in seconds since 1970; absent without TLS.",
		}),
		graced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lineproof_access_graced_total", Help: "Calls that were let in from memory, because the database could not be asked about their credential.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lineproof_panics_total", Help: "Panics that were caught and answered with an internal error.",
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_build_info", Help: "Always 1; the labels say what is running.",
		ConstLabels: prometheus.Labels{"version": Version(), "go_version": runtime.Version()},
	})
	build.Set(1)
	m.limits.register(m.registry)
	m.documents.register(m.registry)
	m.registry.MustRegister(
		m.requests, m.requestTime, m.inFlight, m.entries, m.writeTime, m.batchSize, m.daysAhead, m.panics, m.graced, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	// A series that appears with the first failure cannot be alerted on by its
	// increase, so all outcomes exist from the start.
	for _, outcome := range []string{"written", "refused", "unknown"} {
		m.entries.WithLabelValues(outcome)
	}
	return m
}

// Handler answers with all metrics in Prometheus' text form.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// RequestBegan counts a request in; RequestEnded must follow.
func (m *Metrics) RequestBegan() { m.inFlight.Inc() }

// RequestEnded counts a request out. Route is the pattern from the route table,
// never the path that was sent; empty stands for a path without a route.
func (m *Metrics) RequestEnded(route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.inFlight.Dec()
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.requestTime.WithLabelValues(route).Observe(took.Seconds())
}

// Panicked counts a panic that was caught.
func (m *Metrics) Panicked() { m.panics.Inc() }

// JournalWritten counts entries that one write has committed.
func (m *Metrics) JournalWritten(entries int, took time.Duration) {
	m.entries.WithLabelValues("written").Add(float64(entries))
	m.writeTime.Observe(took.Seconds())
	m.batchSize.Observe(float64(entries))
}

// JournalRefused counts entries that are surely not in the journal.
func (m *Metrics) JournalRefused(entries int) {
	m.entries.WithLabelValues("refused").Add(float64(entries))
}

// JournalUnknown counts entries of which nobody knows whether they are in the
// journal.
func (m *Metrics) JournalUnknown(entries int) {
	m.entries.WithLabelValues("unknown").Add(float64(entries))
}

// JournalDaysAhead records how far the partitions reach.
func (m *Metrics) JournalDaysAhead(days int) { m.daysAhead.Set(float64(days)) }

// CertificateExpires records when the certificate of the public listener ends.
// The metric exists only where there is one: an absent certificate has not
// expired.
func (m *Metrics) CertificateExpires(at time.Time) {
	m.certificateOnce.Do(func() { m.registry.MustRegister(m.certificate) })
	m.certificate.Set(float64(at.Unix()))
}

// RegisterWaiting adds the number of questions that wait for a commit, which
// waiting tells at each scrape. Call it once.
func (m *Metrics) RegisterWaiting(waiting func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lineproof_verify_waiting", Help: "Questions that wait for a commit.",
	}, func() float64 { return float64(waiting()) }))
}

// RegisterPasswords adds the number of password hashes in flight, which
// inFlight tells at each scrape. Call it once.
func (m *Metrics) RegisterPasswords(inFlight func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lineproof_password_hashes_in_flight", Help: "Passwords that are being hashed.",
	}, func() float64 { return float64(inFlight()) }))
}
