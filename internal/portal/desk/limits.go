package desk

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/restriction"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	limitsPath  = "/portal/desk/limits"
	limitPath   = "/portal/desk/limits/{entity}"
	releasePath = "/portal/desk/limits/{entity}/release"
)

// limitRoutes are the pages about limits and the alerts of the guard. The guard's
// e-mails go to administrators, so they are the ones who decide.
func (p *Pages) limitRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: limitsPath, Right: portal.Staff, Serve: p.showAlerts},
		{Method: get, Path: limitPath, Right: portal.Staff, Serve: p.showLimits},
		{Method: post, Path: limitPath, Right: portal.Administrator, Serve: p.setLimits},
		{Method: get, Path: releasePath, Right: portal.Administrator, Serve: p.confirmRelease},
		{Method: post, Path: releasePath, Right: portal.Administrator, Serve: p.release},
	}
}

const (
	alertsShown     = 50 // on one page
	pastAlertsShown = 20 // of one organisation
)

var alertsPage = view.Page{Title: "Limits and alerts", Lead: "Organisations whose requests look like number scanning, and the limits of each organisation.", Active: limitsPath}

// showAlerts serves GET /portal/desk/limits. With an organisation in the query it
// redirects to its limits.
func (p *Pages) showAlerts(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	d := deskview.LimitsData{Form: view.Form{Values: q}, Past: q.Get("show") == "past", CanEdit: portal.VisitOf(r).Has(portal.Administrator), Now: p.Now()}
	status := http.StatusOK
	if text := strings.TrimSpace(q.Get("entity")); text != "" {
		id, err := p.findEntity(r, &d, text)
		if err != nil {
			return err
		}
		if id != "" {
			http.Redirect(w, r, limitsPath+"/"+id, http.StatusSeeOther) //nolint:gosec // the id was parsed and is written anew
			return nil
		}
		if d.Form.Wrong() {
			status = http.StatusUnprocessableEntity
		}
	}
	f := guard.AlertFilter{Past: d.Past, Limit: alertsShown + 1} // one more shows whether there is a next page
	f.Before = web.CursorID(r)
	list, err := guard.Find(r.Context(), p.Pool, d.Now, f)
	if err != nil {
		return err
	}
	list, next := web.CutPage(list, alertsShown, func(a *guard.AlertRow) string { return a.ID.String() })
	links := web.PageLinks(r, web.IDCursor(f.Before), next)
	d.First, d.Next = links.First, links.Next
	if d.Rows, err = p.alertRows(r, list, d.Now); err != nil {
		return err
	}
	return p.ShowStatus(w, r, status, alertsPage, deskview.Limits(d))
}

// findEntity returns the id of the organisation with an id or a name. If several
// match, they are put into d to choose from; if none does, the form gets an error.
func (p *Pages) findEntity(r *http.Request, d *deskview.LimitsData, text string) (string, error) {
	if id, err := uuid.Parse(text); err == nil {
		_, err := p.Registry.Entity(r.Context(), id)
		if portal.IsCode(err, fault.NotFound) {
			portal.AddFieldError(&d.Form, false, "entity", "There is no organisation with this id.")
			return "", nil
		}
		return id.String(), err
	}
	one, several, err := p.findByName(r, searchText(text))
	if err != nil {
		return "", err
	}
	for i := range several {
		several[i].Value = limitsPath + "/" + several[i].Value
	}
	portal.AddFieldError(&d.Form, one.Value != "" || len(several) > 0, "entity", noMatch)
	d.Matches = several
	return one.Value, nil
}

func (p *Pages) alertRows(r *http.Request, list []guard.AlertRow, now time.Time) ([]deskview.AlertRow, error) {
	var actors []audit.Actor
	for i := range list {
		actors = append(actors, releasedBy(&list[i]))
	}
	names, err := present.NamesOf(r.Context(), p.Portal, actors)
	if err != nil {
		return nil, err
	}
	rows := make([]deskview.AlertRow, 0, len(list))
	for i := range list {
		rows = append(rows, alertRow(&list[i], names, now))
	}
	return rows, nil
}

// releasedBy returns who released an organisation from an alert.
func releasedBy(f *guard.AlertRow) audit.Actor {
	switch {
	case f.ReleasedAt.IsZero():
		return audit.Actor{}
	case f.ReleasedBy == uuid.Nil:
		return access.Operator
	}
	return audit.Actor{Kind: audit.Account, ID: f.ReleasedBy}
}

// alertLevels describe what the guard did.
var alertLevels = map[guard.Level]struct {
	word string
	tone view.Tone
}{
	guard.None: {"Nothing", view.Neutral}, guard.Notified: {"Staff notified", view.Info}, guard.Slowed: {"Slowed to a tenth", view.Warn}, guard.Stopped: {"Stopped", view.Bad},
}

