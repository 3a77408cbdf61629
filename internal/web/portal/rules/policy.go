package rules

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths of the policy.
const (
	policyPath    = "/portal/desk/policy"
	comparePath   = "/portal/desk/policy/compare"
	newPolicyPath = "/portal/desk/new-policy"
)

// policyRoutes are the pages of the policy.
func (p *Pages) policyRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: policyPath, Right: portal.Staff, Serve: p.showPolicy},
		{Method: get, Path: comparePath, Right: portal.Staff, Serve: p.comparePolicies},
		{Method: get, Path: newPolicyPath, Right: portal.Administrator, Serve: p.ShowForm(p.newPolicy)},
		{Method: post, Path: newPolicyPath, Right: portal.Administrator, Action: stepup.Preview, Serve: p.previewPolicy},
		{Method: post, Path: policyPath, Right: portal.Administrator, Action: stepup.SetPolicy, Serve: p.setPolicy},
	}
}

// policyGroups are the fields of a policy as pages group them. A field that is in no
// group is shown in the last one.
var policyGroups = []struct {
	title  string
	fields []string
}{
	{"How long a change shows in answers", []string{"recycledDays", "swappedHours", "portedHours", "flaggedDays", "quarantineDays", "noticeDays"}},
	{"How old supply may be", []string{"lifecycleFreshnessHours", "simFreshnessHours", "portFreshnessHours", "falseAssurancePercent"}},
	{"How soon operators must report", []string{"simReportHours", "portReportHours", "barReportHours", "churnReportDays"}},
	{"What is held for staff", []string{"backdatingDays", "holdPercent"}},
	{"Records and new organisations", []string{"personalYears", "warmUpDays", "warmUpPercent", "undocumentedPercent"}},
	{"Names and purposes", nil},
}

// policyLabels name the fields on pages; the rest of their words is in package policy.
var policyLabels = map[string]string{
	"recycledDays": "RECYCLED after a new holder", "swappedHours": "SWAPPED after a new SIM", "portedHours": "PORTED after a new network", "flaggedDays": "FLAGGED after a flag",
	"quarantineDays": "Quarantine after a churn", "noticeDays": "Notice before a churn", "lifecycleFreshnessHours": "Supply of LIFECYCLE", "simFreshnessHours": "Supply of SIM",
	"portFreshnessHours": "Supply of PORT", "falseAssurancePercent": "False assurances", "simReportHours": "Report of a SIM change", "portReportHours": "Report of a port",
	"barReportHours": "Report of a bar", "churnReportDays": "Report of a churn", "backdatingDays": "Backdated events are held after", "holdPercent": "Mass changes are held above",
	"personalYears": "Personal part of records", "warmUpDays": "Warm-up of new organisations", "warmUpPercent": "Budget on the first day", "undocumentedPercent": "Budget without documents",
	"timeZone": "Time zone of bare dates", "clearingHouse": "Clearing house", "purposes": "Purposes and their dates",
}

// fieldUnit returns the unit of a field, which its name ends with; "" for a text.
func fieldUnit(name string) string {
	for _, unit := range []string{"Days", "Hours", "Percent", "Years"} {
		if strings.HasSuffix(name, unit) {
			return strings.ToLower(unit)
		}
	}
	return ""
}

// fieldValue returns the value of a field in words.
func fieldValue(name, value string) string {
	n, _ := strconv.Atoi(value)
	switch unit := fieldUnit(name); {
	case value == "":
		return "(none)"
	case unit == "days":
		return kit.Days(n)
	case unit == "hours" && n == 0:
		return "not required"
	case unit == "hours" && n > 24 && n%24 == 0:
		return kit.Days(n/24) + " (" + value + " hours)"
	case unit == "hours":
		return kit.Hours(n)
	case unit == "percent":
		return value + " %"
	case unit == "years" && n == 1:
		return "1 year"
	case unit == "years":
		return value + " years"
	case name == "purposes":
		return strings.ReplaceAll(value, ",", ", ")
	}
	return value
}

// policyFields returns the fields of a policy by group.
func policyFields(p *policy.Policy) []PolicyGroup {
	all := map[string]PolicyField{}
	var order []string
	add := func(f PolicyField) {
		f.Label, f.Shown, f.Unit = policyLabels[f.Name], fieldValue(f.Name, f.Value), fieldUnit(f.Name)
		if f.Label == "" {
			f.Label = f.Name
		}
		all[f.Name], order = f, append(order, f.Name)
	}
	for _, f := range policy.Fields {
		add(PolicyField{Name: f.Name, Meaning: f.Meaning, Value: strconv.Itoa(*f.Of(p)), Bounds: strconv.Itoa(f.Min) + " to " + strconv.Itoa(f.Max), Number: true})
	}
	for _, f := range policy.TextFields {
		add(PolicyField{Name: f.Name, Meaning: f.Meaning, Value: *f.Of(p), Max: f.Max, Required: f.Min > 0})
	}
	groups := make([]PolicyGroup, 0, len(policyGroups))
	for _, g := range policyGroups {
		group := PolicyGroup{Title: g.title}
		for _, name := range g.fields {
			group.Fields = append(group.Fields, all[name])
			order = slices.DeleteFunc(order, func(one string) bool { return one == name })
		}
		groups = append(groups, group)
	}
	last := &groups[len(groups)-1]
	for _, name := range order {
		last.Fields = append(last.Fields, all[name])
	}
	return groups
}

