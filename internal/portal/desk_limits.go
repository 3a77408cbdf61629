package portal

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/portal/view"
)

const (
	deskLimitsPath  = "/portal/desk/limits"
	deskLimitPath   = "/portal/desk/limits/{entity}"
	deskReleasePath = "/portal/desk/limits/{entity}/release"
)

// deskLimitRoutes are the pages about limits and what the guard found. The
// guard's letters go to administrators, and so it is they who decide.
func (p *Portal) deskLimitRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: deskLimitsPath, who: staff, serve: p.showAlerts},
		{method: get, path: deskLimitPath, who: staff, serve: p.showLimits},
		{method: post, path: deskLimitPath, who: administrator, serve: p.setLimits},
		{method: get, path: deskReleasePath, who: administrator, serve: p.askRelease},
		{method: post, path: deskReleasePath, who: administrator, serve: p.release},
	}
}

const (
	alertsShown = 50 // on one page
	alertsPast  = 20 // of one organisation
)

var alertsPage = view.Page{Title: "Limits and alerts", Lead: "Who asks like somebody who reads the nation's numbers out, and how much each organisation may ask.", Active: deskLimitsPath}

// showAlerts serves GET /portal/desk/limits. With an organisation it leads to the
// limits of that.
func (p *Portal) showAlerts(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	d := view.DeskLimitsData{Form: view.Form{Values: q}, Past: q.Get("show") == "past", May: visitOf(r).has(administrator), Now: p.Now()}
	status := http.StatusOK
	if text := strings.TrimSpace(q.Get("entity")); text != "" {
		e, err := p.entityMeant(r, &d, text)
		if err != nil {
			return err
		}
		if e != "" {
			http.Redirect(w, r, deskLimitsPath+"/"+e, http.StatusSeeOther) //nolint:gosec // an id that was read and is written anew
			return nil
		}
		if d.Form.Wrong() {
			status = http.StatusUnprocessableEntity
		}
	}
	s := guard.Search{Past: d.Past, Limit: alertsShown + 1} // one more tells whether there are more
	if id, err := uuid.Parse(q.Get("after")); err == nil {
		s.Before, d.First = id, pageAfter(r, "")
	}
	list, err := guard.Find(r.Context(), p.Pool, d.Now, s)
	if err != nil {
		return err
	}
	if len(list) > alertsShown {
		list = list[:alertsShown]
		d.Next = pageAfter(r, list[alertsShown-1].ID.String())
	}
	if d.Rows, err = p.alertRows(r, list, d.Now); err != nil {
		return err
	}
	return p.showStatus(w, r, status, alertsPage, view.DeskLimits(d))
}

// entityMeant returns the id of the organisation that a text means: an id, or a
// name. Several are put into d to choose from, and none is complained of.
func (p *Portal) entityMeant(r *http.Request, d *view.DeskLimitsData, text string) (string, error) {
	if id, err := uuid.Parse(text); err == nil {
		_, err := p.Registry.Entity(r.Context(), id)
		if isCode(err, fault.NotFound) {
			complain(&d.Form, false, "entity", "There is no organisation with this id.")
			return "", nil
		}
		return id.String(), err
	}
	one, several, err := p.entityNamed(r, searchText(text))
	if err != nil {
		return "", err
	}
	for i := range several {
		several[i].Value = deskLimitsPath + "/" + several[i].Value
	}
	complain(&d.Form, one.Value != "" || len(several) > 0, "entity", noSuchName)
	d.Named = several
	return one.Value, nil
}

func (p *Portal) alertRows(r *http.Request, list []guard.Found, now time.Time) ([]view.AlertRow, error) {
	var actors []audit.Actor
	for i := range list {
		actors = append(actors, releaser(&list[i]))
	}
	names, err := p.cast(r.Context(), actors)
	if err != nil {
		return nil, err
	}
	rows := make([]view.AlertRow, 0, len(list))
	for i := range list {
		rows = append(rows, alertRow(&list[i], names, now))
	}
	return rows, nil
}

// releaser is who ended an alert.
func releaser(f *guard.Found) audit.Actor {
	switch {
	case f.ReleasedAt.IsZero():
		return audit.Actor{}
	case f.ReleasedBy == uuid.Nil:
		return access.Operator
	}
	return audit.Actor{Kind: audit.Account, ID: f.ReleasedBy}
}

