package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// SupplyStat is how an operator supplies.
type SupplyStat struct {
	Network string
	Through time.Time // zero when it never supplied
	Silent  bool      // longer than the policy allows
	Lines   int64
}

// supplyMetrics are registered with the first supply: a node that has looked at
// none yet says nothing about any.
type supplyMetrics struct {
	once                   sync.Once
	through, silent, lines *prometheus.GaugeVec
	held                   prometheus.Gauge
}

func (s *supplyMetrics) register(r *prometheus.Registry) {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"network"})
	}
	s.through = gauge("lineproof_supply_through_timestamp_seconds", "Through when an operator has supplied, in seconds since 1970; 0 when it never has.")
	s.silent = gauge("lineproof_supply_silent", "1 when an operator's supply is older than the policy allows, so that its lines turn UNKNOWN; otherwise 0.")
	s.lines = gauge("lineproof_supply_lines", "Lines with a running tenure, by network.")
	s.held = prometheus.NewGauge(prometheus.GaugeOpts{Name: "lineproof_imports_held", Help: "Imports that wait for staff to confirm them."})
	r.MustRegister(s.through, s.silent, s.lines, s.held)
}

// Supply records how the operators supply and how many imports are held.
func (m *Metrics) Supply(stats []SupplyStat, held int) {
	m.supply.once.Do(func() { m.supply.register(m.registry) })
	for _, s := range stats {
		through, silent := 0.0, 0.0
		if !s.Through.IsZero() {
			through = float64(s.Through.Unix())
		}
		if s.Silent {
			silent = 1
		}
		m.supply.through.WithLabelValues(s.Network).Set(through)
		m.supply.silent.WithLabelValues(s.Network).Set(silent)
		m.supply.lines.WithLabelValues(s.Network).Set(float64(s.Lines))
	}
	m.supply.held.Set(float64(held))
}
