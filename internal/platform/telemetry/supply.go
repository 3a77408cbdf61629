package telemetry

import (
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

// supplyMetrics are about the supply of the operators.
type supplyMetrics struct {
	through, freshUntil, silent, lines *prometheus.GaugeVec
	held                               prometheus.Gauge
}

func newSupplyMetrics() supplyMetrics {
	return supplyMetrics{
		through: late.gauges("lineproof_supply_through_timestamp_seconds",
			"Time through which an operator has supplied, in seconds since 1970; 0 if it never has.", "network"),
		freshUntil: late.gauges("lineproof_supply_fresh_until_timestamp_seconds",
			"When an operator's lines become UNKNOWN if it supplies nothing more, in seconds since 1970; 0 if it never has supplied.", "network"),
		silent: late.gauges("lineproof_supply_silent",
			"1 when an operator's supply is older than the policy allows, so that its lines are UNKNOWN; otherwise 0.", "network"),
		lines: late.gauges("lineproof_supply_lines", "Lines with a current tenure, by network.", "network"),
		held:  late.gauge("lineproof_imports_held", "Imports that wait for staff to confirm them."),
	}
}

// Supply records the state of the operators' supply and the number of held
// imports.
func (m *Metrics) Supply(stats []SupplyStat, held int) {
	m.show(m.supply.through, m.supply.freshUntil, m.supply.silent, m.supply.lines, m.supply.held)
	for _, s := range stats {
		m.supply.through.WithLabelValues(s.Network).Set(unixSeconds(s.Through))
		m.supply.freshUntil.WithLabelValues(s.Network).Set(unixSeconds(s.FreshUntil))
		m.supply.silent.WithLabelValues(s.Network).Set(number(s.Silent))
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
