package telemetry

import "github.com/prometheus/client_golang/prometheus"

// doorMetrics count connections to the public listener that led to no request.
type doorMetrics struct{ handshakes, connections prometheus.Counter }

func newDoorMetrics(m maker) doorMetrics {
	return doorMetrics{
		handshakes: m.counter("lineproof_tls_handshake_failures_total",
			"TLS handshakes on the public listener that failed. At most one a minute is logged."),
		connections: m.counter("lineproof_connections_refused_total",
			"Connections closed at once because their address had as many as it may have (LINEPROOF_ADDRESS_CONNS)."),
	}
}

// HandshakeFailed counts a TLS handshake that failed.
func (m *Metrics) HandshakeFailed() { m.doors.handshakes.Inc() }

// ConnectionRefused counts a connection over the limit of its address.
func (m *Metrics) ConnectionRefused() { m.doors.connections.Inc() }
