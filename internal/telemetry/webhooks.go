package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// webhookMetrics are about requests to the endpoints of organisations.
type webhookMetrics struct {
	requests *prometheus.CounterVec
	events   prometheus.Counter
	delay    prometheus.Histogram
}

// webhookOutcomes are the values of the label outcome.
var webhookOutcomes = []string{"accepted", "failed", "split", "dead", "disabled"}

func (w *webhookMetrics) register(r *prometheus.Registry) {
	w.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lineproof_webhook_requests_total", Help: "Requests of this node to webhook endpoints, by outcome.",
	}, []string{"outcome"})
	for _, outcome := range webhookOutcomes {
		w.requests.WithLabelValues(outcome)
	}
	w.events = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lineproof_webhook_events_total", Help: "Events that webhook endpoints accepted from this node.",
	})
	w.delay = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "lineproof_webhook_delay_seconds", Help: "Time from when the last event of a request was added to the feed until the endpoint accepted it.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600, 86400},
	})
	r.MustRegister(w.requests, w.events, w.delay)
}

// WebhookSent records a request to a webhook endpoint.
func (m *Metrics) WebhookSent(outcome string, events int, age time.Duration) {
	m.webhooks.requests.WithLabelValues(outcome).Inc()
	if outcome == "accepted" {
		m.webhooks.events.Add(float64(events))
		m.webhooks.delay.Observe(age.Seconds())
	}
}
