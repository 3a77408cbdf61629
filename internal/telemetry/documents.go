package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// documentMetrics follow a document on its way. What a node has not looked at
// yet it says nothing about.
type documentMetrics struct {
	waitingOnce, scannerOnce, baseOnce sync.Once
	waiting, oldest, base              prometheus.Gauge
	scanner                            *prometheus.GaugeVec
	scans, removed                     *prometheus.CounterVec
}

// scannerStates are how the test of the scanner may end.
var scannerStates = []string{"ok", "away", "blind", "failing"}

func (d *documentMetrics) register(r *prometheus.Registry) {
	d.scans = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_document_scans_total",
		Help: "Tries to scan a document, by outcome: clean; refused; infected; waiting (the scanner is away or blind, or there is none); failed.",
	}, []string{"outcome"})
	d.removed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_document_files_removed_total",
		Help: "Files removed from the store: orphan (without a record for a day), retention (kept as long as the settings say).",
	}, []string{"why"})
	d.waiting = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_documents_waiting", Help: "Documents that have not been scanned to the end.",
	})
	d.oldest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_documents_waiting_seconds", Help: "For how long the oldest of them has waited; 0 when none does.",
	})
	d.scanner = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "lineproof_scanner_test", Help: "1 at how the last test of the virus scanner ended: ok; away; blind (it passes the test file); failing. Absent without a scanner.",
	}, []string{"state"})
	d.base = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lineproof_scanner_signatures_timestamp_seconds", Help: "When the scanner's signatures were made, in seconds since 1970; absent when it does not say.",
	})
	r.MustRegister(d.scans, d.removed)
	for _, outcome := range []string{"clean", "refused", "infected", "waiting", "failed"} {
		d.scans.WithLabelValues(outcome)
	}
	for _, why := range []string{"orphan", "retention"} {
		d.removed.WithLabelValues(why)
	}
}

// DocumentScanned counts a try to scan a document.
func (m *Metrics) DocumentScanned(outcome string) {
	m.documents.scans.WithLabelValues(outcome).Inc()
}

// DocumentFilesRemoved counts files that were removed from the store.
func (m *Metrics) DocumentFilesRemoved(why string, files int) {
	m.documents.removed.WithLabelValues(why).Add(float64(files))
}

// DocumentsWaiting records how many documents wait to be scanned, and for how
// long the oldest has.
func (m *Metrics) DocumentsWaiting(count int, oldest time.Duration) {
	m.documents.waitingOnce.Do(func() { m.registry.MustRegister(m.documents.waiting, m.documents.oldest) })
	m.documents.waiting.Set(float64(count))
	m.documents.oldest.Set(oldest.Seconds())
}

// ScannerTested records how the test of the scanner ended: ok, away, blind or
// failing.
func (m *Metrics) ScannerTested(state string) {
	m.documents.scannerOnce.Do(func() { m.registry.MustRegister(m.documents.scanner) })
	for _, s := range scannerStates {
		is := 0.0
		if s == state {
			is = 1
		}
		m.documents.scanner.WithLabelValues(s).Set(is)
	}
}

// ScannerSignatures records when the scanner's signatures were made.
func (m *Metrics) ScannerSignatures(made time.Time) {
	m.documents.baseOnce.Do(func() { m.registry.MustRegister(m.documents.base) })
	m.documents.base.Set(float64(made.Unix()))
}
