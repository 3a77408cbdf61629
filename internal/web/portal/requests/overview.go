package requests

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/internal/web/portal/rules"
)

// overviewPeriods are the numbers of days that an overview can show, the default first.
var overviewPeriods = []int{30, 7, 90, 365}

// showOverview serves GET /portal/overview. All figures are counted in the
// background, so the page is fast.
func (p *Pages) showOverview(w http.ResponseWriter, r *http.Request) error {
	ctx, v, now := r.Context(), portal.VisitOf(r), p.Now().UTC()
	mode, days := access.Live, overviewPeriods[0]
	if r.URL.Query().Get("mode") == access.Test {
		mode = access.Test
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("days")); err == nil && slices.Contains(overviewPeriods, n) {
		days = n
	}
	from := now.AddDate(0, 0, 1-days)
	counted, err := p.Tally.Days(ctx, v.Who.Entity, mode, from, now)
	if err != nil {
		return err
	}
	paces, err := p.Tally.DailyUsage(ctx, v.Who.Entity, mode, from, now)
	if err != nil {
		return err
	}
	seen, err := p.Tally.CountedUntil(ctx)
	if err != nil {
		return err
	}
	d := OverviewData{Mode: mode, Days: days, Updated: seen, Now: now, Tabs: overviewTabs(mode, days)}
	d.Answers, d.Totals = kit.AnswersChart(counted)
	d.ErrorChart = errorsChart(paces)
	var times tally.Times
	for _, day := range paces {
		d.ClientErrors, d.ServerErrors, d.Requests = d.ClientErrors+day.Refused, d.ServerErrors+day.Failed, d.Requests+day.Requests
		times = times.Plus(day.Times)
	}
	d.P95 = times.Quantile(0.95)
	for _, day := range counted {
		d.Answered += day.Total
	}
	if mode == access.Live {
		if d.Quotas, err = p.quotas(r); err != nil {
			return err
		}
	}
	return p.Show(w, r, kit.Page{Title: "Usage", Lead: "The requests of your applications and the answers they got. Days are in UTC."}, Overview(d))
}

func overviewTabs(mode string, days int) (tabs [2][]kit.Tab) {
	for _, m := range []kit.Option{{Value: access.Live, Label: "Live"}, {Value: access.Test, Label: "Test"}} {
		tabs[0] = append(tabs[0], kit.Tab{Label: m.Label, Href: overviewHref(m.Value, days), Active: m.Value == mode})
	}
	for _, n := range slices.Sorted(slices.Values(overviewPeriods)) {
		tabs[1] = append(tabs[1], kit.Tab{Label: strconv.Itoa(n) + " days", Href: overviewHref(mode, n), Active: n == days})
	}
	return tabs
}

func overviewHref(mode string, days int) string {
	return overviewPath + "?mode=" + mode + "&days=" + strconv.Itoa(days)
}

// quotas returns the usage of the quotas that the organisation has.
func (p *Pages) quotas(r *http.Request) ([]Quota, error) {
	limits, used, err := rules.LimitsOf(r.Context(), p.Portal, portal.VisitOf(r).Who.Entity)
	if err != nil {
		return nil, err
	}
	var list []Quota
	for _, q := range []Quota{
		{Label: "Answers today", Used: used.Answered, Max: limits.DayQuota},
		{Label: "Answers this month", Used: used.Month, Max: limits.MonthQuota},
		{Label: "Different numbers today", Used: used.Numbers, Max: limits.DayNumbers},
		{Label: "Different numbers this year", Used: used.Year, Max: limits.YearNumbers},
		{Label: "Numbers of files today", Used: used.Files, Max: guard.FilesOf(limits.DayNumbers)},
	} {
		if q.Max > 0 {
			q.Left = max(0, q.Max-q.Used)
			list = append(list, q)
		}
	}
	return list, nil
}

// errorsChart shows the requests without an answer, by day.
func errorsChart(days []tally.Usage) kit.ChartData {
	chart := kit.ChartData{Title: "Requests without an answer", Unit: "requests", None: "None in this period.", Series: []string{"Client errors (4xx)", "Server errors (5xx)"}, Colours: []int{1, 2}}
	for _, d := range days {
		chart.Bars = append(chart.Bars, kit.Bar{Label: d.Day.Format(kit.ChartDay), Values: []int64{d.Refused, d.Failed}})
	}
	return chart
}
