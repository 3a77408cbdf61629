package records_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/web/portal/records"
)

// A search that has not come to its end does not say that there is nothing. It goes on by
// itself while nothing is found, and stops where something is.
func TestUnfinishedSearchGoesOnUntilSomethingIsFound(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 12, 14, 2, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		d          records.RecordsData
		want, none string
	}{
		"nothing yet":             {records.RecordsData{Until: until, Next: "/portal/journal?after=x"}, `hx-get="/portal/journal?after=x"`, "No records found"},
		"nothing yet of a number": {records.RecordsData{Until: until, Number: "08031234567", After: "x"}, `hx-post="/portal/journal"`, "No records found"},
		"something":               {records.RecordsData{Until: until, Next: "/portal/journal?after=x", Rows: []records.RecordRow{{}}}, "There may be older answers", "hx-get"},
		"something of a number":   {records.RecordsData{Until: until, Number: "08031234567", After: "x", Rows: []records.RecordRow{{}}}, "There may be older answers", "hx-post"},
		"the end":                 {records.RecordsData{}, "No records found", "hx-get"},
	} {
		var page strings.Builder
		if err := records.Records(tc.d).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if text := page.String(); !strings.Contains(text, tc.want) || strings.Contains(text, tc.none) {
			t.Errorf("%s: want %q and not %q in\n%s", name, tc.want, tc.none, text)
		}
	}
}
