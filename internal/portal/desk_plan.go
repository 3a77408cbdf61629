package portal

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/portal/view"
)

const (
	deskPlanPath = "/portal/desk/plan"
	newPlanPath  = "/portal/desk/new-plan"
	planCSVPath  = "/portal/export/plan.csv"
)

// deskPlanRoutes are the pages of the numbering plan.
func (p *Portal) deskPlanRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: deskPlanPath, who: staff, serve: p.showPlan},
		{method: get, path: planCSVPath, who: staff, upload: true, serve: p.exportPlan},
		{method: get, path: newPlanPath, who: administrator, serve: p.showNewPlan},
		{method: post, path: newPlanPath, who: administrator, upload: true, serve: p.previewPlan},
		{method: post, path: deskPlanPath, who: administrator, upload: true, serve: p.setPlan},
	}
}

// rangesShown is how many ranges one page lists.
const rangesShown = 100

// planWanted returns the version that the address names, or the one in force,
// and whether it is that one.
func (p *Portal) planWanted(r *http.Request) (plan *numbering.Plan, inForce bool, err error) {
	now, err := numbering.InForce(r.Context(), p.Pool, p.Now())
	text := r.URL.Query().Get("version")
	if err != nil || text == "" {
		return now, true, err
	}
	version, err := strconv.ParseInt(text, 10, 32)
	if err != nil || version < 0 {
		return nil, false, errNoPage
	}
	if int32(version) == now.Version {
		return now, true, nil
	}
	plan, err = numbering.Load(r.Context(), p.Pool, int32(version))
	return plan, false, err
}

// showPlan serves GET /portal/desk/plan.
func (p *Portal) showPlan(w http.ResponseWriter, r *http.Request) error {
	plan, inForce, err := p.planWanted(r)
	if err != nil {
		return err
	}
	editions, err := numbering.History(r.Context(), p.Pool)
	if err != nil {
		return err
	}
	now, q := p.Now(), r.URL.Query()
	d := view.DeskPlanData{
		Form: view.Form{Values: q}, Version: int64(plan.Version), Effective: plan.EffectiveAt, Source: plan.Source, Digits: plan.Digits,
		InForce: inForce && plan.Version > 0, Coming: plan.EffectiveAt.After(now), CSV: planCSVPath + "?version=" + strconv.Itoa(int(plan.Version)), May: visitOf(r).has(administrator), Now: now,
	}
	day := now // a version that comes later is shown as it will be
	if d.Coming {
		day = plan.EffectiveAt
	}
	d.Networks = planNetworks(plan, day)
	ranges, at := pageOf(r, rangesOf(plan, q.Get("network"), q.Get("prefix")), rangesShown, rangeKey)
	d.First, d.Next, d.Note = at.first, at.next, at.note
	for i := range ranges {
		d.Ranges = append(d.Ranges, planRange(plan, &ranges[i], day))
	}
	for i := range editions {
		d.Editions = append(d.Editions, planEdition(&editions[i], plan.Version, now))
	}
	markInForce(d.Editions)
	slices.Reverse(d.Editions)
	page := view.Page{Title: "Numbering plan", Lead: "Which network was given which numbers, and from when until when.", Active: deskPlanPath}
	if d.May {
		page.Actions = []view.Action{{Label: "Hand in a new version", Href: newPlanPath, Kind: view.Primary}}
	}
	return p.show(w, r, page, view.DeskPlan(d))
}

func planNetworks(plan *numbering.Plan, day time.Time) []view.PlanNetwork {
	held := map[numbering.Network]int64{}
	for _, r := range plan.Ranges() {
		if r.Holds(day) {
			held[r.Network]++
		}
	}
	var list []view.PlanNetwork
	for _, n := range plan.Networks() {
		list = append(list, view.PlanNetwork{Code: plan.Code(n), Name: plan.Name(n), Held: held[n], Capacity: plan.Capacity(n, day)})
	}
	slices.SortFunc(list, func(a, b view.PlanNetwork) int { return strings.Compare(a.Code, b.Code) })
	return list
}

// rangesOf returns the ranges of a network, if one is named, that begin with a
// prefix or hold the numbers that begin with it.
func rangesOf(plan *numbering.Plan, code, prefix string) []numbering.Range {
	prefix = strings.TrimPrefix(strings.TrimSpace(prefix), "+")
	return slices.DeleteFunc(plan.Ranges(), func(r numbering.Range) bool {
		return code != "" && plan.Code(r.Network) != code || !strings.HasPrefix(r.Prefix, prefix) && !strings.HasPrefix(prefix, r.Prefix)
	})
}

// rangeKey names a range within a plan.
func rangeKey(r *numbering.Range) string { return r.Prefix + "." + r.Allocated.Format(time.DateOnly) }

func planRange(plan *numbering.Plan, r *numbering.Range, day time.Time) view.PlanRange {
	return view.PlanRange{
		Prefix: r.Prefix, Code: plan.Code(r.Network), Name: plan.Name(r.Network), Allocated: r.Allocated, Withdrawn: r.Withdrawn, Room: plan.Room(*r), Held: r.Holds(day),
	}
}

func planEdition(e *numbering.Edition, shown int32, now time.Time) view.PlanEdition {
	return view.PlanEdition{
		Version: int64(e.Version), Effective: e.EffectiveAt, Made: e.CreatedAt, Source: e.Source, Networks: int64(e.Networks), Ranges: int64(e.Ranges),
		Shown: e.Version == shown, Coming: e.EffectiveAt.After(now),
	}
}

// markInForce marks the version that took effect last. The oldest comes first.
func markInForce(list []view.PlanEdition) {
	for i := range slices.Backward(list) {
		if !list[i].Coming {
			list[i].InForce = true
			return
		}
	}
}

// exportPlan serves GET /portal/export/plan.csv: a version in the form in which
// one is handed in. Its codes and names begin with a letter or a digit, so that
// no spreadsheet takes them for a formula.
func (p *Portal) exportPlan(w http.ResponseWriter, r *http.Request) error {
	plan, _, err := p.planWanted(r)
	if err != nil {
		return err
	}
	beginFile(w, "text/csv; charset=utf-8", "plan-"+strconv.Itoa(int(plan.Version))+".csv")
	if err := plan.WriteCSV(w); err != nil {
		breakOff(w, r, err) // a file that ends early must not look whole
	}
	return nil
}
