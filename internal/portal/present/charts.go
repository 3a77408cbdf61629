package present

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/tally"
)

// ChartDay is the format of a day in charts.
const ChartDay = "2 Jan"

// AnswersChart shows the answers by day and status. A status has the same colour in every
// chart, whatever its share, and none is summed up with others: the rarest are those that
// matter. The totals are over all days, the most frequent first.
func AnswersChart(days []tally.Day) (view.ChartData, []orgview.StatusTotal) {
	sums := map[string]int64{}
	for _, d := range days {
		for status, n := range d.ByStatus {
			sums[status] += n
		}
	}
	statuses := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	totals := make([]orgview.StatusTotal, len(statuses))
	for i, status := range statuses {
		totals[i] = orgview.StatusTotal{Status: status, Tone: StatusTone(status), N: sums[status]}
	}
	// The mildest at the bottom, in a fixed order.
	slices.SortFunc(statuses, func(a, b string) int { return cmp.Compare(statusIndex(b), statusIndex(a)) })
	chart := view.ChartData{Title: "Answers by status", Unit: "answers", None: "No answers in this period.", Series: statuses}
	for _, status := range statuses {
		chart.Classes = append(chart.Classes, view.StatusClass(status))
	}
	for _, d := range days {
		bar := view.Bar{Label: d.Day.Format(ChartDay)}
		for _, status := range statuses {
			bar.Values = append(bar.Values, d.ByStatus[status])
		}
		chart.Bars = append(chart.Bars, bar)
	}
	return chart, totals
}

func statusIndex(status string) int { return slices.Index(line.Statuses, line.Status(status)) }
