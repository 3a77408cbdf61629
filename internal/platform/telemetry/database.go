package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// databaseMetrics are about outages of the database.
type databaseMetrics struct {
	away        prometheus.Gauge
	outages     prometheus.Counter
	outagesTime prometheus.Counter
}

func newDatabaseMetrics(m maker) databaseMetrics {
	return databaseMetrics{
		away: m.gauge("lineproof_database_away",
			"1 while the database does not answer this node, which refuses all requests until it does."),
		outages: m.counter("lineproof_database_outages_total",
			"Times that the database stopped answering this node. Many a minute mean overload."),
		outagesTime: m.counter("lineproof_database_outage_seconds_total",
			"How long the database did not answer this node, in all; an outage counts when it ends."),
	}
}

// DatabaseAway notes that the database does not answer, or that it does again after an outage.
func (m *Metrics) DatabaseAway(away bool, after time.Duration) {
	if away {
		m.database.away.Set(1)
		m.database.outages.Inc()
		return
	}
	m.database.away.Set(0)
	m.database.outagesTime.Add(after.Seconds())
}
