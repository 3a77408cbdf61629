package portal

import (
	"time"

	linepolicy "github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

// chartDay is how a chart writes a day.
const chartDay = "2 Jan"

// toldChart shows what a network told, day by day.
func toldChart(days []supply.DayTold) view.ChartData {
	chart := view.ChartData{Title: "Events by the day on which they were told", Unit: "events", None: "None in this time.", Series: []string{"Accepted", "Accepted, but late", "Refused"}}
	for _, day := range days {
		chart.Bars = append(chart.Bars, view.Bar{Label: day.Day.Format(chartDay), Values: []int64{day.Accepted - day.Late, day.Late, day.Refused}})
	}
	return chart
}

// reachCharts show how many of its numbers a network had told of, day by day,
// and how far behind it was: within the rule, or so far that its lines were
// answered with UNKNOWN.
func reachCharts(days []supply.Reach, rule *linepolicy.Policy) (reach, behind view.ChartData) {
	reach = view.ChartData{Title: "Lines known", Unit: "numbers", None: "Nothing is noted yet.", Series: []string{"Known", "The rest of the ranges"}, Rest: true}
	behind = view.ChartData{Title: "Hours behind", Unit: "hours", None: "Never behind by an hour or more on the days that are noted.", Series: []string{"Up to " + view.Days(rule.FreshnessDays), "Longer: answered with UNKNOWN"}, Colours: []int{0, 2}}
	for _, day := range days {
		known, waited := []int64{view.NotKept, view.NotKept}, []int64{view.NotKept, view.NotKept}
		if !day.Noted.IsZero() {
			known = []int64{day.Lines, max(day.Capacity-day.Lines, 0)}
		}
		if !day.Noted.IsZero() && !day.Through.IsZero() { // who never supplied is not behind by hours
			hours := int64(day.Behind() / time.Hour)
			waited = []int64{hours, 0}
			if day.Behind() >= rule.Freshness() {
				waited = []int64{0, hours}
			}
		}
		label := day.Day.Format(chartDay)
		reach.Bars = append(reach.Bars, view.Bar{Label: label, Values: known})
		behind.Bars = append(behind.Bars, view.Bar{Label: label, Values: waited})
	}
	return reach, behind
}
