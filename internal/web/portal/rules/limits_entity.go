package rules

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// deskLimits is the page /portal/desk/limits/{entity}.
func (p *Pages) deskLimits(r *http.Request, form kit.Form) (page kit.Page, _ templ.Component, err error) {
	ctx, now := r.Context(), p.Now()
	id, err := portal.PathID(r, "entity")
	if err != nil {
		return page, nil, err
	}
	e, err := p.Registry.Entity(ctx, id)
	if err != nil {
		return page, nil, err
	}
	own, err := p.Access.LimitsOf(ctx, id)
	if err != nil {
		return page, nil, err
	}
	used, err := guard.UsageOf(ctx, p.Pool, id, now)
	if err != nil {
		return page, nil, err
	}
	d := EntityLimitsData{ID: id.String(), Name: e.Name, Form: form, CanEdit: portal.VisitOf(r).Has(portal.Administrator), Defaults: map[string]string{}, Now: now}
	for _, l := range limitRows(own, p.Access.Limits, &used) {
		d.Limits = append(d.Limits, l.row())
		d.Defaults[l.field] = strings.ToLower(l.allowed(l.standard)) // it is shown within a sentence
		if l.own != 0 {
			d.Form = d.Form.With(l.field, strconv.FormatFloat(l.own, 'f', -1, 64))
		}
	}
	if d.Active, err = p.alertsOf(r, guard.AlertFilter{Entity: id}); err != nil {
		return page, nil, err
	}
	if d.Past, err = p.alertsOf(r, guard.AlertFilter{Entity: id, Past: true}); err != nil {
		return page, nil, err
	}
	page = kit.Page{Title: e.Name, Lead: "The limits of this organisation, and how much of them it has used.", Crumbs: []kit.Link{{Label: "Limits and alerts", Href: portal.LimitsPath}}, Active: portal.LimitsPath}
	return page, EntityLimits(d), nil
}

func (p *Pages) alertsOf(r *http.Request, f guard.AlertFilter) ([]AlertRow, error) {
	f.Limit = pastAlertsShown
	list, err := guard.Find(r.Context(), p.Pool, p.Now(), f)
	if err != nil {
		return nil, err
	}
	return AlertRows(r, p.Portal, list, p.Now())
}

// limitRow is one limit: the one that staff have set, the one in the settings, and
// the usage, which is negative where it is not counted. Zero is no limit. A new
// organisation has only a part of some limits in the settings.
type limitRow struct {
	field, label  string
	own, standard float64
	used          int64
	part          float64 // of standard; 0 if it has all
}

func limitRows(own, standard access.Limits, used *guard.Usage) []limitRow {
	return []limitRow{
		{"rate", "Requests per second", own.EntityRate, standard.EntityRate, -1, 0},
		{"burst", "Burst of requests", float64(own.EntityBurst), float64(standard.EntityBurst), -1, 0},
		{"dayQuota", "Answers per day", float64(own.DayQuota), float64(standard.DayQuota), used.Answered, 0},
		{"monthQuota", "Answers per month", float64(own.MonthQuota), float64(standard.MonthQuota), used.Month, 0},
		{"dayNumbers", "Different numbers per day", float64(own.DayNumbers), float64(standard.DayNumbers), used.Numbers, part(used, standard.DayNumbers)},
		{"yearNumbers", "Different numbers per year", float64(own.YearNumbers), float64(standard.YearNumbers), used.Year, part(used, standard.YearNumbers)},
	}
}

// part returns how much of a budget a new organisation has; 0 if it has all.
func part(used *guard.Usage, budget int64) float64 {
	if now := used.Allowed(budget); now < budget {
		return float64(now)
	}
	return 0
}

func (l *limitRow) allowed(limit float64) string {
	switch {
	case limit == 0:
		return "No limit"
	case limit == math.Trunc(limit):
		return kit.Count(int64(limit))
	}
	return strconv.FormatFloat(limit, 'f', -1, 64)
}

func (l *limitRow) row() LimitRow {
	limit := cmp.Or(l.own, l.part, l.standard)
	row := LimitRow{Label: l.label, Allowed: l.allowed(limit), Used: "–", By: "The settings"}
	switch {
	case l.own != 0:
		row.By = "Staff"
	case l.part != 0:
		row.By = "The settings, growing to " + l.allowed(l.standard)
	}
	if l.used < 0 {
		return row
	}
	row.Used = kit.Count(l.used)
	if limit == 0 {
		return row
	}
	row.Used += ", " + strconv.Itoa(int(100*float64(l.used)/limit)) + " %"
	switch {
	case float64(l.used) >= limit:
		row.Tone = kit.Bad
	case float64(l.used) >= 0.8*limit:
		row.Tone = kit.Warn
	}
	return row
}

// setLimits serves POST /portal/desk/limits/{entity}.
func (p *Pages) setLimits(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	id, err := portal.PathID(r, "entity")
	if err != nil {
		return err
	}
	l, err := limitForm(r)
	if err == nil {
		err = p.Access.SetLimits(r.Context(), id, l, portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
	}
	flash, err := portal.OrWaits(err, "limits.set", "entity.waits")
	return p.EndForm(w, r, err, p.deskLimits, portal.LimitsPath+"/"+id.String(), flash)
}

// limitForm reads the limits that staff set; an empty field is 0.
func limitForm(r *http.Request) (l access.Limits, err error) {
	var wrong fault.Form
	whole := func(field string) int64 {
		text := limitText(r, field)
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		wrong.Check(err == nil, field, fault.BadFormat, "Enter a whole number, or leave it empty.")
		return n
	}
	if text := limitText(r, "rate"); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		wrong.Check(err == nil && !math.IsNaN(n) && !math.IsInf(n, 0), "rate", fault.BadFormat, "Enter a number, such as 50 or 0.5, or leave it empty.")
		l.EntityRate = n
	}
	burst := whole("burst")
	wrong.Check(burst == int64(int32(burst)), "burst", fault.NotAllowed, "Enter a number from 0 (the default of the settings) to 1,000,000.") //nolint:gosec // a number that does not fit is an error of the form
	l.EntityBurst, l.DayQuota, l.MonthQuota, l.DayNumbers, l.YearNumbers = int(burst), whole("dayQuota"), whole("monthQuota"), whole("dayNumbers"), whole("yearNumbers")
	return l, wrong.Err()
}

// limitText returns the typed number without thousands separators.
func limitText(r *http.Request, field string) string {
	return strings.ReplaceAll(strings.TrimSpace(r.PostFormValue(field)), ",", "")
}
