package approvals

import "testing"

// A second person reads times as on every other page.
func TestTimesOfApprovalsAreReadable(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]string{
		"2026-12-18T00:00:00Z": "18 Dec 2026, 00:00\u00a0UTC",
		"the next audit":       "the next audit",
	} {
		if got := stampText(detail); got != want {
			t.Errorf("%q is shown as %q, want %q", detail, got, want)
		}
	}
}
