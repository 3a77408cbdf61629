package web

import (
	"net/http"
	"slices"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Every fault code has a status, so that no response has the status 0.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, c := range fault.Codes {
		if Status(c) < 400 {
			t.Errorf("%s has the HTTP status %d", c, Status(c))
		}
	}
	if len(statuses) != len(fault.Codes) {
		t.Errorf("%d codes have a status, but there are %d codes", len(statuses), len(fault.Codes))
	}
}

// Every status of a failure is in the metrics of a route from the start.
func TestFailuresAreInTheMetrics(t *testing.T) {
	t.Parallel()
	for c, status := range statuses {
		if status >= http.StatusInternalServerError && !slices.Contains(telemetry.FailureStatuses, status) {
			t.Errorf("%s has the status %d, which the metrics do not know", c, status)
		}
	}
}
