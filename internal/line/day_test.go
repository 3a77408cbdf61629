package line_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// A bare date is that day in the zone, also where the clocks skip its midnight, repeat
// it, or skip the whole day.
func TestDayOfABareDateFollowsTheZone(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ zone, date, first, last string }{
		{"Africa/Lagos", "2026-03-01", "2026-02-28T23:00:00Z", "2026-03-01T22:59:59Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T01:59:59Z"}, // from 00:00 to 01:00
		{"America/Havana", "2025-11-02", "2025-11-02T04:00:00Z", "2025-11-03T04:59:59Z"},    // 00:30 twice
		{"Pacific/Apia", "2011-12-30", "", ""},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, day, ok := line.ParseInstant(test.date, zone)
		if ok != (test.last != "") {
			t.Errorf("%s in %s is a date: %v", test.date, test.zone, ok)
		}
		if !ok {
			continue
		}
		first, last := line.DayStart(at, zone).Time().Format(time.RFC3339), at.Time().Format(time.RFC3339)
		if !day || first != test.first || last != test.last {
			t.Errorf("%s in %s is from %s to %s, want %s to %s", test.date, test.zone, first, last, test.first, test.last)
		}
	}
}
