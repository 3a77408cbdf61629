package repository_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The rules of the Helm chart, which can read no file outside of it, are those of deploy/prometheus.
func TestChartRulesAreThoseOfPrometheus(t *testing.T) {
	t.Parallel()

	const chart = "deploy/helm/lineproof/rules/"
	for from, to := range map[string]string{"alerts.rules.yml": "lineproof.yaml", "recording.rules.yml": "recording.yaml"} {
		rules := readText(t, rulesDir+from)
		if *update {
			if err := os.WriteFile(whole(chart+to), []byte(rules), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(rules, readText(t, chart+to)); diff != "" {
			t.Errorf("%s is not %s; run go test . -run ChartRules -update (-prometheus +chart):\n%s", to, from, diff)
		}
	}
}
