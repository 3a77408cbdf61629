package operators

import (
	"time"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// reportedChart shows the events and rows that a network sent, by day, and returns how
// many of them were applied.
func reportedChart(days []supply.DayReport) (chart kit.ChartData, applied int64) {
	chart = kit.ChartData{Title: "Events and rows of files by day", Unit: "events and rows", None: "None in this period.", Series: []string{"Applied", "Applied, but reported late", "Rejected"}}
	for _, day := range days {
		chart.Bars = append(chart.Bars, kit.Bar{Label: day.Day.Format(kit.ChartDay), Values: []int64{day.Applied - day.Late + day.Rows, day.Late, day.Refused}})
		applied += day.Applied + day.Rows
	}
	return chart, applied
}

// progressCharts show by day how many of its numbers a network had supplied, and
// how many hours it was behind: within the allowed time, or so far that its
// lines were answered with UNKNOWN.
//
// The last day is today: for a network that has supplied, now replaces its record,
// which can be an hour old and would contradict the figures beside the chart.
func progressCharts(days []supply.DayCoverage, now supply.DayCoverage, rule *policy.Policy) (reach, behind kit.ChartData) {
	reach = kit.ChartData{Title: "Lines known", Unit: "numbers", None: "No measurements yet.", Series: []string{"Known", "The rest of the ranges"}, Rest: true}
	behind = kit.ChartData{Title: "Hours behind", Unit: "hours", None: "No measurements yet.", Series: []string{"Up to " + kit.Hours(rule.LifecycleFreshnessHours), "Longer: answered with UNKNOWN"}, Colours: []int{0, 2}}
	for i, day := range days {
		if i == len(days)-1 && !now.Through.IsZero() {
			now.Day = day.Day
			day = now
		}
		known, waited := []int64{kit.NoData, kit.NoData}, []int64{kit.NoData, kit.NoData}
		if !day.RecordedAt.IsZero() {
			known = []int64{day.Lines, max(day.Capacity-day.Lines, 0)}
		}
		if !day.RecordedAt.IsZero() && !day.Through.IsZero() { // a network that never supplied has no delay in hours
			hours := int64(day.Behind() / time.Hour)
			behind.None = "Less than an hour behind on every day that was measured."
			waited = []int64{hours, 0}
			if day.Behind() >= rule.LifecycleFreshness() {
				waited = []int64{0, hours}
			}
		}
		label := day.Day.Format(kit.ChartDay)
		reach.Bars = append(reach.Bars, kit.Bar{Label: label, Values: known})
		behind.Bars = append(behind.Bars, kit.Bar{Label: label, Values: waited})
	}
	return reach, behind
}
