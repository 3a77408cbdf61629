package alerts_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	rulesDir = "../../../deploy/prometheus"
	bookDir  = "../../../docs/how-to/runbooks"
)

// promtool runs promtool in a directory and fails the test with what it printed.
func promtool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := runPromtool(t.Context(), t, dir, args...)
	if err != nil {
		t.Fatalf("promtool %v: %v\n%s", args, err, out)
	}
	return out
}

func runPromtool(ctx context.Context, t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs promtool; not run with -short")
	}
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("there is no promtool; install the package prometheus")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Prometheus accepts the sample of its configuration with all rules.
func TestPrometheusAcceptsTheConfiguration(t *testing.T) {
	t.Parallel()
	promtool(t, rulesDir, "check", "config", "prometheus.yml")
}

// Each alert fires by its fault, not just below its threshold, and not before its time.
func TestAlertsFireAtTheirThresholds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(rulesDir + "/*.test.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no unit tests: %v", err)
	}
	for _, file := range files {
		promtool(t, rulesDir, "test", "rules", filepath.Base(file))
	}
}
