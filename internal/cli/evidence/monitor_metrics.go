package evidence

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/monitor"
)

// metrics are the metrics of a monitor that goes on.
type metrics struct {
	mu     sync.Mutex
	checks int64
	failed int64 // the log could not be read
	found  int64
	last   monitor.Report
	at     time.Time // of the last check that found nothing and did not warn
}

func (m *metrics) observe(r *monitor.Report, found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checks++
	switch {
	case found:
		m.found++
	case err != nil:
		m.failed++
	default:
		if m.last = *r; r.Warning == "" {
			m.at = time.Now()
		}
	}
}

// ServeHTTP implements [http.Handler].
func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, one := range []struct {
		name, kind, help string
		value            float64
	}{
		{"checks_total", "counter", "Checks of the log.", float64(m.checks)},
		{"failed_checks_total", "counter", "Checks in which the log could not be read.", float64(m.failed)},
		{"violations_total", "counter", "Checks that found something that a log must not do.", float64(m.found)},
		{"last_success_seconds", "gauge", "Time of the last check that found nothing and did not warn, in seconds since 1970.", float64(max(m.at.Unix(), 0))},
		{"log_entries", "gauge", "Entries of the log.", float64(m.last.Size)},
		{"witnesses", "gauge", "Witnesses of the policy that have signed the newest checkpoint.", float64(len(m.last.Witnesses))},
		{"unconfirmed", "gauge", "1 while too few witnesses confirm what the log shows.", float64(min(len(m.last.Warning), 1))},
		{"compared", "gauge", "Witnesses and peers that show the same history.", float64(m.last.Compared)},
		{"unreachable", "gauge", "Witnesses and peers that show no history.", float64(len(m.last.Unreachable))},
		{"receipts_kept", "gauge", "Own receipts that the log has.", float64(m.last.Receipts.Kept)},
		{"receipts_pending", "gauge", "Own receipts that the log has promised and still has time to keep.", float64(m.last.Receipts.Pending)},
		{"receipts_wrong", "gauge", "Files among the own receipts that are no receipts of this log.", float64(len(m.last.Receipts.Wrong))},
	} {
		name := "lineproof_monitor_" + one.name
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %g\n", name, one.help, name, one.kind, name, one.value)
	}
}
