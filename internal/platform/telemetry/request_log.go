package telemetry

// RequestLogDropped counts refused requests that are not in the request log.
func (m *Metrics) RequestLogDropped(n int) {
	m.dropping.Do(func() { m.show(m.requestsDropped) }) // a flood calls this often
	m.requestsDropped.Add(float64(n))
}
