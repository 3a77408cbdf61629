package rules

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	newPlanPath = "/portal/desk/new-plan"
	planCSVPath = "/portal/export/plan.csv"
	draftPath   = "/portal/desk/plan/drafts/{draft}"
)

// planRoutes are the pages of the numbering plan.
func (p *Pages) planRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: portal.PlanPath, Right: portal.Staff, Serve: p.showPlan},
		{Method: get, Path: planCSVPath, Right: portal.Staff, Upload: true, Serve: p.exportPlan},
		{Method: get, Path: draftPath, Right: portal.Staff, Serve: p.showDraft},
		{Method: get, Path: newPlanPath, Right: portal.Administrator, Serve: p.showNewPlan},
		{Method: post, Path: newPlanPath, Right: portal.Administrator, Action: stepup.Preview, Upload: true, Serve: p.previewPlan},
		{Method: post, Path: portal.PlanPath, Right: portal.Administrator, Action: stepup.SetPlan, Upload: true, Form: newPlanPath, Serve: p.setPlan},
	}
}

// rangesShown is the number of ranges on one page.
const rangesShown = 100

// requestedPlan returns the version that the address names, or the current one,
// and whether it is the current one.
func (p *Pages) requestedPlan(r *http.Request) (plan *numbering.Plan, isCurrent bool, err error) {
	now, err := numbering.Current(r.Context(), p.Pool, p.Now())
	text := r.URL.Query().Get("version")
	if err != nil || text == "" {
		return now, true, err
	}
	version, err := strconv.ParseInt(text, 10, 32)
	if err != nil || version < 0 {
		return nil, false, portal.ErrNotFound
	}
	if int32(version) == now.Version {
		return now, true, nil
	}
	plan, err = numbering.Load(r.Context(), p.Pool, int32(version))
	return plan, false, err
}

// showPlan serves GET /portal/desk/plan.
func (p *Pages) showPlan(w http.ResponseWriter, r *http.Request) error {
	plan, isCurrent, err := p.requestedPlan(r)
	if err != nil {
		return err
	}
	editions, err := numbering.History(r.Context(), p.Pool)
	if err != nil {
		return err
	}
	now, q := p.Now(), r.URL.Query()
	d := PlanData{
		Form: kit.Form{Values: q}, Version: int64(plan.Version), Effective: plan.EffectiveAt, Source: plan.Source, Digits: plan.Digits,
		Active: isCurrent && plan.Version > 0, Scheduled: plan.EffectiveAt.After(now), CSV: planCSVPath + "?version=" + strconv.Itoa(int(plan.Version)), CanEdit: portal.VisitOf(r).Has(portal.Administrator), Now: now,
	}
	day := now // a future version is shown as it will be on its first day
	if d.Scheduled {
		day = plan.EffectiveAt
	}
	d.Networks = planNetworks(plan, day)
	ranges, links := web.PageOf(r, rangesOf(plan, q.Get("network"), q.Get("prefix")), rangesShown, rangeKey)
	d.First, d.Next, d.Note = links.First, links.Next, portal.WindowNote(links)
	for i := range ranges {
		d.Ranges = append(d.Ranges, planRange(plan, &ranges[i], day))
	}
	slices.Reverse(editions)
	d.Versions = editions
	page := kit.Page{Title: "Numbering plan", Lead: "Which numbers each network was allocated, and for which period.", Active: portal.PlanPath}
	if d.CanEdit {
		page.Actions = []kit.Action{{Label: "Upload new version", Href: newPlanPath, Kind: kit.Primary}}
	}
	return p.Show(w, r, page, Plan(d))
}

func planNetworks(plan *numbering.Plan, day time.Time) []PlanNetwork {
	held := map[numbering.Network]int64{}
	for _, r := range plan.Ranges() {
		if r.ActiveAt(day) {
			held[r.Network]++
		}
	}
	var list []PlanNetwork
	for _, n := range plan.Networks() {
		list = append(list, PlanNetwork{Code: plan.Code(n), Name: plan.Name(n), Held: held[n], Capacity: plan.Capacity(n, day)})
	}
	slices.SortFunc(list, func(a, b PlanNetwork) int { return strings.Compare(a.Code, b.Code) })
	return list
}

// rangesOf returns the ranges that start with a prefix or contain it, of one
// network or, if the code is empty, of all.
func rangesOf(plan *numbering.Plan, code, prefix string) []numbering.Range {
	prefix = strings.TrimPrefix(strings.TrimSpace(prefix), "+")
	return slices.DeleteFunc(plan.Ranges(), func(r numbering.Range) bool {
		return code != "" && plan.Code(r.Network) != code || !strings.HasPrefix(r.Prefix, prefix) && !strings.HasPrefix(prefix, r.Prefix)
	})
}

// rangeKey identifies a range within a plan.
func rangeKey(r *numbering.Range) string { return r.Prefix + "." + r.Allocated.Format(time.DateOnly) }

func planRange(plan *numbering.Plan, r *numbering.Range, day time.Time) PlanRange {
	return PlanRange{
		Prefix: r.Prefix, Code: plan.Code(r.Network), Name: plan.Name(r.Network), Allocated: r.Allocated, Withdrawn: r.Withdrawn, Capacity: plan.RangeCapacity(*r), Held: r.ActiveAt(day),
	}
}

// exportPlan serves GET /portal/export/plan.csv: a version in the format in
// which one is uploaded. Its codes and names start with a letter or a digit, so
// no spreadsheet runs them as a formula.
func (p *Pages) exportPlan(w http.ResponseWriter, r *http.Request) error {
	plan, _, err := p.requestedPlan(r)
	if err != nil {
		return err
	}
	portal.StartDownload(w, "text/csv; charset=utf-8", "plan-"+strconv.Itoa(int(plan.Version))+".csv")
	if err := plan.WriteCSV(w); err != nil {
		portal.AbortDownload(w, r, err) // an incomplete file must not look complete
	}
	return nil
}
