package evidence

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/evidence/monitor"
)

// A check that only warns is no success: who is alerted when the last one is some minutes old hears of witnesses that stay away.
func TestAWarningIsNoSuccess(t *testing.T) {
	t.Parallel()
	var m metrics
	shows := func(lines ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		for _, line := range lines {
			if !strings.Contains(w.Body.String(), "\nlineproof_monitor_"+line+"\n") {
				t.Errorf("the metrics have no %q:\n%s", line, w.Body)
			}
		}
	}
	m.observe(&monitor.Report{Size: 5, Warning: "too few witnesses"}, false, nil)
	shows("last_success_seconds 0", "log_entries 5", "unconfirmed 1", "violations_total 0")
	m.observe(&monitor.Report{}, false, errors.New("away"))
	shows("unconfirmed 1", "failed_checks_total 1")
	m.observe(&monitor.Report{Size: 6}, false, nil)
	if shows("log_entries 6", "unconfirmed 0"); m.at.IsZero() {
		t.Error("a check without a warning is no success")
	}
}
