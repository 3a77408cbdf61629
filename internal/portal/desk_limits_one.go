package portal

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// showLimits serves GET /portal/desk/limits/{entity}.
func (p *Portal) showLimits(w http.ResponseWriter, r *http.Request) error {
	page, d, err := p.deskLimits(r, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, page, view.DeskLimit(d))
}

func (p *Portal) deskLimits(r *http.Request, form view.Form) (view.Page, view.DeskLimitData, error) {
	ctx, now := r.Context(), p.Now()
	none := func(err error) (view.Page, view.DeskLimitData, error) { return view.Page{}, view.DeskLimitData{}, err }
	id, err := idOf(r, "entity")
	if err != nil {
		return none(err)
	}
	e, err := p.Registry.Entity(ctx, id)
	if err != nil {
		return none(err)
	}
	own, err := p.Keeper.LimitsOf(ctx, id)
	if err != nil {
		return none(err)
	}
	used, err := guard.UsageOf(ctx, p.Pool, id, now)
	if err != nil {
		return none(err)
	}
	d := view.DeskLimitData{ID: id.String(), Name: e.Name, Form: form, May: visitOf(r).has(administrator), Usual: map[string]string{}, Now: now}
	for _, l := range limitTable(own, p.Keeper.Limits, &used) {
		d.Limits = append(d.Limits, l.row())
		d.Usual[l.field] = strings.ToLower(l.allowed(l.usual)) // within a sentence
		if l.own != 0 {
			d.Form = d.Form.With(l.field, strconv.FormatFloat(l.own, 'f', -1, 64))
		}
	}
	if d.Holds, err = p.alertsOf(r, id, false); err != nil {
		return none(err)
	}
	if d.Past, err = p.alertsOf(r, id, true); err != nil {
		return none(err)
	}
	page := view.Page{Title: e.Name, Lead: "How much this organisation may ask, and what it has asked.", Crumbs: []view.Link{{Label: "Limits and alerts", Href: deskLimitsPath}}, Active: deskLimitsPath}
	return page, d, nil
}

func (p *Portal) alertsOf(r *http.Request, entity uuid.UUID, past bool) ([]view.AlertRow, error) {
	list, err := guard.Find(r.Context(), p.Pool, p.Now(), guard.Search{Entity: entity, Past: past, Limit: alertsPast})
	if err != nil {
		return nil, err
	}
	return p.alertRows(r, list, p.Now())
}

// aLimit is one limit: what staff have set, what the settings say, and what is
// used, negative where nobody counts. Zero is no limit.
type aLimit struct {
	field, label string
	own, usual   float64
	used         int64
}

func limitTable(own, usual access.Limits, used *guard.Usage) []aLimit {
	return []aLimit{
		{"rate", "Requests a second", own.EntityRate, usual.EntityRate, -1},
		{"burst", "Requests at once", float64(own.EntityBurst), float64(usual.EntityBurst), -1},
		{"dayQuota", "Answers in a day", float64(own.DayQuota), float64(usual.DayQuota), used.Answered},
		{"monthQuota", "Answers in a month", float64(own.MonthQuota), float64(usual.MonthQuota), used.Month},
		{"dayNumbers", "Different numbers a day", float64(own.DayNumbers), float64(usual.DayNumbers), used.Numbers},
	}
}

func (l *aLimit) allowed(limit float64) string {
	switch {
	case limit == 0:
		return "No limit"
	case limit == math.Trunc(limit):
		return view.Count(int64(limit))
	}
	return strconv.FormatFloat(limit, 'f', -1, 64)
}

func (l *aLimit) row() view.LimitRow {
	limit := cmp.Or(l.own, l.usual)
	row := view.LimitRow{Label: l.label, May: l.allowed(limit), Used: "–", By: "The settings"}
	if l.own != 0 {
		row.By = "Staff"
	}
	if l.used < 0 {
		return row
	}
	row.Used = view.Count(l.used)
	if limit == 0 {
		return row
	}
	row.Used += ", " + strconv.Itoa(int(100*float64(l.used)/limit)) + " %"
	switch {
	case float64(l.used) >= limit:
		row.Tone = view.Bad
	case float64(l.used) >= 0.8*limit:
		row.Tone = view.Warn
	}
	return row
}

// setLimits serves POST /portal/desk/limits/{entity}.
func (p *Portal) setLimits(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	id, err := idOf(r, "entity")
	if err != nil {
		return err
	}
	l, err := limitForm(r)
	if err == nil {
		err = p.Keeper.SetLimits(r.Context(), id, l, v.who.Actor(), v.id)
	}
	if form, wrong := formOf(r, err); wrong {
		page, d, failed := p.deskLimits(r, form)
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, page, view.DeskLimit(d))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, deskLimitsPath+"/"+id.String(), "limits.set")
}

// limitForm reads the limits that somebody sets; nothing is 0.
func limitForm(r *http.Request) (l access.Limits, err error) {
	var wrong fault.Form
	whole := func(field string) int64 {
		text := limitText(r, field)
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		wrong.Check(err == nil, field, fault.BadFormat, "Give a whole number, or nothing.")
		return n
	}
	if text := limitText(r, "rate"); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		wrong.Check(err == nil && !math.IsNaN(n) && !math.IsInf(n, 0), "rate", fault.BadFormat, "Give a number, such as 50 or 0.5, or nothing.")
		l.EntityRate = n
	}
	burst := whole("burst")
	wrong.Check(burst == int64(int32(burst)), "burst", fault.NotAllowed, "Give a number from 0 (the settings hold) to 1,000,000.") //nolint:gosec // what does not fit is complained of
	l.EntityBurst, l.DayQuota, l.MonthQuota, l.DayNumbers = int(burst), whole("dayQuota"), whole("monthQuota"), whole("dayNumbers")
	return l, wrong.Err()
}

// limitText is what was typed, without the commas with which we show numbers.
func limitText(r *http.Request, field string) string {
	return strings.ReplaceAll(strings.TrimSpace(r.PostFormValue(field)), ",", "")
}
