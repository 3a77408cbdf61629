package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// documentMetrics are the metrics of documents and of the virus scanner.
type documentMetrics struct {
	waiting, oldest, signatures prometheus.Gauge
	scanner                     *prometheus.GaugeVec
	scans, removed              *prometheus.CounterVec
}

// scannerStates are the possible results of the scanner test.
var scannerStates = []string{"ok", "away", "blind", "failing"}

func newDocumentMetrics(m maker) documentMetrics {
	return documentMetrics{
		scans: m.counters("lineproof_document_scans_total",
			"Attempts to scan a document, by outcome: clean; refused; infected; waiting (the scanner is unavailable, does not detect the test file, or is not configured); failed.", "outcome", "clean", "refused", "infected", "waiting", "failed"),
		removed: m.counters("lineproof_document_files_removed_total",
			"Files removed from the store: orphan (older than a day and of no document), retention (the configured retention has passed).", "why", "orphan", "retention"),
		waiting: late.gauge("lineproof_documents_waiting", "Documents whose scan is not finished."),
		oldest: late.gauge("lineproof_documents_waiting_seconds",
			"How long the oldest document has waited for its scan; 0 if none is waiting."),
		scanner: late.gauges("lineproof_scanner_test",
			"1 for the result of the last test of the virus scanner: ok; away (not reachable); blind (it does not detect the test file); failing. Absent without a scanner.", "state"),
		signatures: late.gauge("lineproof_scanner_signatures_timestamp_seconds",
			"When the scanner's signatures were created, in seconds since 1970; absent if the scanner does not report it."),
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
	m.show(m.documents.waiting, m.documents.oldest)
	m.documents.waiting.Set(float64(count))
	m.documents.oldest.Set(oldest.Seconds())
}

// ScannerTested records the result of the scanner test: ok, away, blind or
// failing.
func (m *Metrics) ScannerTested(state string) {
	m.show(m.documents.scanner)
	for _, s := range scannerStates {
		m.documents.scanner.WithLabelValues(s).Set(number(s == state))
	}
}

// ScannerSignatures records when the scanner's signatures were created.
func (m *Metrics) ScannerSignatures(created time.Time) {
	m.show(m.documents.signatures)
	m.documents.signatures.Set(float64(created.Unix()))
}
