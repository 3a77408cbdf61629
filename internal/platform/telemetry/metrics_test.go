package telemetry_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// busy returns metrics in which every event was counted once.
func busy() *telemetry.Metrics {
	m := telemetry.NewMetrics()
	m.RequestBegan()
	m.RequestBegan()
	m.RequestEnded("POST /api/auth/token", http.StatusOK, false, 3*time.Millisecond)
	m.Panicked()
	m.JournalWritten(5, 2*time.Millisecond)
	m.JournalRefused(2)
	m.JournalUnknown(1)
	m.JournalDaysAhead(7)
	m.JournalDiskBytes(1000, 100)
	m.JournalDaysLeft(12.5)
	m.TallySettled(time.Unix(1_795_000_000, 0))
	m.CertificateExpires(time.Unix(1_800_000_000, 0))
	m.RegisterPasswords(func() int { return 4 })
	m.RegisterWaiting(func() int { return 6 })
	m.RegisterLimits(func() uint64 { return 12 })
	m.LimitRefused("entity")
	m.RegisterListening(func() bool { return true })
	m.GraceUsed()
	m.RegisterRows([]string{"account"})
	m.RowRefused("account")
	m.RegisterGuard([]string{"density"}, []string{"slowed", "stopped"})
	m.GuardAlert("density", "slowed")
	m.DocumentScanned("infected")
	m.DocumentFilesRemoved("orphan", 3)
	m.DocumentsWaiting(2, 90*time.Second)
	m.LogGrew(40, 1200*time.Millisecond)
	m.LogFailed()
	m.LogState(1500*time.Millisecond, map[string]time.Time{"w1": time.Unix(1_795_000_000, 0), "w2": {}})
	m.RegisterJobs([]string{"send_email"})
	m.JobWorked("send_email", errors.New("no connection"))
	m.WebhookSent("accepted", 3, 20*time.Millisecond)
	m.WebhookSent("failed", 5, time.Second)
	m.ChangesDistributed(7, map[string]int{"line.v1.swapped": 5})
	m.NoticesTold(2)
	m.OutboxLag(map[string]time.Duration{"feed": 2 * time.Second, "impact": 0})
	m.FileJobEnded("done")
	m.FileJobRows(998, 2)
	m.FileJobsOpen(3, 40*time.Second)
	m.HandshakeFailed()
	m.ConnectionRefused()
	m.ScannerTested("away")
	m.ScannerTested("blind")
	m.ScannerSignatures(time.Unix(1_790_000_000, 0))
	m.RegisterPools(map[string]func() telemetry.PoolStat{"verify": func() telemetry.PoolStat {
		return telemetry.PoolStat{Limit: 8, Idle: 2, InUse: 3, Waits: 11, WaitTime: 1500 * time.Millisecond}
	}})
	return m
}

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// Alerts depend on the names and kinds of our metrics. A change here is a breaking
// change and belongs in the changelog.
func TestMetricNamesArePinned(t *testing.T) {
	t.Parallel()
	want := []string{
		"lineproof_access_graced_total counter",
		"lineproof_access_hearing gauge",
		"lineproof_build_info gauge",
		"lineproof_certificate_expiry_timestamp_seconds gauge",
		"lineproof_connections_refused_total counter",
		"lineproof_database_away gauge",
		"lineproof_database_connections gauge",
		"lineproof_database_connections_limit gauge",
		"lineproof_database_outage_seconds_total counter",
		"lineproof_database_outages_total counter",
		"lineproof_database_wait_seconds_total counter",
		"lineproof_database_waits_total counter",
		"lineproof_document_files_removed_total counter",
		"lineproof_document_scans_total counter",
		"lineproof_documents_waiting gauge",
		"lineproof_documents_waiting_seconds gauge",
		"lineproof_feed_changes_total counter",
		"lineproof_feed_events_total counter",
		"lineproof_file_job_rows_total counter",
		"lineproof_file_jobs_open gauge",
		"lineproof_file_jobs_open_seconds gauge",
		"lineproof_file_jobs_total counter",
		"lineproof_guard_alerts_total counter",
		"lineproof_http_in_flight gauge",
		"lineproof_http_request_seconds histogram",
		"lineproof_http_requests_total counter",
		"lineproof_impact_notices_total counter",
		"lineproof_jobs_total counter",
		"lineproof_journal_batch_entries histogram",
		"lineproof_journal_bytes gauge",
		"lineproof_journal_bytes_per_day gauge",
		"lineproof_journal_days_ahead gauge",
		"lineproof_journal_disk_days_left gauge",
		"lineproof_journal_entries_total counter",
		"lineproof_journal_write_seconds histogram",
		"lineproof_limit_local_total counter",
		"lineproof_limit_refused_total counter",
		"lineproof_log_delay_seconds gauge",
		"lineproof_log_entries_total counter",
		"lineproof_log_failures_total counter",
		"lineproof_log_unpublished_seconds gauge",
		"lineproof_log_witness_timestamp_seconds gauge",
		"lineproof_outbox_lag_seconds gauge",
		"lineproof_panics_total counter",
		"lineproof_password_hashes_in_flight gauge",
		"lineproof_rows_refused_total counter",
		"lineproof_scanner_signatures_timestamp_seconds gauge",
		"lineproof_scanner_test gauge",
		"lineproof_tally_settled_timestamp_seconds gauge",
		"lineproof_tls_handshake_failures_total counter",
		"lineproof_verify_waiting gauge",
		"lineproof_webhook_delay_seconds histogram",
		"lineproof_webhook_events_total counter",
		"lineproof_webhook_requests_total counter",
	}
	var got []string
	text := scrape(t, busy())
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "# TYPE lineproof_"); ok {
			got = append(got, "lineproof_"+strings.TrimSpace(name))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{"go_goroutines", "process_open_fds"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("%s is missing", name)
		}
	}
}

