package portal

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/tally"
)

// periods are how many days an overview can show, the usual one first.
var periods = []int{30, 7, 90}

// mostSeries is how many statuses a chart tells apart; the rest are one.
const mostSeries = 6

// showOverview serves GET /portal/overview. Everything on it was counted before.
func (p *Portal) showOverview(w http.ResponseWriter, r *http.Request) error {
	ctx, v, now := r.Context(), visitOf(r), p.Now().UTC()
	mode, days := access.Live, periods[0]
	if r.URL.Query().Get("mode") == access.Test {
		mode = access.Test
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("days")); err == nil && slices.Contains(periods, n) {
		days = n
	}
	from := now.AddDate(0, 0, 1-days)
	counted, err := p.Tally.Days(ctx, v.who.Entity, mode, from, now)
	if err != nil {
		return err
	}
	paces, err := p.Tally.Paces(ctx, v.who.Entity, mode, from, now)
	if err != nil {
		return err
	}
	seen, err := p.Tally.Seen(ctx)
	if err != nil {
		return err
	}
	d := view.OverviewData{Mode: mode, Days: days, Counted: seen, Now: now, Tabs: overviewTabs(mode, days)}
	d.Answers, d.Totals = answersChart(counted)
	d.Ends = endsChart(paces)
	var times tally.Times
	for _, day := range paces {
		d.Refused, d.Failed, d.Asked = d.Refused+day.Refused, d.Failed+day.Failed, d.Asked+day.Asked
		times = times.Plus(day.Times)
	}
	d.P95 = times.Quantile(0.95)
	for _, day := range counted {
		d.Answered += day.Total
	}
	if mode == access.Live {
		if d.Quotas, err = p.quotas(r, now); err != nil {
			return err
		}
	}
	return p.show(w, r, view.Page{Title: "Overview", Lead: "What your applications asked, and what they were answered. Days are those of UTC."}, view.Overview(d))
}

func overviewTabs(mode string, days int) (tabs [2][]view.Tab) {
	for _, m := range []view.Option{{Value: access.Live, Label: "Live"}, {Value: access.Test, Label: "Test"}} {
		tabs[0] = append(tabs[0], view.Tab{Label: m.Label, Href: overviewHref(m.Value, days), Active: m.Value == mode})
	}
	for _, n := range slices.Sorted(slices.Values(periods)) {
		tabs[1] = append(tabs[1], view.Tab{Label: strconv.Itoa(n) + " days", Href: overviewHref(mode, n), Active: n == days})
	}
	return tabs
}

func overviewHref(mode string, days int) string {
	return overviewPath + "?mode=" + mode + "&days=" + strconv.Itoa(days)
}

// quotas returns what is left of the quotas that there are.
func (p *Portal) quotas(r *http.Request, now time.Time) ([]view.Quota, error) {
	limits, err := p.limitsOf(r)
	if err != nil {
		return nil, err
	}
	used, err := guard.UsageOf(r.Context(), p.Pool, visitOf(r).who.Entity, now)
	if err != nil {
		return nil, err
	}
	var list []view.Quota
	for _, q := range []view.Quota{
		{Label: "Answers today", Used: used.Answered, Most: limits.DayQuota},
		{Label: "Answers this month", Used: used.Month, Most: limits.MonthQuota},
		{Label: "Different numbers today", Used: used.Numbers, Most: limits.DayNumbers},
	} {
		if q.Most > 0 {
			q.Left = max(0, q.Most-q.Used)
			list = append(list, q)
		}
	}
	return list, nil
}

// answersChart is the answers by day and status. The statuses that were said most
// have a colour of their own. Totals are over all days.
func answersChart(days []tally.Day) (view.ChartData, []view.StatusTotal) {
	sums := map[string]int64{}
	for _, d := range days {
		for status, n := range d.ByStatus {
			sums[status] += n
		}
	}
	said := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	totals := make([]view.StatusTotal, len(said))
	for i, status := range said {
		totals[i] = view.StatusTotal{Status: status, Tone: toneOf(status), N: sums[status]}
	}
	shown, rest := said, []string(nil)
	if len(said) > mostSeries {
		shown, rest = said[:mostSeries-1], said[mostSeries-1:]
	}
	// In an order that does not change with the numbers, so that neither do the colours.
	shown = slices.SortedFunc(slices.Values(shown), func(a, b string) int { return cmp.Compare(statusPlace(a), statusPlace(b)) })
	chart := view.ChartData{Title: "Answers by status", Unit: "answers", None: "No answers in this time.", Series: slices.Clone(shown)}
	chart.Colours = colours(shown)
	if len(rest) > 0 {
		chart.Series, chart.Rest = append(chart.Series, "Other"), true
	}
	for _, d := range days {
		bar := view.Bar{Label: d.Day.Format(chartDay)}
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

// colours gives each status a colour of its own, if it can be one of its tone:
// red is for what is bad.
func colours(statuses []string) []int {
	wish := map[view.Tone][]int{view.Good: {0}, view.Warn: {1, 5, 4}, view.Bad: {2, 3}, view.Info: {5}, view.Neutral: {4}}
	taken := make([]int, 0, len(statuses))
	for _, status := range statuses {
		for _, c := range append(wish[toneOf(status)], 5, 4, 3, 1, 0, 2) {
			if !slices.Contains(taken, c) {
				taken = append(taken, c)
				break
			}
		}
	}
	return taken
}

func statusPlace(status string) int { return slices.Index(line.Statuses, line.Status(status)) }

// endsChart is the requests that were not answered, by day.
func endsChart(days []tally.Pace) view.ChartData {
	chart := view.ChartData{Title: "Requests without an answer", Unit: "requests", None: "None in this time.", Series: []string{"Refused (4xx)", "Failed (5xx)"}, Colours: []int{1, 2}}
	for _, d := range days {
		chart.Bars = append(chart.Bars, view.Bar{Label: d.Day.Format(chartDay), Values: []int64{d.Refused, d.Failed}})
	}
	return chart
}
