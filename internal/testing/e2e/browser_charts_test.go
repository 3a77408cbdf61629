package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	counts "github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Charts as a browser draws them: with none, one, a month and a year of days, and with a
// value ten thousand times the others, no label lies on another or leaves its chart, every
// bar is in its frame and can be seen, and each day can be read with a pointer and with the
// keyboard. LINEPROOF_E2E_SHOTS names a folder for pictures of them.
func TestBrowserCharts(t *testing.T) {
	needBrowser(t)
	assets := "../../web/portal/kit/assets"
	css, js := must(os.ReadFile(filepath.Join(assets, "app.css")))(t), must(os.ReadFile(filepath.Join(assets, "app.js")))(t)
	var page strings.Builder
	fmt.Fprintf(&page, `<!DOCTYPE html><html lang="en"><title>Charts</title><style>%s</style><main class="page">`, css)
	for _, days := range []int{0, 1, 30, 365} {
		for _, peak := range []int64{1, 10_000} {
			var b bytes.Buffer
			chart, _ := kit.AnswersChart(answeredDays(days, peak))
			if err := kit.BarChart(chart).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&page, `<section class="card" data-name="%d days, highest %d times the others" data-days="%d">%s</section>`, days, peak, days, b.String())
		}
	}
	fmt.Fprintf(&page, `</main><script>%s</script></html>`, js)
	for _, s := range browse(t, "charts.mjs", map[string]any{
		"base": "http://localhost", "looks": looks[:size(t, "LINEPROOF_E2E_LOOKS", len(looks))], "page": page.String(), "out": os.Getenv("LINEPROOF_E2E_SHOTS"),
	}) {
		t.Logf("%s: %s", s.Look, s.Note)
	}
}

// answeredDays returns days with answers of every status, of which one has so many times as
// many as the others.
func answeredDays(count int, peak int64) []counts.Day {
	days := make([]counts.Day, count)
	for i := range days {
		days[i] = counts.Day{Day: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i), ByStatus: map[string]int64{}}
		for n, status := range line.Statuses {
			days[i].ByStatus[string(status)] = int64(100 + (i*7+n*13)%50)
		}
		if i == count/2 {
			days[i].ByStatus[string(line.Normal)] *= peak
		}
	}
	return days
}