// Every event is counted.
func TestMetricsCount(t *testing.T) {
	t.Parallel()
	m := busy()
	m.RequestEnded("", http.StatusNotFound, false, time.Millisecond)
	text := scrape(t, m)
	for _, line := range []string{
		`lineproof_http_requests_total{route="POST /api/auth/token",status="200"} 1`,
		`lineproof_http_requests_total{route="none",status="404"} 1`,
		`lineproof_http_request_seconds_bucket{route="POST /api/auth/token",le="0.0025"} 0`,
		`lineproof_http_request_seconds_bucket{route="POST /api/auth/token",le="0.005"} 1`,
		`lineproof_http_in_flight 0`,
		`lineproof_panics_total 1`,
		`lineproof_journal_entries_total{outcome="written"} 5`,
		`lineproof_journal_entries_total{outcome="refused"} 2`,
		`lineproof_journal_entries_total{outcome="unknown"} 1`,
		`lineproof_journal_write_seconds_count 1`,
		`lineproof_journal_batch_entries_bucket{le="4"} 0`,
		`lineproof_journal_batch_entries_bucket{le="8"} 1`,
		`lineproof_verify_waiting 6`,
		`lineproof_limit_local_total 12`,
		`lineproof_limit_refused_total{by="entity"} 1`,
		`lineproof_limit_refused_total{by="key"} 0`,
		`lineproof_access_graced_total 1`,
		`lineproof_access_hearing 1`,
		`lineproof_connections_refused_total 1`,
		`lineproof_tls_handshake_failures_total 1`,
		`lineproof_guard_alerts_total{kind="density",level="slowed"} 1`,
		`lineproof_guard_alerts_total{kind="density",level="stopped"} 0`,
		`lineproof_document_scans_total{outcome="infected"} 1`,
		`lineproof_webhook_requests_total{outcome="failed"} 1`,
		`lineproof_webhook_events_total 3`,
		`lineproof_feed_changes_total 7`,
		`lineproof_feed_events_total{type="line.v1.swapped"} 5`,
		`lineproof_impact_notices_total 2`,
		`lineproof_outbox_lag_seconds{reader="feed"} 2`,
		`lineproof_outbox_lag_seconds{reader="impact"} 0`,
		`lineproof_file_jobs_total{outcome="done"} 1`,
		`lineproof_file_jobs_total{outcome="failed"} 0`,
		`lineproof_file_job_rows_total{outcome="answered"} 998`,
		`lineproof_file_job_rows_total{outcome="rejected"} 2`,
		`lineproof_file_jobs_open 3`,
		`lineproof_file_jobs_open_seconds 40`,
		`lineproof_webhook_delay_seconds_count 1`,
		`lineproof_document_scans_total{outcome="clean"} 0`,
		`lineproof_document_files_removed_total{why="orphan"} 3`,
		`lineproof_documents_waiting 2`,
		`lineproof_documents_waiting_seconds 90`,
		`lineproof_scanner_test{state="blind"} 1`,
		`lineproof_scanner_test{state="away"} 0`,
		`lineproof_scanner_signatures_timestamp_seconds 1.79e+09`,
		`lineproof_journal_days_ahead 7`,
		`lineproof_jobs_total{kind="send_email",outcome="failed"} 1`,
		`lineproof_jobs_total{kind="send_email",outcome="done"} 0`,
		`lineproof_log_unpublished_seconds 1.5`,
		`lineproof_log_witness_timestamp_seconds{witness="w1"} 1.795e+09`,
		`lineproof_log_witness_timestamp_seconds{witness="w2"} 0`,
		`lineproof_journal_bytes 1000`,
		`lineproof_journal_bytes_per_day 100`,
		`lineproof_journal_disk_days_left 12.5`,
		`lineproof_password_hashes_in_flight 4`,
		`lineproof_database_connections{lane="verify",state="idle"} 2`,
		`lineproof_database_connections{lane="verify",state="in_use"} 3`,
		`lineproof_database_connections_limit{lane="verify"} 8`,
		`lineproof_database_waits_total{lane="verify"} 11`,
		`lineproof_database_wait_seconds_total{lane="verify"} 1.5`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
	fresh := scrape(t, telemetry.NewMetrics())
	if line := `lineproof_journal_entries_total{outcome="unknown"} 0`; !strings.Contains(fresh, line) {
		t.Errorf("missing before anything happened: %s", line)
	}
}

// Prometheus' own linter reports only two names, which are intentional: partitions
// are days, so days ahead and days left are counts.
func TestMetricsPassTheLinter(t *testing.T) {
	t.Parallel()
	problems, err := promlint.New(strings.NewReader(scrape(t, busy()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "lineproof_") && p.Metric != "lineproof_journal_days_ahead" && p.Metric != "lineproof_journal_disk_days_left" {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}
