package telemetry_test

import (
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// A line is JSON with the time format of the API, the node, the version and the id
// of its trace.
func TestLogLineSaysWhenAndWho(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := telemetry.NewLogger(&out, "info", "json", "node-a")
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 7}, SpanID: trace.SpanID{7: 1}}))
	log.LogAttrs(ctx, slog.LevelInfo, "request", slog.Int("status", 200))

	var line map[string]any
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	when, _ := line["time"].(string)
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(when) {
		t.Errorf("time = %q", when)
	}
	for key, want := range map[string]any{
		"msg": "request", "status": 200.0, "node": "node-a", "version": telemetry.Version(), "trace_id": "00000000000000000000000000000007",
	} {
		if line[key] != want {
			t.Errorf("%s = %v, want %v", key, line[key], want)
		}
	}
}

// Level and format have their effect; outside a trace no line has a trace id.
func TestLogObeysItsSettings(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := telemetry.NewLogger(&out, "warn", "text", "n")
	log.LogAttrs(t.Context(), slog.LevelInfo, "quiet")
	log.LogAttrs(t.Context(), slog.LevelWarn, "loud")
	if got := out.String(); strings.Contains(got, "quiet") || !strings.Contains(got, "msg=loud") || strings.Contains(got, "trace_id") {
		t.Errorf("log = %s", got)
	}
}
