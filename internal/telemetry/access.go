package telemetry

import "github.com/prometheus/client_golang/prometheus"

// RegisterHearing adds whether this node hears of revocations, which hearing
// tells at each scrape. Call it once.
func (m *Metrics) RegisterHearing(hearing func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lineproof_access_hearing", Help: "1 while this node hears of revocations; 0 while it looks every credential up instead.",
	}, func() float64 {
		if hearing() {
			return 1
		}
		return 0
	}))
}

// Graced counts a call that was let in from memory, because the database could
// not be asked.
func (m *Metrics) Graced() { m.graced.Inc() }