// alertLevels are what followed, in words.
var alertLevels = map[guard.Level]struct {
	word string
	tone view.Tone
}{
	guard.Calm: {"Nothing", view.Neutral}, guard.Told: {"Staff were told", view.Info}, guard.Slowed: {"Slowed to a tenth", view.Warn}, guard.Stopped: {"Stopped", view.Bad},
}

func alertRow(f *guard.Found, names cast, now time.Time) view.AlertRow {
	level := alertLevels[f.Level]
	row := view.AlertRow{
		ID: f.ID.String(), Entity: f.Entity.String(), Name: f.EntityName, Found: foundWords(f), Level: level.word, Node: f.Node, Tone: level.tone,
		Since: f.Since, Over: !f.Holds(now), Releasable: f.Holds(now) && f.Ends.IsZero(), Reason: f.Reason,
	}
	if f.Kind == guard.BudgetUsed && f.Level == guard.Stopped {
		row.Level = "No new numbers"
	}
	switch {
	case !f.ReleasedAt.IsZero():
		row.State, row.By = "Released "+view.Stamp(f.ReleasedAt), names.by(releaser(f))
		if f.QuietUntil.After(now) {
			row.Quiet = f.QuietUntil
		}
	case row.Over:
		row.State = "Ended " + view.Stamp(f.Ends)
	case !f.Ends.IsZero():
		row.State = "Holds until " + view.Stamp(f.Ends)
	default:
		row.State = "Holds until it is released"
	}
	return row
}

// foundWords says what an alert is about.
func foundWords(f *guard.Found) string {
	switch f.Kind {
	case guard.Density:
		return fmt.Sprintf("%s of %s different numbers lie in dense blocks of %s", view.Count(f.Dense), view.Count(f.Numbers), view.Count(f.Block))
	case guard.Misses:
		return fmt.Sprintf("%s of %s different numbers are not allocated", view.Count(f.Misses), view.Count(f.Numbers))
	case guard.BudgetUsed:
		return fmt.Sprintf("All %s different numbers of the day are used up", view.Count(f.Budget))
	}
	return string(f.Kind)
}

var releasePage = view.Page{Title: "Release an organisation", Crumbs: []view.Link{{Label: "Limits and alerts", Href: deskLimitsPath}}, Active: deskLimitsPath}

// askRelease serves GET /portal/desk/limits/{entity}/release.
func (p *Portal) askRelease(w http.ResponseWriter, r *http.Request) error {
	q, err := p.releaseQuestion(r, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, releasePage, view.Confirm(q))
}

func (p *Portal) releaseQuestion(r *http.Request, f view.Form) (view.ConfirmData, error) {
	id, err := idOf(r, "entity")
	if err != nil {
		return view.ConfirmData{}, err
	}
	e, err := p.Registry.Entity(r.Context(), id)
	if err != nil {
		return view.ConfirmData{}, err
	}
	at := deskLimitsPath + "/" + id.String()
	return view.ConfirmData{
		Text:   "Everything by which the guard slows or stops " + e.Name + " ends. Ask them first what they are doing, and look into the journal.",
		Action: at + "/release", Label: "Release", Kind: view.Danger, Cancel: at, Reason: true, Form: f, Extra: view.QuietTime(f),
	}, nil
}

// release serves POST /portal/desk/limits/{entity}/release.
func (p *Portal) release(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	id, err := idOf(r, "entity")
	if err != nil {
		return err
	}
	hours, err := strconv.Atoi(r.PostFormValue("quiet"))
	if err != nil || hours < 0 || hours > int(guard.LongestQuiet/time.Hour) {
		err = fault.ErrInvalid.With(fault.Violation{Field: "quiet", Code: fault.NotAllowed, Message: "Choose one of the times."})
	} else {
		_, err = guard.LetGo(r.Context(), p.Pool, p.Now(), guard.Release{
			Entity: id, Reason: r.PostFormValue("reason"), Quiet: time.Duration(hours) * time.Hour, By: v.who.Actor(), Request: v.id,
		})
	}
	if form, wrong := formOf(r, err); wrong {
		q, failed := p.releaseQuestion(r, form)
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, releasePage, view.Confirm(q))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, deskLimitsPath+"/"+id.String(), "guard.released")
}