func alertRow(f *guard.AlertRow, names present.ActorNames, now time.Time) deskview.AlertRow {
	level := alertLevels[f.Level]
	row := deskview.AlertRow{
		ID: f.ID.String(), Subject: f.Entity.String(), Name: f.Name, Found: restriction.Finding(&f.Alert), Level: level.word, Node: f.Node, Tone: level.tone,
		Since: f.Since, Inactive: !f.Active(now), Releasable: f.Active(now) && f.Until.IsZero(), Reason: f.Reason,
	}
	if f.Sponsor != uuid.Nil {
		row.Subject, row.Client = f.Sponsor.String(), true
	}
	if f.Kind == guard.BudgetUsed && f.Level == guard.Stopped {
		row.Level = "No new numbers"
	}
	switch {
	case !f.ReleasedAt.IsZero():
		row.State, row.By = "Released "+view.Stamp(f.ReleasedAt), names.By(releasedBy(f))
		if f.QuietUntil.After(now) {
			row.Quiet = f.QuietUntil
		}
	case row.Inactive:
		row.State = "Ended " + view.Stamp(f.Until)
	case !f.Until.IsZero():
		row.State = "Active until " + view.Stamp(f.Until)
	default:
		row.State = "Active until it is released"
	}
	return row
}

var releaseQuestionPage = view.Page{Title: "Release organisation", Crumbs: []view.Link{{Label: "Limits and alerts", Href: limitsPath}}, Active: limitsPath}

// confirmRelease serves GET /portal/desk/limits/{entity}/release.
func (p *Pages) confirmRelease(w http.ResponseWriter, r *http.Request) error {
	q, err := p.releaseQuestion(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, releaseQuestionPage, view.Confirm(q))
}

// released is what the path of a release names: an organisation, or the client that
// onboarded several which are slowed or stopped together.
type released struct {
	id       uuid.UUID
	name, at string // at is the page to return to
	client   bool
}

func (p *Pages) released(r *http.Request) (released, error) {
	id, err := portal.PathID(r, "entity")
	if err != nil {
		return released{}, err
	}
	e, err := p.Registry.Entity(r.Context(), id)
	if !portal.IsCode(err, fault.NotFound) {
		return released{id: id, name: e.Name, at: limitsPath + "/" + id.String()}, err
	}
	c, err := p.Access.Client(r.Context(), id)
	return released{id: id, name: "the organisations of the client " + c.Name, at: limitsPath, client: true}, err
}

func (p *Pages) releaseQuestion(r *http.Request, f view.Form) (view.ConfirmData, error) {
	s, err := p.released(r)
	if err != nil {
		return view.ConfirmData{}, err
	}
	filter := guard.AlertFilter{Entity: s.id}
	if s.client {
		filter = guard.AlertFilter{Sponsor: s.id}
	}
	active, err := p.alertsOf(r, filter)
	if err != nil {
		return view.ConfirmData{}, err
	}
	active = slices.DeleteFunc(active, func(row deskview.AlertRow) bool { return row.Client != s.client }) // those of its sponsor do not end with it
	return view.ConfirmData{
		Text:   "The guard no longer slows or stops " + s.name + ". First ask the organisation what it is doing, and check its requests in the journal.",
		Action: limitsPath + "/" + s.id.String() + "/release", Label: "Request approval", Kind: view.Danger, Cancel: s.at, Reason: true, Form: f, Extra: deskview.ReleaseExtra(f, active),
	}, nil
}

// release serves POST /portal/desk/limits/{entity}/release.
func (p *Pages) release(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	s, err := p.released(r)
	if err != nil {
		return err
	}
	form := guard.ReleaseForm{Entity: s.id, Reason: portal.OneLine(r.PostFormValue("reason")), By: v.Who.Actor(), Request: v.ID}
	if s.client {
		form.Entity, form.Sponsor = uuid.Nil, s.id
	}
	hours, err := strconv.Atoi(r.PostFormValue("quiet"))
	if err != nil || hours < 0 || hours > int(guard.MaxQuiet/time.Hour) {
		err = fault.ErrInvalid.With(fault.Violation{Field: "quiet", Code: fault.NotAllowed, Message: "Choose one of the times."})
	} else {
		form.Quiet = time.Duration(hours) * time.Hour
		_, err = guard.Release(r.Context(), p.Pool, p.Now(), form)
	}
	if waits(err) {
		return p.RedirectWithFlash(w, r, s.at, "entity.waits")
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		q, failed := p.releaseQuestion(r, form)
		if failed != nil {
			return failed
		}
		return p.ShowInvalid(w, r, err, releaseQuestionPage, view.Confirm(q))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, s.at, "guard.released")
}
