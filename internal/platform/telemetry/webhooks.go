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

func newWebhookMetrics(m maker) webhookMetrics {
	return webhookMetrics{
		requests: m.counters("lineproof_webhook_requests_total",
			"Requests of this node to webhook endpoints, by outcome.", "outcome", "accepted", "failed", "split", "dead", "disabled"),
		events: m.counter("lineproof_webhook_events_total", "Events that webhook endpoints accepted from this node."),
		delay: m.histogram("lineproof_webhook_delay_seconds",
			"Time from when the last event of a request was added to the feed until the endpoint accepted it.", []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600, 86400}),
	}
}

// WebhookSent records a request to a webhook endpoint.
func (m *Metrics) WebhookSent(outcome string, events int, age time.Duration) {
	m.webhooks.requests.WithLabelValues(outcome).Inc()
	if outcome == "accepted" {
		m.webhooks.events.Add(float64(events))
		m.webhooks.delay.Observe(age.Seconds())
	}
}
