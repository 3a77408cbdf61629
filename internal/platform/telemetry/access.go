package telemetry

import "github.com/prometheus/client_golang/prometheus"

// RegisterListening adds a gauge of whether this node receives notifications of
// revocations. It calls listening at each scrape. Call it once.
func (m *Metrics) RegisterListening(listening func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lineproof_access_hearing", Help: "1 while this node is notified of revocations; 0 while it is not and reads every credential from the database.",
	}, func() float64 { return number(listening()) }))
}

// GraceUsed counts a request whose credential was accepted from the cache because
// the database did not answer.
func (m *Metrics) GraceUsed() { m.graceUses.Inc() }

// RegisterRows adds the tables whose rows are signed. Call it once.
func (m *Metrics) RegisterRows(tables []string) {
	for _, table := range tables {
		m.rowsRefused.WithLabelValues(table)
	}
}

// RowRefused counts a row that was not accepted because the service had not written it.
func (m *Metrics) RowRefused(table string) { m.rowsRefused.WithLabelValues(table).Inc() }
