package kit_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// A status has its own colour in every chart, whatever its share, and is never summed up
// with others.
func TestStatusHasOneColourInEveryChart(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../kit/assets/app.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string]string{}
	for round := range 3 { // each time another status is the most frequent
		day := tally.Day{Day: time.Now(), ByStatus: map[string]int64{}}
		for i, status := range line.Statuses {
			day.ByStatus[string(status)] = int64(1 + (i*7+round*5)%len(line.Statuses))
		}
		chart, totals := kit.AnswersChart([]tally.Day{day})
		if len(chart.Series) != len(line.Statuses) || len(totals) != len(line.Statuses) {
			t.Fatalf("%d of %d statuses are shown", len(chart.Series), len(line.Statuses))
		}
		for i, status := range chart.Series {
			if had := colours[status]; had != "" && had != chart.Classes[i] {
				t.Errorf("%s is %s and %s", status, had, chart.Classes[i])
			}
			colours[status] = chart.Classes[i]
			if chart.Bars[0].Values[i] != day.ByStatus[status] {
				t.Errorf("%s is drawn as %d, want %d", status, chart.Bars[0].Values[i], day.ByStatus[status])
			}
		}
	}
	var seen []string
	for status, class := range colours {
		if slices.Contains(seen, class) || class != kit.StatusClass(status) || !strings.Contains(string(css), "."+class+" {") {
			t.Errorf("%s has the class %s, which is not its own or not in the style sheet", status, class)
		}
		seen = append(seen, class)
	}
}
