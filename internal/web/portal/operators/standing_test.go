package operators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
)

// Each kind of event that can be late or early is shown with the policy's rule for
// it; hours that are whole days are shown as days.
func TestComplianceShowsThePolicy(t *testing.T) {
	t.Parallel()
	p := policy.Defaults()
	p.BarReportHours = 36
	want := map[string]string{
		"SIM_CHANGED":   "at the latest 1 hour after the change",
		"PORT_CLAIMED":  "at the latest 1 day after the port",
		"PORT_RELEASED": "at the latest 1 day after the port",
		"BARRED":        "at the latest 36 hours after the bar",
		"ENDED":         "at the latest 7 days after the end",
		"ASSIGNED":      "not before 90 days of quarantine",
		"USED":          "",
	}
	var s supply.NetworkStatus
	for kind := range want {
		s.Kinds = append(s.Kinds, supply.KindTimeliness{Kind: kind})
	}
	got := map[string]string{}
	for _, row := range operators.NetworkStatusData(&s, &p).Compliance {
		got[row.Kind] = row.Rule
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
