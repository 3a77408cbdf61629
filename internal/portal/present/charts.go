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

// maxSeries is how many statuses a chart shows separately; the rest are summed up.
const maxSeries = 6

// AnswersChart shows the answers by day and status. The most frequent statuses
// have a colour of their own. The totals are over all days.
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
	shown, rest := statuses, []string(nil)
	if len(statuses) > maxSeries {
		shown, rest = statuses[:maxSeries-1], statuses[maxSeries-1:]
	}
	// A fixed order, so that the colours do not change with the counts.
	shown = slices.SortedFunc(slices.Values(shown), func(a, b string) int { return cmp.Compare(statusIndex(a), statusIndex(b)) })
	chart := view.ChartData{Title: "Answers by status", Unit: "answers", None: "No answers in this period.", Series: slices.Clone(shown)}
	chart.Colours = colours(shown)
	if len(rest) > 0 {
		chart.Series, chart.Rest = append(chart.Series, "Other"), true
	}
	for _, d := range days {
		bar := view.Bar{Label: d.Day.Format(ChartDay)}
		for _, status := range shown {
			bar.Values = append(bar.Values, d.ByStatus[status])
		}
		if len(rest) > 0 {
			var others int64
			for _, status := range rest {
				others += d.ByStatus[status]
			}
			bar.Values = append(bar.Values, others)
		}
		chart.Bars = append(chart.Bars, bar)
	}
	return chart, totals
}

// colours gives each status a colour of its own, where possible one of its tone:
// red is for statuses to refuse.
func colours(statuses []string) []int {
	preferred := map[view.Tone][]int{view.Good: {0}, view.Warn: {1, 5, 4}, view.Bad: {2, 3}, view.Info: {5}, view.Neutral: {4}}
	taken := make([]int, 0, len(statuses))
	for _, status := range statuses {
		for _, c := range append(preferred[StatusTone(status)], 5, 4, 3, 1, 0, 2) {
			if !slices.Contains(taken, c) {
				taken = append(taken, c)
				break
			}
		}
	}
	return taken
}

func statusIndex(status string) int { return slices.Index(line.Statuses, line.Status(status)) }
