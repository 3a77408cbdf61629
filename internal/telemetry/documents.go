package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// documentMetrics are the metrics of documents and of the virus scanner. Gauges
// are registered with their first value: a node that has not measured yet reports
// none.
type documentMetrics struct {
	waitingOnce, scannerOnce, signaturesOnce sync.Once
	waiting, oldest, signatures              prometheus.Gauge
	scanner                                  *prometheus.GaugeVec
	scans, removed                           *prometheus.CounterVec
}

// scannerStates are the possible results of the scanner test.
var scannerStates = []string{"ok", "away", "blind", "failing"}

func (d *documentMetrics) register(r *prometheus.Registry) {
	d.scans = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_document_scans_total",
		Help: "Attempts to scan a document, by outcome: clean; refused; infected; waiting (the scanner is unavailable, does not detect the test file, or is not configured); failed.",
	}, []string{"outcome"})
	d.removed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_document_files_removed_total",
		Help: "Files removed from the store: orphan (older than a day and of no document), retention (the configured retention has passed).",
	}, []string{"why"})
	d.waiting = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_documents_waiting", Help: "Documents whose scan is not finished.",
	})
	d.oldest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_documents_waiting_seconds", Help: "How long the oldest document has waited for its scan; 0 if none is waiting.",
	})
	d.scanner = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "lineproof_scanner_test", Help: "1 for the result of the last test of the virus scanner: ok; away (not reachable); blind (it does not detect the test file); failing. Absent without a scanner.",
	}, []string{"state"})
	d.signatures = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_scanner_signatures_timestamp_seconds", Help: "When the scanner's signatures were created, in seconds since 1970; absent if the scanner does not report it.",
	})
	r.MustRegister(d.scans, d.removed)
	for _, outcome := range []string{"clean", "refused", "infected", "waiting", "failed"} {
		d.scans.WithLabelValues(outcome)
	}
	for _, why := range []string{"orphan", "retention"} {
		d.removed.WithLabelValues(why)
	}
}

// DocumentScanned counts an attempt to scan a document.
func (m *Metrics) DocumentScanned(outcome string) {
	m.documents.scans.WithLabelValues(outcome).Inc()
}

// DocumentFilesRemoved counts files that were removed from the store.
func (m *Metrics) DocumentFilesRemoved(reason string, files int) {
	m.documents.removed.WithLabelValues(reason).Add(float64(files))
}

// DocumentsWaiting records how many documents wait for their scan, and how long
// the oldest has waited.
func (m *Metrics) DocumentsWaiting(count int, oldest time.Duration) {
	m.documents.waitingOnce.Do(func() { m.registry.MustRegister(m.documents.waiting, m.documents.oldest) })
	m.documents.waiting.Set(float64(count))
	m.documents.oldest.Set(oldest.Seconds())
}

// ScannerTested records the result of the scanner test: ok, away, blind or
// failing.
func (m *Metrics) ScannerTested(state string) {
	m.documents.scannerOnce.Do(func() { m.registry.MustRegister(m.documents.scanner) })
	for _, s := range scannerStates {
		value := 0.0
		if s == state {
			value = 1
		}
		m.documents.scanner.WithLabelValues(s).Set(value)
	}
}

// ScannerSignatures records when the scanner's signatures were created.
func (m *Metrics) ScannerSignatures(created time.Time) {
	m.documents.signaturesOnce.Do(func() { m.registry.MustRegister(m.documents.signatures) })
	m.documents.signatures.Set(float64(created.Unix()))
}