// showPolicy serves GET /portal/desk/policy: the version in effect, in words, and all
// versions.
func (p *Pages) showPolicy(w http.ResponseWriter, r *http.Request) error {
	ctx, now := r.Context(), p.Now()
	current, err := policy.Current(ctx, p.Pool, now)
	if err != nil {
		return err
	}
	versions, err := policy.History(ctx, p.Pool)
	if err != nil {
		return err
	}
	d := PolicyData{Version: current.Version, Effective: current.EffectiveAt, Note: current.Note, Groups: policyFields(&current), Now: now}
	for i := range versions {
		v := &versions[i]
		row := PolicyVersion{Version: v.Version, Effective: v.EffectiveAt, Note: v.Note, Active: v.Version == current.Version, Scheduled: v.EffectiveAt.After(now)}
		if i > 0 {
			row.Compare, row.Changes = compareURL(versions[i-1].Version, v.Version), differences(policy.Compare(&versions[i-1], v))
		}
		d.Versions = append(d.Versions, row)
	}
	slices.Reverse(d.Versions)
	if d.Waiting, err = p.policyWaits(r); err != nil {
		return err
	}
	page := kit.Page{Title: "Policy", Lead: "The rules that the regulator sets and may change. Every record names the version by which it was answered.", Active: policyPath}
	if portal.VisitOf(r).Has(portal.Administrator) {
		page.Actions = []kit.Action{{Label: "Propose a change", Href: newPolicyPath, Kind: kit.Primary}}
	}
	return p.Show(w, r, page, Policy(d))
}

func compareURL(from, to int32) string {
	return comparePath + "?from=" + strconv.Itoa(int(from)) + "&to=" + strconv.Itoa(int(to))
}

// policyWaits returns the changes that wait for a second person, in words.
func (p *Pages) policyWaits(r *http.Request) (list []string, err error) {
	waiting, err := p.Approvals.List(r.Context(), false, portal.MaxWaiting)
	for i := range waiting {
		if waiting[i].Kind == policy.SetKind {
			list = append(list, strings.Join(policy.Changes(&waiting[i]), "; "))
		}
	}
	return list, err
}

func differences(list []policy.Difference) []PolicyChange {
	changes := make([]PolicyChange, len(list))
	for i, d := range list {
		changes[i] = PolicyChange{Name: d.Name, Label: policyLabels[d.Name], Meaning: d.Meaning, Before: fieldValue(d.Name, d.Before), After: fieldValue(d.Name, d.After)}
		if changes[i].Label == "" {
			changes[i].Label = d.Name
		}
	}
	return changes
}

// comparePolicies serves GET /portal/desk/policy/compare.
func (p *Pages) comparePolicies(w http.ResponseWriter, r *http.Request) error {
	versions, err := policy.History(r.Context(), p.Pool)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	find := func(name string, otherwise int) *policy.Policy {
		if n, err := strconv.Atoi(q.Get(name)); err == nil && n >= 1 && n <= len(versions) {
			return &versions[n-1] // versions count from 1 without gaps
		}
		return &versions[otherwise]
	}
	from, to := find("from", max(len(versions)-2, 0)), find("to", len(versions)-1)
	d := CompareData{
		Form: kit.Form{}.With("from", strconv.Itoa(int(from.Version))).With("to", strconv.Itoa(int(to.Version))), From: versionOf(from), To: versionOf(to), Changes: differences(policy.Compare(from, to)),
	}
	for i := range versions {
		v := strconv.Itoa(int(versions[i].Version))
		d.Versions = append(d.Versions, kit.Option{Value: v, Label: "Version " + v + ", " + kit.Stamp(versions[i].EffectiveAt)})
	}
	return p.Show(w, r, kit.Page{Title: "Compare versions", Crumbs: []kit.Link{{Label: "Policy", Href: policyPath}}, Active: policyPath}, ComparePolicies(d))
}

func versionOf(p *policy.Policy) PolicyVersion {
	return PolicyVersion{Version: p.Version, Effective: p.EffectiveAt, Note: p.Note}
}
