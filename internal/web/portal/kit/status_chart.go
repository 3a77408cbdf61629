package kit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line"
)

// ChartDay is the format of a day in charts.
const ChartDay = "2 Jan"

// AnswersChart shows the answers by day and status. A status has the same colour in every
// chart, whatever its share, and none is summed up with others: the rarest are those that
// matter. The totals are over all days, the most frequent first.
func AnswersChart(days []tally.Day) (ChartData, []StatusTotal) {
	sums := map[string]int64{}
	for _, d := range days {
		for status, n := range d.ByStatus {
			sums[status] += n
		}
	}
	statuses := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	totals := make([]StatusTotal, len(statuses))
	for i, status := range statuses {
		totals[i] = StatusTotal{Status: status, Tone: StatusTone(status), N: sums[status]}
	}
	// The mildest at the bottom, in a fixed order.
	slices.SortFunc(statuses, func(a, b string) int { return cmp.Compare(statusIndex(b), statusIndex(a)) })
	chart := ChartData{Title: "Answers by status", Unit: "answers", None: "No answers in this period.", Series: statuses}
	for _, status := range statuses {
		chart.Classes = append(chart.Classes, StatusClass(status))
	}
	for _, d := range days {
		bar := Bar{Label: d.Day.Format(ChartDay)}
		for _, status := range statuses {
			bar.Values = append(bar.Values, d.ByStatus[status])
		}
		chart.Bars = append(chart.Bars, bar)
	}
	return chart, totals
}

func statusIndex(status string) int { return slices.Index(line.Statuses, line.Status(status)) }
