package operators

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// Supply presents the supply of lines: the state of a network and its imports.
type Supply struct {
	*portal.Portal

	Lines *supply.Service
}

// SupplyDays is the number of days over which late and rejected events are
// counted. The API uses the same.
const SupplyDays = 30

// Rules are the policy and the numbering plan that apply now.
type Rules struct {
	Policy *policy.Policy
	Plan   *numbering.Plan
}

// Rules returns the policy and the numbering plan that apply now.
func (s Supply) Rules(r *http.Request) (rules Rules, err error) {
	rules.Policy, rules.Plan, err = s.Lines.Lines.Current(r.Context(), s.Pool, s.Now())
	return rules, err
}

// NetworkStatus returns how well a network supplies, with charts by day.
func (s Supply) NetworkStatus(r *http.Request, rules Rules, code string, n numbering.Network) (StandingData, error) {
	now := s.Now().UTC()
	from := now.AddDate(0, 0, -SupplyDays)
	list, err := s.Lines.NetworkStatuses(r.Context(), code, from)
	if err != nil {
		return StandingData{}, err
	}
	days, err := s.Lines.DailyReports(r.Context(), n, from, now)
	if err != nil {
		return StandingData{}, err
	}
	progress, err := s.Lines.DailyCoverage(r.Context(), n, from, now)
	if err != nil {
		return StandingData{}, err
	}
	d := NetworkStatusData(&list[0], rules.Policy)
	d.EventChart, d.Applied = reportedChart(days)
	d.CoverageChart, d.DelayChart = progressCharts(progress, supply.DayCoverage{RecordedAt: now, Lines: list[0].Lines, Capacity: list[0].Capacity, Through: list[0].SuppliedThrough}, rules.Policy)
	d.Now = now
	return d, nil
}

// NetworkStatusData returns how well a network supplies, without charts.
func NetworkStatusData(s *supply.NetworkStatus, rule *policy.Policy) StandingData {
	d := StandingData{
		Network: s.Network, Name: s.Name, Through: s.SuppliedThrough, Known: s.KnownSince, Complete: s.CompleteSince, Silent: s.Silent,
		Lines: s.Lines, Capacity: s.Capacity, Rejected: s.Refused, Days: SupplyDays, Freshness: rule.LifecycleFreshnessHours,
	}
	for _, t := range s.Topics {
		if t.Doubtful && t.Topic != line.TopicPort { // ports are the clearing house's
			d.Doubtful = append(d.Doubtful, t.Topic.String())
		}
	}
	for _, k := range s.Kinds {
		row := ComplianceRow{Kind: k.Kind, Accepted: k.Accepted, Late: k.Late, Early: k.Early, Mean: k.MeanDelay, Worst: k.MaxDelay}
		switch k.Kind {
		case "SIM_CHANGED":
			row.Rule = "at the latest " + kit.Hours(rule.SIMReportHours) + " after the change"
		case "PORT_CLAIMED", "PORT_RELEASED":
			row.Rule = "at the latest " + kit.Hours(rule.PortReportHours) + " after the port"
		case "BARRED":
			row.Rule = "at the latest " + kit.Hours(rule.BarReportHours) + " after the bar"
		case "ENDED":
			row.Rule = "at the latest " + kit.Days(rule.ChurnReportDays) + " after the end"
		case "ASSIGNED":
			row.Rule = "not before " + kit.Days(rule.QuarantineDays) + " of quarantine"
		}
		d.Compliance, d.Late, d.Early, d.Accepted = append(d.Compliance, row), d.Late+k.Late, d.Early+k.Early, d.Accepted+k.Accepted
	}
	return d
}
