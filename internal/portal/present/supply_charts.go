package present

import (
	"time"

	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

// reportedChart shows the events that a network reported, by day.
func reportedChart(days []supply.DayReport) view.ChartData {
	chart := view.ChartData{Title: "Events by the day on which they were reported", Unit: "events", None: "None in this period.", Series: []string{"Accepted", "Accepted, but late", "Rejected"}}
	for _, day := range days {
		chart.Bars = append(chart.Bars, view.Bar{Label: day.Day.Format(ChartDay), Values: []int64{day.Applied - day.Late, day.Late, day.Refused}})
	}
	return chart
}

// progressCharts show by day how many of its numbers a network had supplied, and
// how many hours it was behind: within the allowed time, or so far that its
// lines were answered with UNKNOWN.
func progressCharts(days []supply.DayCoverage, rule *policy.Policy) (reach, behind view.ChartData) {
	reach = view.ChartData{Title: "Lines known", Unit: "numbers", None: "No measurements yet.", Series: []string{"Known", "The rest of the ranges"}, Rest: true}
	behind = view.ChartData{Title: "Hours behind", Unit: "hours", None: "Never behind by an hour or more on the days that were measured.", Series: []string{"Up to " + view.Hours(rule.LifecycleFreshnessHours), "Longer: answered with UNKNOWN"}, Colours: []int{0, 2}}
	for _, day := range days {
		known, waited := []int64{view.NoData, view.NoData}, []int64{view.NoData, view.NoData}
		if !day.RecordedAt.IsZero() {
			known = []int64{day.Lines, max(day.Capacity-day.Lines, 0)}
		}
		if !day.RecordedAt.IsZero() && !day.Through.IsZero() { // a network that never supplied has no delay in hours
			hours := int64(day.Behind() / time.Hour)
			waited = []int64{hours, 0}
			if day.Behind() >= rule.LifecycleFreshness() {
				waited = []int64{0, hours}
			}
		}
		label := day.Day.Format(ChartDay)
		reach.Bars = append(reach.Bars, view.Bar{Label: label, Values: known})
		behind.Bars = append(behind.Bars, view.Bar{Label: label, Values: waited})
	}
	return reach, behind
}
