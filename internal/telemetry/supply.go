package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// SupplyStat is the state of one operator's supply.
type SupplyStat struct {
	Network    string
	Through    time.Time // this and the next are zero when it never supplied
	FreshUntil time.Time // when it becomes silent if it supplies nothing more
	Silent     bool      // longer than the policy allows
	Lines      int64
}

// supplyMetrics are registered with their first value: a node that has not
// checked the supply yet reports none.
type supplyMetrics struct {
	once                               sync.Once
	through, freshUntil, silent, lines *prometheus.GaugeVec
	held                               prometheus.Gauge
}

func (s *supplyMetrics) register(r *prometheus.Registry) {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"network"})
	}
	s.through = gauge("lineproof_supply_through_timestamp_seconds", "Time through which an operator has supplied, in seconds since 1970; 0 if it never has.")
	s.freshUntil = gauge("lineproof_supply_fresh_until_timestamp_seconds", "When an operator's lines become UNKNOWN if it supplies nothing more, in seconds since 1970; 0 if it never has supplied.")
	s.silent = gauge("lineproof_supply_silent", "1 when an operator's supply is older than the policy allows, so that its lines are UNKNOWN; otherwise 0.")
	s.lines = gauge("lineproof_supply_lines", "Lines with a current tenure, by network.")
	s.held = prometheus.NewGauge(prometheus.GaugeOpts{Name: "lineproof_imports_held", Help: "Imports that wait for staff to confirm them."})
	r.MustRegister(s.through, s.freshUntil, s.silent, s.lines, s.held)
}

// Supply records the state of the operators' supply and the number of held
// imports.
func (m *Metrics) Supply(stats []SupplyStat, held int) {
	m.supply.once.Do(func() { m.supply.register(m.registry) })
	for _, s := range stats {
		silent := 0.0
		if s.Silent {
			silent = 1
		}
		m.supply.through.WithLabelValues(s.Network).Set(unixSeconds(s.Through))
		m.supply.freshUntil.WithLabelValues(s.Network).Set(unixSeconds(s.FreshUntil))
		m.supply.silent.WithLabelValues(s.Network).Set(silent)
		m.supply.lines.WithLabelValues(s.Network).Set(float64(s.Lines))
	}
	m.supply.held.Set(float64(held))
}

// unixSeconds returns a time in seconds since 1970, and 0 for the zero time.
func unixSeconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}
