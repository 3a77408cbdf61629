package telemetry

import (
	"net/http"
	"strconv"
	"time"
)

// noRoute is the label of requests for a path without a route.
const noRoute = "none"

// FailureStatuses are the statuses of requests that failed because of the service.
var FailureStatuses = []int{http.StatusInternalServerError, http.StatusServiceUnavailable}

// RegisterRoute adds a route without failed requests: a series that appeared only with the
// first failure would show no increase to alert on.
func (m *Metrics) RegisterRoute(route string) {
	for _, status := range FailureStatuses {
		m.requests.WithLabelValues(route, strconv.Itoa(status))
	}
}

// RegisterTimes adds the times of a route on which an alert depends.
func (m *Metrics) RegisterTimes(route string) { m.requestTime.WithLabelValues(route) }

// RequestBegan counts the start of a request; RequestEnded must follow.
func (m *Metrics) RequestBegan() { m.inFlight.Inc() }

// RequestEnded counts the end of a request. An expected one has a status of 500 or above and is
// no failure of the service; it is counted as "expected". Route is the pattern from the route
// table, never the path of the request; it is empty for a path without a route.
func (m *Metrics) RequestEnded(route string, status int, expected bool, took time.Duration) {
	if route == "" {
		route = noRoute
	}
	m.inFlight.Dec()
	label := strconv.Itoa(status)
	if expected {
		label = "expected"
	}
	m.requests.WithLabelValues(route, label).Inc()
	m.requestTime.WithLabelValues(route).Observe(took.Seconds())
}
