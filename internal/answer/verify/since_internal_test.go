package verify

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// changedSince is about the time that was asked for a purpose that may know exact dates, about
// the beginning of its month or year for others, and never about a later time.
func TestSinceIsRoundedAsThePurposeAllows(t *testing.T) {
	t.Parallel()
	p := policy.Policy{Purposes: "kyc=exact,payment=month,collection=absent", TimeZone: "Africa/Lagos"}
	for _, tc := range []struct{ purpose, asked, want string }{
		{"kyc", "2026-03-17T10:11:12Z", "2026-03-17T10:11:12Z"},
		{"payment", "2026-03-17T10:11:12Z", "2026-02-28T23:00:00Z"},
		{"payment", "2026-02-28T23:00:00Z", "2026-02-28T23:00:00Z"},
		{"payment", "2026-02-28T22:59:59Z", "2026-01-31T23:00:00Z"},
		{"collection", "2026-03-17T10:11:12Z", "2025-12-31T23:00:00Z"},
		{"nobody's", "2026-03-17T10:11:12Z", "2025-12-31T23:00:00Z"},
	} {
		asked, _ := time.Parse(time.RFC3339, tc.asked)
		if got := sinceFor(&p, tc.purpose, asked).Format(time.RFC3339); got != tc.want {
			t.Errorf("%s asks %s: %s, want %s", tc.purpose, tc.asked, got, tc.want)
		}
	}
}
