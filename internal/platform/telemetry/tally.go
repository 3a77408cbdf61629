package telemetry

import "time"

// TallySettled records up to which time the counts of the journal are final. Only the node that
// runs the counting job reports it.
func (m *Metrics) TallySettled(settled time.Time) {
	m.show(m.tallySettled)
	m.tallySettled.Set(float64(settled.Unix()))
}
